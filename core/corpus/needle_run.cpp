#include "core/corpus/needle_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/corpus/corpus_run.h"
#include "core/corpus/kept_violations.h"
#include "core/corpus/needle_file.h"
#include "core/corpus/needle_observer.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file_writer.h"
#include "core/run/measured_layer.h"
#include "core/run/provenance.h"
#include "core/run/run_plan.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr double kRecalled = 0.5;  // of the answer's tokens: more, and the sample counts as recalled

// The request of one prompt, as it would be given to analyze().
AnalysisRequest of_prompt(const NeedleRequest& request, const NeedlePrompt& prompt) {
  AnalysisRequest run = request.run;
  run.prompt = {};
  run.prompt.ids = prompt.ids;
  run.prompt.bos_added = request.haystack->bos_id().has_value();
  run.prompt.first_is_bos = run.model->spec.bos_token_id && run.prompt.ids.front() == *run.model->spec.bos_token_id;
  run.summary_only = true;
  run.hidden = run.exact_maps = false;
  run.pool_blocks = 0;
  return run;
}

Result<void> check_reads(const ModelSpec& model) {
  if (!model.capture && !model.encoder && model.causal() && model.lm_head.weight.present()) return {};
  Error error(ErrorCode::Unsupported, "needles are for models that predict the next token of one sequence");
  return error.wanted("a decoder with a head of its own", model.capture ? "a capture" : model.model_type);
}

class NeedleRun {
 public:
  NeedleRun(ComputeBackend& backend, const NeedleRequest& request, const NeedleProgress& progress,
            const kernels::StopRequested& stop)
      : backend_(backend),
        request_(request),
        haystack_(*request.haystack),
        options_(haystack_.options()),
        progress_(progress),
        stop_(stop),
        statistics_(sample_numbers(1), request.bootstrap_seed) {}

  Result<NeedleOutcome> run() {
    const auto begin = std::chrono::steady_clock::now();
    HEADROOM_TRY_VOID(check_reads(request_.run.model->spec));
    HEADROOM_TRY(plan_, plan_of(options_.lengths.size() - 1));
    heads_ = {plan_.request.layers, plan_.request.heads};
    outcome_.measured_heads = std::ssize(heads_.layers) * std::ssize(heads_.heads);
    outcome_.notes = plan_.notes;
    outcome_.all = std::ssize(options_.lengths) * std::ssize(options_.depths);
    HEADROOM_TRY(outcome_.attention, backend_.choose_attention(plan_.forward));
    RunFileWriter::Options target;
    target.force = request_.run.force;
    target.inputs = request_.run.inputs;
    target.schema_name = kNeedleSchemaName;
    HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request_.run.output, target));
    NeedleFile file(*writer, haystack_, heads_, request_.by_sample, request_.with_ids);
    HEADROOM_TRY_VOID(file.define());
    const std::string hash = haystack_.ids_sha256();
    AnalysisRequest named = plan_.request;
    named.prompt.source = "ids_sha256 " + hash;
    HEADROOM_TRY_VOID(write_provenance(*writer, named, "Needles in a haystack, read by ", backend_.info(),
                                       outcome_.attention, stop_));
    HEADROOM_TRY_VOID(file.write_prompts(hash));
    const Result<void> ran = run_cells(file, *writer);
    if (!ran) {
      if (ran.error().code != ErrorCode::Cancelled || outcome_.done == 0) return ran.error();
      outcome_.cancelled = true;
    }
    HEADROOM_TRY_VOID(write_overall(file));
    outcome_.violations = violations_.sentences();
    outcome_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    HEADROOM_TRY_VOID(write_attributes(*writer));
    HEADROOM_TRY_VOID(writer->commit());
    std::error_code ignored;
    outcome_.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request_.run.output, ignored));
    return std::move(outcome_);
  }

 private:
  // Of `cells` cells one after another: samples are what is independent, in whatever cells they stand.
  [[nodiscard]] std::vector<std::int64_t> sample_numbers(std::int64_t cells) const {
    std::vector<std::int64_t> numbers;
    for (std::int64_t cell = 0; cell < cells; ++cell)
      for (std::int64_t s = 0; s < options_.samples; ++s) numbers.push_back(s);
    return numbers;
  }

  Result<RunPlan> plan_of(std::size_t length) const {
    HEADROOM_TRY(RunPlan plan, plan_run(of_prompt(request_, haystack_.prompt(length, 0, 0))));
    plan.forward.last_rows = haystack_.most_answer_tokens() + 1;
    return plan;
  }

  Result<void> run_cells(NeedleFile& file, RunFileWriter& writer) {
    for (std::size_t length = 0; length < options_.lengths.size(); ++length) {
      HEADROOM_TRY(plan_, plan_of(length));
      for (std::size_t depth = 0; depth < options_.depths.size(); ++depth) {
        HEADROOM_TRY(const std::vector<NeedleMeasures> samples, run_cell(length, depth));
        HEADROOM_TRY_VOID(keep_cell(file, length, depth, samples));
        HEADROOM_TRY_VOID(writer.flush());
        ++outcome_.done;
      }
    }
    return {};
  }

  Result<std::vector<NeedleMeasures>> run_cell(std::size_t length, std::size_t depth) {
    std::vector<NeedleMeasures> samples;
    const std::size_t size = sequences_together(request_.batch_tokens, request_.run.device, options_.lengths[length]);
    const auto all = static_cast<std::size_t>(options_.samples);
    for (std::size_t first = 0; first < all; first += size) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      HEADROOM_TRY_VOID(run_together(length, depth, first, std::min(size, all - first), samples));
    }
    return samples;
  }

  Result<void> run_together(std::size_t length, std::size_t depth, std::size_t first, std::size_t count,
                            std::vector<NeedleMeasures>& samples) {
    const std::int64_t before = outcome_.done * options_.samples + static_cast<std::int64_t>(first);
    const std::int64_t all = outcome_.all * options_.samples;
    const std::function<void(double)> report = [&](double fraction) {
      if (progress_)
        progress_((static_cast<double>(before) + fraction * static_cast<double>(count)) / static_cast<double>(all),
                  before, all);
    };
    std::vector<NeedlePrompt> prompts;
    std::vector<std::vector<std::int32_t>> ids;
    for (std::size_t i = 0; i < count; ++i) {
      prompts.push_back(haystack_.prompt(length, depth, static_cast<std::int64_t>(first + i)));
      ids.push_back(prompts.back().ids);
    }
    std::vector<std::unique_ptr<NeedleObserver>> observers;
    std::vector<ForwardObserver*> listening;
    for (const NeedlePrompt& prompt : prompts) {
      observers.push_back(std::make_unique<NeedleObserver>(prompt, plan_.model, heads_,
                                                           self_check_tolerance(plan_.shape), report, stop_));
      listening.push_back(observers.back().get());
    }
    HEADROOM_TRY(const std::vector<ForwardSummary> summaries,
                 backend_.run_batch(request_.run.model->source, plan_.model, plan_.forward, ids, listening));
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back(observers[i]->finish(summaries[i]));
      if (samples.back().non_finite_layer >= 0) ++outcome_.non_finite;
      violations_.add(named_violations(
          format("length %lld, depth %g %%, sample %lld", static_cast<long long>(options_.lengths[length]),
                 options_.depths[depth], static_cast<long long>(first) + static_cast<long long>(i)),
          observers[i]->self_check().violations));
    }
    report(1.0);
    return {};
  }

  // [samples, columns] of what `of` gives of each sample.
  template <typename Of>
  static std::vector<double> table(const std::vector<NeedleMeasures>& samples, const Of& of) {
    std::vector<double> values;
    for (const NeedleMeasures& sample : samples) {
      const std::vector<double> row = of(sample);
      values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  }

  // [layer, head]
  static std::vector<double> net_scores(const NeedleMeasures& sample) {
    std::vector<double> scores;
    for (std::size_t i = kNeedleMaps - 1; i < sample.retrieval_of_map.size(); i += kNeedleMaps)
      scores.push_back(sample.retrieval_of_map[i]);
    return scores;
  }

  // Statistics of all first: a cell that is stopped among them leaves nothing in the file.
  Result<void> keep_cell(NeedleFile& file, std::size_t length, std::size_t depth,
                         const std::vector<NeedleMeasures>& samples) {
    const std::int64_t layers = std::ssize(heads_.layers), heads = std::ssize(heads_.heads);
    const auto spans = static_cast<std::int64_t>(kNeedleSpans), maps = static_cast<std::int64_t>(kNeedleMaps);
    struct Kept {
      std::string name;
      std::vector<std::int64_t> extents;
      std::vector<StatisticValues> results;
    };
    std::vector<Kept> all;
    const auto keep = [&](const std::string& name, const std::vector<std::int64_t>& extents,
                          const std::vector<double>& values) -> Result<void> {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      all.push_back({name, extents, statistics_.compute(values, values.size() / samples.size())});
      return {};
    };
    const auto of_quantity = [&](const NeedleQuantity& quantity) {
      return table(samples, [&](const auto& one) { return needle_values(quantity, one); });
    };
    NeedleCell cell;
    cell.length = options_.lengths[length];
    cell.depth = options_.depths[depth];
    for (const NeedleQuantity& quantity : needle_quantities()) {
      const std::string name(quantity.name);
      HEADROOM_TRY_VOID(keep(name, {spans, layers, heads, maps}, of_quantity(quantity)));
      HEADROOM_TRY_VOID(keep(name + "_over_heads", {spans, maps}, table(samples, [&](const auto& one) {
                               return over_heads(needle_values(quantity, one));
                             })));
      if (quantity.values == nullptr)
        for (std::size_t span = 0; span < kNeedleSpans; ++span)
          cell.share.push_back(all.back().results[span * kNeedleMaps + kNeedleMaps - 1]);
    }
    const std::vector<double> scores = table(samples, net_scores);
    const std::vector<double> where_recalled = table(samples, [](const auto& one) {
      std::vector<double> of_net = net_scores(one);
      if (!(one.recalled > kRecalled)) std::ranges::fill(of_net, kNaN);
      return of_net;
    });
    const std::vector<double> of_map = table(samples, [](const auto& one) { return one.retrieval_of_map; });
    HEADROOM_TRY_VOID(keep("retrieval_score", {layers, heads}, scores));
    HEADROOM_TRY_VOID(keep("retrieval_score_of_map", {layers, heads, maps}, of_map));
    HEADROOM_TRY_VOID(keep("retrieval_score_recalled", {layers, heads}, where_recalled));
    const std::vector<double> recalled = table(samples, [](const auto& one) { return std::vector{one.recalled}; });
    const std::vector<double> losses = table(samples, [](const auto& one) { return std::vector{one.answer_loss}; });
    HEADROOM_TRY_VOID(keep("recalled", {}, recalled));
    cell.recalled = all.back().results.front();
    HEADROOM_TRY_VOID(keep("answer_loss", {}, losses));
    cell.answer_loss = all.back().results.front();
    for (const Kept& kept : all)
      HEADROOM_TRY_VOID(file.write_cell(kept.name, length, depth, kept.extents, kept.results));
    HEADROOM_TRY_VOID(file.write_samples("recalled", length, depth, {}, recalled));
    HEADROOM_TRY_VOID(file.write_samples("answer_loss", length, depth, {}, losses));
    if (request_.by_sample) {
      for (const NeedleQuantity& quantity : needle_quantities())
        HEADROOM_TRY_VOID(file.write_samples(std::string(quantity.name), length, depth, {spans, layers, heads, maps},
                                             of_quantity(quantity)));
      HEADROOM_TRY_VOID(file.write_samples("retrieval_score", length, depth, {layers, heads}, scores));
      HEADROOM_TRY_VOID(file.write_samples("retrieval_score_of_map", length, depth, {layers, heads, maps}, of_map));
    }
    scores_.insert(scores_.end(), scores.begin(), scores.end());
    scores_of_map_.insert(scores_of_map_.end(), of_map.begin(), of_map.end());
    scores_recalled_.insert(scores_recalled_.end(), where_recalled.begin(), where_recalled.end());
    recalled_.insert(recalled_.end(), recalled.begin(), recalled.end());
    outcome_.cells.push_back(std::move(cell));
    return {};
  }

  Result<void> write_overall(NeedleFile& file) {
    const SequenceStatistics statistics(sample_numbers(outcome_.done), request_.bootstrap_seed);
    const std::int64_t layers = std::ssize(heads_.layers), heads = std::ssize(heads_.heads);
    const std::vector<StatisticValues> scores = statistics.compute(scores_, heads_.size());
    HEADROOM_TRY_VOID(file.write_overall("retrieval_score", {layers, heads}, scores));
    HEADROOM_TRY_VOID(file.write_overall("retrieval_score_recalled", {layers, heads},
                                         statistics.compute(scores_recalled_, heads_.size())));
    const std::vector<StatisticValues> of_map = statistics.compute(scores_of_map_, heads_.size() * kNeedleMaps);
    HEADROOM_TRY_VOID(
        file.write_overall("retrieval_score_of_map", {layers, heads, static_cast<std::int64_t>(kNeedleMaps)}, of_map));
    const std::vector<StatisticValues> recalled = statistics.compute(recalled_, 1);
    HEADROOM_TRY_VOID(file.write_overall("recalled", {}, recalled));
    outcome_.recalled = recalled.front();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double mean = of(scores[i], Statistic::Mean);
      if (std::isnan(mean)) continue;
      if (mean >= kRetrievalThreshold) ++outcome_.above_threshold;
      outcome_.heads.push_back({heads_.layers[i / heads_.heads.size()],
                                heads_.heads[i % heads_.heads.size()],
                                scores[i],
                                {of_map[i * kNeedleMaps], of_map[i * kNeedleMaps + 1]}});
    }
    std::ranges::stable_sort(outcome_.heads, std::ranges::greater(),
                             [](const NeedleHead& head) { return of(head.retrieval, Statistic::Mean); });
    return {};
  }

  Result<void> write_attributes(RunFileWriter& writer) const {
    const std::pair<const char*, AttributeValue> attributes[] = {
        {"overrides", overrides_text(request_.run.what_ifs)},
        {"bootstrap_seed", std::to_string(request_.bootstrap_seed)},
        {"resamples", SequenceStatistics::kResamples},
        {"cells_asked", outcome_.all},
        {"cells_done", outcome_.done},
        {"complete", std::int64_t{outcome_.done == outcome_.all ? 1 : 0}},
        {"non_finite_prompts", outcome_.non_finite},
        {"seconds", outcome_.seconds},
        {kSelfCheckAttribute, stored_violations(outcome_.violations)},
    };
    for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
    return {};
  }

  ComputeBackend& backend_;
  const NeedleRequest& request_;
  const NeedleHaystack& haystack_;
  const NeedleOptions& options_;
  const NeedleProgress& progress_;
  const kernels::StopRequested& stop_;
  SequenceStatistics statistics_;
  RunPlan plan_;
  NeedleHeads heads_;
  std::vector<double> scores_, scores_of_map_, scores_recalled_, recalled_;  // [cells done, samples, columns]
  KeptViolations violations_;
  NeedleOutcome outcome_;
};

}  // namespace

Result<MemoryItem> needle_memory(const NeedleRequest& request) {
  HEADROOM_TRY_VOID(check_reads(request.run.model->spec));
  const NeedleOptions& options = request.haystack->options();
  HEADROOM_TRY(const RunPlan plan,
               plan_run(of_prompt(request, request.haystack->prompt(options.lengths.size() - 1, 0, 0))));
  const double heads = static_cast<double>(plan.request.layers.size() * plan.request.heads.size());
  const double of_sample = heads * static_cast<double>(4 * kNeedleSpans * kNeedleMaps + 1) * sizeof(double);
  // One quantity of all samples beside them, and the scores of all cells.
  const double of_statistics = heads * static_cast<double>(kNeedleSpans * kNeedleMaps) * sizeof(double) *
                               static_cast<double>(2 * options.samples + 3 * std::ssize(statistic_names()));
  const double of_scores = 2.0 * heads * sizeof(double) *
                           static_cast<double>(options.lengths.size() * options.depths.size()) *
                           static_cast<double>(options.samples);
  // Prompts that run together: their streams, and the values of a layer.
  double tokens = 0.0;
  for (const std::int64_t length : options.lengths)
    tokens = std::max(tokens, static_cast<double>(length) * static_cast<double>(sequences_together(
                                                                request.batch_tokens, request.run.device, length)));
  const double real = request.run.dtype == ComputeDtype::Float64 ? 8.0 : 4.0;
  std::int64_t value_channels = 0;
  for (const BlockSpec& block : plan.model.blocks)
    value_channels = std::max(value_channels, block.attention.num_value_blocks * block.attention.value_dim);
  const double of_batch = tokens * (real * static_cast<double>(numbers_of_position(plan.model)) +
                                    sizeof(double) * static_cast<double>(value_channels));
  const double bytes = static_cast<double>(options.samples) * of_sample + of_statistics + of_scores + of_batch +
                       4.0 * static_cast<double>(request.haystack->tokens());
  return MemoryItem{"values of the samples of a cell",
                    format("%lld samples of %g heads", static_cast<long long>(options.samples), heads),
                    static_cast<std::size_t>(bytes)};
}

Result<NeedleOutcome> run_needles(ComputeBackend& backend, const NeedleRequest& request, const NeedleProgress& progress,
                                  const kernels::StopRequested& stop) {
  return NeedleRun(backend, request, progress, stop).run();
}

}  // namespace headroom
