#include "core/corpus/corpus_growth.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/numbers.h"
#include "core/checkpoint/checkpoint.h"

namespace headroom {
namespace {

// Of the run's time, saying what there is takes at most this.
constexpr double kMostShare = 0.05;
constexpr std::size_t kGrowthBytes = std::size_t{32} << 20;  // of values of all sequences at once

double growth_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of what is the same for all sequences: kinds of layers, and the blocks of keys and values that heads read.
void take_fixed(OpenedCorpus& corpus, const std::vector<FixedRegion>& regions) {
  const std::size_t heads = corpus.heads.size();
  for (const FixedRegion& region : regions) {
    const std::size_t layer = region.start.empty() ? 0 : static_cast<std::size_t>(region.start.front());
    if (layer >= corpus.layers.size()) continue;
    if (region.path == "attention_kind" && !region.texts.empty()) corpus.kinds[layer] = region.texts.front();
    if (region.path != "kv_head" || region.numbers.size() != 2 * heads) continue;
    corpus.kv_head.resize(2 * heads * corpus.layers.size(), kNaN);
    std::ranges::copy(region.numbers, corpus.kv_head.begin() + static_cast<std::ptrdiff_t>(2 * heads * layer));
  }
}

std::shared_ptr<OpenedCorpus> opened_so_far(const CorpusSource& source, const std::vector<std::int64_t>& done) {
  auto corpus = std::make_shared<OpenedCorpus>();
  const AnalysisRequest& request = source.run.request;
  const RunShape& shape = source.layout.shape();
  corpus->path = request.output;
  corpus->attributes = {{"model_id", request.model->checkpoint->name()},
                        {"model_type", request.model->spec.model_type},
                        {"model_layers", std::to_string(source.run.model.blocks.size())},
                        {"dtype_compute", dtype_name(request.dtype)},
                        {"dtype_statistics", source.attention.dtype},
                        {"device", request.device},
                        {"device_statistics", source.attention.device},
                        {"backend", source.attention.backend},
                        {"kernel_target", source.attention.kernel_target},
                        {"min_row", std::to_string(shape.min_row)},
                        {"length", std::to_string(source.plan.options.length)},
                        {"keep", source.keep},
                        {"ids_sha256", source.plan.ids_sha256},
                        {"plan_sha256", source.plan.plan_sha256}};
  corpus->layers = shape.layers, corpus->heads = shape.heads;
  corpus->kinds.resize(corpus->layers.size());
  for (const WhatIf& what_if : request.what_ifs) corpus->what_ifs.push_back(what_if.text);
  corpus->length = source.plan.options.length;
  corpus->min_row = shape.min_row;
  corpus->sink_null = source.run.sink_null;
  corpus->epsilons = source.layout.epsilons();
  corpus->growing = true;
  std::map<std::int64_t, std::int64_t> place;  // of documents, by their index
  for (const std::int64_t s : done) place[source.plan.sequences[static_cast<std::size_t>(s)].document] = 0;
  for (const PlannedDocument& document : source.plan.documents)
    if (const auto found = place.find(document.index); found != place.end()) {
      found->second = std::ssize(corpus->document_names);
      corpus->document_names.push_back(document.name);
    }
  for (const std::int64_t s : done) {
    const PlannedSequence& sequence = source.plan.sequences[static_cast<std::size_t>(s)];
    const bool numbered = !source.plan.numbers.empty();
    corpus->number.push_back(numbered ? source.plan.numbers[static_cast<std::size_t>(s)] : s);
    corpus->document.push_back(place[sequence.document]);
    corpus->piece.push_back(sequence.piece);
    corpus->token_start.push_back(sequence.token_start);
  }
  for (const auto* datasets : {&source.layout.floats(), &source.layout.integers()})
    for (const CorpusDataset& dataset : *datasets)
      if (dataset.kept && dataset.quantity != nullptr && find_quantity_info(dataset.name) != nullptr)
        corpus->kept.push_back(dataset.name);
  if (source.log.fixed()) take_fixed(*corpus, *source.log.fixed());
  return corpus;
}

// Columns of a dataset in parts, so that sequences without number fit into memory.
Result<std::vector<double>> statistics_of(const CorpusSource& source, const std::vector<std::int64_t>& done,
                                          const SequenceStatistics& statistics, const CorpusDataset& dataset) {
  const std::size_t step = std::clamp<std::size_t>(kGrowthBytes / (sizeof(double) * done.size()), 1, dataset.size);
  std::vector<StatisticValues> results;
  results.reserve(dataset.size);
  std::vector<float> row;
  std::vector<double> values;
  for (std::size_t first = 0; first < dataset.size; first += step) {
    row.resize(std::min(step, dataset.size - first));
    values.clear();
    for (const std::int64_t s : done) {
      HEADROOM_TRY_VOID(source.log.read_floats(s, dataset.first + first, row));
      values.insert(values.end(), row.begin(), row.end());
    }
    const std::vector<StatisticValues> some = statistics.compute(values, row.size());
    results.insert(results.end(), some.begin(), some.end());
  }
  return by_statistic(results);
}

}  // namespace

Result<std::shared_ptr<const CorpusValues>> values_so_far(const CorpusSource& source, const std::string& quantity) {
  const auto ref = parse_quantity(quantity);
  const CorpusDataset* dataset = ref ? source.layout.find(ref->info->name) : nullptr;
  const std::vector<CorpusDataset>& positions = source.layout.integers();
  bool whole = false;
  if (ref && dataset == nullptr)
    if (const auto found = std::ranges::find(positions, ref->info->name, &CorpusDataset::name);
        found != positions.end())
      dataset = &*found, whole = true;
  if (dataset == nullptr || !dataset->kept || dataset->quantity == nullptr)
    return std::shared_ptr<const CorpusValues>();
  const std::vector<std::int64_t> done = source.log.finished();
  const std::size_t heads = source.layout.heads(), elements = dataset->size / heads;
  auto values = std::make_shared<CorpusValues>();
  values->quantity = quantity_text(*ref);
  values->sequences = done.size();
  values->values.resize(heads * done.size());
  std::vector<float> floats(whole ? 0 : dataset->size);
  std::vector<std::int32_t> integers(whole ? dataset->size : 0);
  for (std::size_t s = 0; s < done.size(); ++s) {
    HEADROOM_TRY_VOID(whole ? source.log.read_integers(done[s], dataset->first, integers)
                            : source.log.read_floats(done[s], dataset->first, floats));
    for (std::size_t head = 0; head < heads; ++head) {
      const std::size_t at = head * elements + ref->index;
      const double value = whole ? static_cast<double>(integers[at]) : static_cast<double>(floats[at]);
      const bool none = ref->info->whole && value < 0.0;  // an index that there is not
      values->values[head * done.size() + s] = static_cast<float>(none ? kNaN : value);
    }
  }
  find_outliers(*values);
  return std::shared_ptr<const CorpusValues>(std::move(values));
}

Result<CorpusSoFar> corpus_so_far(const CorpusSource& source, const std::string& quantity) {
  const std::vector<std::int64_t> done = source.log.finished();
  CorpusSoFar so_far;
  const std::shared_ptr<OpenedCorpus> corpus = opened_so_far(source, done);
  auto found = std::make_shared<CorpusStatistics>();
  for (const std::int64_t s : done) {
    HEADROOM_TRY(const ProgressLog::Outcome outcome, source.log.read_outcome(s));
    found->losses.push_back(outcome.loss);
    found->non_finite_layers.push_back(outcome.non_finite_layer);
  }
  const SequenceStatistics statistics(corpus->document);
  found->next_token_loss = statistics.compute(found->losses, 1).front();
  for (const CorpusDataset& dataset : source.layout.floats()) {
    if (!dataset.kept || dataset.quantity == nullptr || find_quantity_info(dataset.name) == nullptr) continue;
    HEADROOM_TRY(found->quantities[dataset.name], statistics_of(source, done, statistics, dataset));
  }
  HEADROOM_TRY(so_far.values, values_so_far(source, quantity));
  so_far.corpus = corpus;
  so_far.statistics = std::move(found);
  return so_far;
}

Result<void> CorpusGrowth::batch_done(const CorpusSource& source, bool last) {
  if (!watched() || source.log.sequences() == 0) return {};
  const double now = growth_seconds();
  if (!last && said_.corpus && now - said_at_s_ < took_s_ / kMostShare) return {};
  quantity_ = watch_.quantity ? watch_.quantity() : std::string();
  HEADROOM_TRY(said_, corpus_so_far(source, quantity_));
  watch_.grown(said_);
  said_at_s_ = growth_seconds();
  took_s_ = said_at_s_ - now;
  return {};
}

Result<void> CorpusGrowth::look(const CorpusSource& source) {
  if (!said_.corpus || !watch_.quantity) return {};
  std::string quantity = watch_.quantity();
  if (quantity == quantity_) return {};
  quantity_ = std::move(quantity);
  HEADROOM_TRY(said_.values, values_so_far(source, quantity_));
  // Sequences that were done since are not in what was said.
  if (said_.values && std::ssize(said_.corpus->number) != static_cast<std::int64_t>(said_.values->sequences)) {
    HEADROOM_TRY(said_, corpus_so_far(source, quantity_));
  }
  watch_.grown(said_);
  return {};
}

}  // namespace headroom
