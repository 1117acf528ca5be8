#include "core/corpus/opened_corpus.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/numbers.h"
#include "core/base/parse_number.h"
#include "core/corpus/shard_origin.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/run/capture_prompt.h"
#include "core/run/run_overview.h"

namespace headroom {
namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 20;  // of the numbers that are read at once

constexpr const char* kCorpusAttributes[] = {"schema_name",
                                             "schema_version",
                                             "title",
                                             "source",
                                             "history",
                                             "created_utc",
                                             "command_line",
                                             "model_id",
                                             "model_type",
                                             "model_revision",
                                             "container",
                                             "checkpoint_sha256",
                                             "dtype_compute",
                                             "dtype_statistics",
                                             "device",
                                             "device_statistics",
                                             "backend",
                                             "torch_version",
                                             "kernel_target",
                                             "bos_added",
                                             "first_token_is_bos",
                                             "min_row",
                                             "model_layers",
                                             "data",
                                             "length",
                                             "keep",
                                             "sequences",
                                             "sequences_all",
                                             "sequences_missing",
                                             "documents",
                                             "documents_used",
                                             "ids_sha256",
                                             "plan_sha256",
                                             "bootstrap_seed",
                                             "shard_index",
                                             "shard_count"};

class CorpusReader {
 public:
  CorpusReader(const RunFile& file, const std::filesystem::path& path) : file_(file), path_(path) {}

  Result<std::shared_ptr<const OpenedCorpus>> read() {
    HEADROOM_TRY(const std::string schema, file_.root_attribute("schema_name"));
    if (schema != kCorpusSchemaName && schema != kSeriesSchemaName)
      return Error(ErrorCode::InvalidArgument, "this file holds no corpus")
          .wanted(kCorpusSchemaName, schema)
          .in_file(path_.string());
    corpus_->path = path_;
    for (const char* name : kCorpusAttributes)
      if (Result<std::string> text = file_.root_attribute(name)) corpus_->attributes[name] = std::move(*text);
    HEADROOM_TRY(corpus_->layers, ascending("layer"));
    HEADROOM_TRY(corpus_->heads, ascending("head"));
    if (schema == kSeriesSchemaName) HEADROOM_TRY_VOID(read_steps());
    HEADROOM_TRY_VOID(read_sequences());
    HEADROOM_TRY_VOID(read_documents());
    HEADROOM_TRY_VOID(read_fixed());
    HEADROOM_TRY(corpus_->violations, read_violations(file_));
    return std::shared_ptr<const OpenedCorpus>(corpus_);
  }

 private:
  Error damaged(std::string_view dataset, const char* what) const {
    return Error(ErrorCode::Corrupt, what).at_tensor(dataset).in_file(path_.string());
  }
  static std::vector<std::int64_t> whole(const std::vector<double>& values) {
    std::vector<std::int64_t> result;
    for (const double value : values) result.push_back(std::isfinite(value) ? static_cast<std::int64_t>(value) : -1);
    return result;
  }
  Result<std::vector<std::int64_t>> ascending(const char* name) {
    HEADROOM_TRY(const std::vector<double> values, file_.read_axis(name));
    std::vector<std::int64_t> indices = whole(values);
    if (indices.empty() || indices.front() < 0 ||
        std::ranges::adjacent_find(indices, std::greater_equal()) != indices.end())
      return damaged(name, "an axis does not ascend");
    return indices;
  }
  Result<std::vector<std::int64_t>> by_sequence(const char* name) {
    HEADROOM_TRY(const std::vector<double> values, file_.read(name));
    if (std::ssize(values) != corpus_->sequences()) return damaged(name, "a dataset does not fit its axes");
    return whole(values);
  }

  Result<void> read_steps() {
    HEADROOM_TRY(corpus_->steps, ascending("step"));
    if (file_.find("checkpoints/name")) {
      HEADROOM_TRY(corpus_->checkpoints, file_.read_strings("checkpoints/name"));
    }
    corpus_->checkpoints.resize(corpus_->steps.size());
    return {};
  }

  Result<void> read_sequences() {
    HEADROOM_TRY(corpus_->number, ascending("sequences/sequence"));
    HEADROOM_TRY(corpus_->document, by_sequence("sequences/document"));
    HEADROOM_TRY(corpus_->piece, by_sequence("sequences/piece"));
    HEADROOM_TRY(corpus_->token_start, by_sequence("sequences/token_start"));
    const DatasetInfo* ids = file_.find("sequences/token_id");
    corpus_->ids = ids != nullptr;
    corpus_->length = parse_index(corpus_->attribute("length")).value_or(0);
    if (ids != nullptr && ids->axes.size() == 2) corpus_->length = ids->shape[1];
    const std::size_t first = corpus_->steps.empty() ? 1 : 2;  // behind [step,] sequence
    for (const DatasetInfo& info : file_.datasets()) {
      if (!info.path.starts_with("sequences/") || info.axes.size() < first + 2) continue;
      if (info.axes[first] != "layer" || info.axes[first + 1] != "head") continue;
      const std::string name = info.path.substr(std::string_view("sequences/").size());
      const QuantityInfo* const known = find_quantity_info(name);
      if (known == nullptr) continue;
      std::size_t extents = 1;
      for (std::size_t i = first + 2; i < info.shape.size(); ++i) extents *= static_cast<std::size_t>(info.shape[i]);
      if (info.shape[first - 1] != corpus_->sequences() || info.shape[first] != std::ssize(corpus_->layers) ||
          info.shape[first + 1] != std::ssize(corpus_->heads) || extents != known->elements() ||
          (first == 2 && info.shape[0] != std::ssize(corpus_->steps)))
        return damaged(info.path, "a dataset does not fit its axes");
      corpus_->kept.push_back(name);
    }
    return {};
  }

  // Those that sequences are of, in the order of the file; sequences know them by position.
  Result<void> read_documents() {
    HEADROOM_TRY(const std::vector<double> numbers, file_.read_axis("documents/document"));
    HEADROOM_TRY(corpus_->document_names, file_.read_strings("documents/name"));
    const std::vector<std::int64_t> known = whole(numbers);
    if (known.size() != corpus_->document_names.size())
      return damaged("documents/name", "there are not as many names as documents");
    for (std::int64_t& document : corpus_->document) {
      const auto found = std::ranges::find(known, document);
      if (found == known.end()) return damaged("sequences/document", "a sequence is of no document of the file");
      document = found - known.begin();
    }
    return {};
  }

  Result<void> read_fixed() {
    OpenedCorpus& corpus = *corpus_;
    const std::size_t heads = corpus.layers.size() * corpus.heads.size();
    if (file_.find("attention_kind")) {
      HEADROOM_TRY(corpus.kinds, file_.read_strings("attention_kind"));
    }
    corpus.kinds.resize(corpus.layers.size());
    if (file_.find("kv_head")) {
      HEADROOM_TRY(corpus.kv_head, file_.read("kv_head"));
      if (corpus.kv_head.size() != 2 * heads) return damaged("kv_head", "a dataset does not fit its axes");
    }
    corpus.sink_null = kNaN;
    if (const auto level = file_.read("sink_null"); level && level->size() == 1) corpus.sink_null = level->front();
    corpus.min_row = parse_index(corpus.attribute("min_row")).value_or(1);
    if (auto epsilons = file_.read_axis("epsilon")) corpus.epsilons = std::move(*epsilons);
    corpus.what_ifs = stored_what_ifs(file_);
    return {};
  }

  const RunFile& file_;
  const std::filesystem::path& path_;
  std::shared_ptr<OpenedCorpus> corpus_ = std::make_shared<OpenedCorpus>();
};

Error corpus_misfit(const OpenedCorpus& corpus, std::string_view dataset) {
  return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(dataset).in_file(corpus.path.string());
}

// All of a dataset, or its part of one step.
Result<std::vector<double>> read_step(const RunFile& file, const DatasetInfo& info, std::int64_t step) {
  if (step < 0) return file.read(info.path);
  std::vector<std::int64_t> start(info.shape.size(), 0), count = info.shape;
  if (info.axes.empty() || info.axes[0] != "step" || step >= info.shape[0])
    return Error(ErrorCode::Corrupt, "a dataset of a series has no axis of steps").at_tensor(info.path);
  start[0] = step, count[0] = 1;
  return file.read_part(info.path, start, count);
}

// Positions along the axes of an element, row-major.
std::vector<std::int64_t> element_place(std::span<const std::int64_t> extents, std::size_t index) {
  std::vector<std::int64_t> place(extents.size(), 0);
  for (std::size_t i = extents.size(); i-- > 0;) {
    place[i] = static_cast<std::int64_t>(index) % extents[i];
    index /= static_cast<std::size_t>(extents[i]);
  }
  return place;
}

double median_of(std::vector<double>& values) {
  if (values.empty()) return kNaN;
  const std::size_t half = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(half));
  if (values.size() % 2 == 1) return values[half];
  return 0.5 * (values[half] + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)));
}

}  // namespace

void find_outliers(CorpusValues& values) {
  const std::size_t heads = values.sequences > 0 ? values.values.size() / values.sequences : 0;
  std::vector<std::size_t> off(values.sequences, 0), finite(values.sequences, 0);
  std::vector<double> sorted;
  for (std::size_t head = 0; head < heads; ++head) {
    const std::span<const float> own = values.of_head(head);
    sorted.clear();
    for (const float value : own)
      if (std::isfinite(value)) sorted.push_back(static_cast<double>(value));
    const double median = median_of(sorted);
    for (double& value : sorted) value = std::abs(value - median);
    values.median.push_back(median);
    values.spread.push_back(CorpusValues::kNormal * median_of(sorted));
    for (std::size_t s = 0; s < own.size(); ++s) {
      finite[s] += std::isfinite(own[s]) ? 1 : 0;
      off[s] += values.outlier(head, s) ? 1 : 0;
    }
  }
  for (std::size_t s = 0; s < values.sequences; ++s)
    values.off.push_back(finite[s] > 0 ? static_cast<double>(off[s]) / static_cast<double>(finite[s]) : kNaN);
}

bool OpenedCorpus::keeps(std::string_view quantity) const { return std::ranges::find(kept, quantity) != kept.end(); }

std::optional<std::size_t> OpenedCorpus::find(std::int64_t plan_number) const {
  const auto found = std::ranges::lower_bound(number, plan_number);
  if (found == number.end() || *found != plan_number) return {};
  return static_cast<std::size_t>(found - number.begin());
}

std::string OpenedCorpus::attribute(std::string_view name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : found->second;
}

double CorpusValues::robust_z(std::size_t head, std::size_t sequence) const {
  const auto value = static_cast<double>(of_head(head)[sequence]);
  return spread[head] > 0.0 ? (value - median[head]) / spread[head] : kNaN;
}

bool CorpusValues::outlier(std::size_t head, std::size_t sequence) const {
  return std::abs(static_cast<double>(of_head(head)[sequence]) - median[head]) > kOutlier * spread[head];
}

bool is_corpus_file(const std::filesystem::path& path) {
  const auto file = RunFile::open(path);
  if (!file) return false;
  const auto schema = (*file)->root_attribute("schema_name");
  return schema && (*schema == kCorpusSchemaName || *schema == kSeriesSchemaName);
}

Result<std::shared_ptr<const OpenedCorpus>> open_corpus(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  return CorpusReader(*file, path).read();
}

Result<std::shared_ptr<const CorpusStatistics>> read_corpus_statistics(const OpenedCorpus& corpus, std::int64_t step) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(corpus.path));
  auto statistics = std::make_shared<CorpusStatistics>();
  statistics->step = step;
  const std::size_t heads = corpus.layers.size() * corpus.heads.size(), first = step < 0 ? 0 : 1;
  for (const DatasetInfo& info : file->datasets()) {
    if (info.path.find('/') != std::string::npos || info.axes.size() < first + 3 || info.axes[first] != "statistic" ||
        info.axes[first + 1] != "layer" || info.axes[first + 2] != "head")
      continue;
    const QuantityInfo* const known = find_quantity_info(info.path);
    if (known == nullptr) continue;
    HEADROOM_TRY(std::vector<double> values, read_step(*file, info, step));
    if (values.size() != kStatistics * heads * known->elements()) return corpus_misfit(corpus, info.path);
    statistics->quantities.emplace(info.path, std::move(values));
  }
  for (const auto& [path, sequences] : {std::pair{"next_token_loss", false}, {"sequences/next_token_loss", true}}) {
    const DatasetInfo* const info = file->find(path);
    if (info == nullptr) return corpus_misfit(corpus, path);
    HEADROOM_TRY(std::vector<double> values, read_step(*file, *info, step));
    if (values.size() != (sequences ? corpus.number.size() : kStatistics)) return corpus_misfit(corpus, path);
    if (sequences)
      statistics->losses = std::move(values);
    else
      std::ranges::copy(values, statistics->next_token_loss.begin());
  }
  if (const DatasetInfo* const info = file->find("sequences/non_finite_layer")) {
    HEADROOM_TRY(const std::vector<double> values, read_step(*file, *info, step));
    for (const double value : values)
      statistics->non_finite_layers.push_back(value >= 0.0 ? static_cast<std::int64_t>(value) : -1);
  }
  statistics->non_finite_layers.resize(corpus.number.size(), -1);
  return std::shared_ptr<const CorpusStatistics>(std::move(statistics));
}

Result<std::shared_ptr<const CorpusValues>> read_corpus_values(const OpenedCorpus& corpus, const QuantityRef& ref,
                                                               std::int64_t step) {
  const std::string name = ref.info == nullptr ? "" : ref.info->name, path = "sequences/" + name;
  if (!corpus.keeps(name))
    return Error(ErrorCode::NotFound, "the file keeps no numbers of single sequences of this quantity")
        .at_tensor(path)
        .in_file(corpus.path.string());
  const std::size_t heads = corpus.layers.size() * corpus.heads.size(), sequences = corpus.number.size();
  if (heads * sequences > kMostCorpusBytes / sizeof(float))
    return Error(ErrorCode::OutOfMemory, "there are too many numbers of sequences to be looked at one by one")
        .at_tensor(path)
        .in_file(corpus.path.string());
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(corpus.path));
  const DatasetInfo* const info = file->find(path);
  const std::size_t first = step < 0 ? 0 : 1;
  if (info == nullptr || info->shape.size() < first + 3) return corpus_misfit(corpus, path);
  auto values = std::make_shared<CorpusValues>();
  values->quantity = quantity_text(ref);
  values->step = step;
  values->sequences = sequences;
  values->values.resize(heads * sequences);
  std::vector<std::int64_t> start(info->shape.size(), 0), count(info->shape.size(), 1);
  std::ranges::copy(element_place(std::span(info->shape).subspan(first + 3), ref.index),
                    start.begin() + static_cast<std::ptrdiff_t>(first + 3));
  if (step >= 0) start[0] = step;
  count[first + 1] = info->shape[first + 1], count[first + 2] = info->shape[first + 2];
  const std::size_t at_once = std::max<std::size_t>(1, kReadBytes / (sizeof(double) * heads));
  for (std::size_t begin = 0; begin < sequences; begin += at_once) {
    const std::size_t size = std::min(at_once, sequences - begin);
    start[first] = static_cast<std::int64_t>(begin), count[first] = static_cast<std::int64_t>(size);
    HEADROOM_TRY(const std::vector<double> part, file->read_part(path, start, count));
    if (part.size() != size * heads) return corpus_misfit(corpus, path);
    for (std::size_t s = 0; s < size; ++s)
      for (std::size_t head = 0; head < heads; ++head) {
        const double value = part[s * heads + head];
        const bool none = ref.info->whole && value < 0.0;  // an index that there is not
        values->values[head * sequences + begin + s] = static_cast<float>(none ? kNaN : value);
      }
  }
  find_outliers(*values);
  return std::shared_ptr<const CorpusValues>(std::move(values));
}

Result<std::shared_ptr<const CorpusCurves>> read_corpus_curves(const OpenedCorpus& corpus, const QuantityRef& ref) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(corpus.path));
  const DatasetInfo* const info = ref.info == nullptr ? nullptr : file->find(ref.info->name);
  if (info == nullptr || info->shape.size() < 4 || info->axes[0] != "step")
    return Error(ErrorCode::NotFound, "the file has no such quantity by step")
        .at_tensor(ref.info == nullptr ? "" : ref.info->name)
        .in_file(corpus.path.string());
  auto curves = std::make_shared<CorpusCurves>();
  curves->quantity = quantity_text(ref);
  std::vector<std::int64_t> start(info->shape.size(), 0), count(info->shape.size(), 1);
  std::ranges::copy(element_place(std::span(info->shape).subspan(4), ref.index), start.begin() + 4);
  count[0] = info->shape[0], count[2] = info->shape[2], count[3] = info->shape[3];
  for (const auto& [which, into] : {std::pair{Statistic::Mean, &curves->mean},
                                    {Statistic::CiLow, &curves->low},
                                    {Statistic::CiHigh, &curves->high}}) {
    start[1] = static_cast<std::int64_t>(which);
    HEADROOM_TRY(*into, file->read_part(info->path, start, count));
    if (into->size() != corpus.steps.size() * corpus.layers.size() * corpus.heads.size())
      return corpus_misfit(corpus, info->path);
  }
  return std::shared_ptr<const CorpusCurves>(std::move(curves));
}

std::vector<double> corpus_column(const OpenedCorpus& corpus, const CorpusStatistics& statistics,
                                  const QuantityRef& ref, Statistic which) {
  const std::size_t heads = corpus.layers.size() * corpus.heads.size();
  std::vector<double> column(heads, kNaN);
  const auto found = ref.info == nullptr ? statistics.quantities.end() : statistics.quantities.find(ref.info->name);
  if (found == statistics.quantities.end()) return column;
  const std::size_t elements = ref.info->elements();
  for (std::size_t head = 0; head < heads; ++head)
    column[head] = found->second[(static_cast<std::size_t>(which) * heads + head) * elements + ref.index];
  return column;
}

std::shared_ptr<const RunSnapshot> corpus_snapshot(const OpenedCorpus& corpus, const CorpusStatistics& statistics,
                                                   Statistic which) {
  auto run = std::make_shared<RunSnapshot>();
  const std::size_t heads = corpus.heads.size(), all = corpus.layers.size() * heads;
  auto prompt = std::make_shared<Prompt>();
  prompt->ids.assign(static_cast<std::size_t>(std::max<std::int64_t>(corpus.length, 1)), -1);
  run->length = static_cast<std::int64_t>(prompt->ids.size());
  run->prompt = std::move(prompt);
  run->attributes = corpus.attributes;
  run->min_row = corpus.min_row;
  run->sink_null = corpus.sink_null;
  run->layers = corpus.layers;
  run->heads = corpus.heads;
  run->all_layers = std::max(corpus.layers.back() + 1, parse_index(corpus.attribute("model_layers")).value_or(0));
  run->complete = true;
  run->model_name = corpus.attribute("model_id");
  run->model_kind = corpus.attribute("model_type");
  run->what_ifs = corpus.what_ifs;
  if (const std::string backend = corpus.attribute("backend"); !backend.empty())
    run->attention = AttentionChoice{backend, "", corpus.attribute("device_statistics"),
                                     corpus.attribute("dtype_statistics"), corpus.attribute("kernel_target")};
  if (const double loss = of(statistics.next_token_loss, Statistic::Mean); std::isfinite(loss))
    run->next_token_loss = loss;
  for (std::size_t l = 0; l < corpus.layers.size(); ++l) {
    auto layer = std::make_shared<LayerSnapshot>();
    layer->layer = corpus.layers[l];
    layer->kind = corpus.kinds[l];
    layer->length = layer->rows = layer->keys = run->length;
    layer->lambda_init = kNaN;
    layer->heads = corpus.heads;
    layer->programs.resize(heads);
    for (const auto& [name, values] : statistics.quantities) {
      const std::size_t size = heads * (values.size() / (kStatistics * all));
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(
                                              (static_cast<std::size_t>(which) * corpus.layers.size() + l) * size);
      layer->summary.emplace(name, std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(size)));
    }
    const auto sinks = statistics.quantities.find("sink_score");
    for (std::size_t h = 0; h < heads; ++h) {
      HeadProgram& program = layer->programs[h];
      program.first.query_block = program.first.key_block = 0;
      const std::size_t second = 2 * (l * heads + h) + 1;  // of the means
      if (sinks != statistics.quantities.end() && std::isfinite(sinks->second[second]))
        program.second.query_block = program.second.key_block = 0;
    }
    for (std::size_t h = 0; !corpus.kv_head.empty() && h < heads; ++h) {
      const std::size_t at = 2 * (l * heads + h);
      layer->kv_heads.push_back(
          {static_cast<std::int64_t>(corpus.kv_head[at]), static_cast<std::int64_t>(corpus.kv_head[at + 1])});
    }
    run->data.push_back(std::move(layer));
  }
  for (const auto& [name, values] : statistics.quantities) {
    const std::size_t size = values.size() / kStatistics;
    for (std::size_t s = 0; s < kStatistics; ++s)
      run->beside[name + "." + statistic_names()[s]].assign(
          values.begin() + static_cast<std::ptrdiff_t>(s * size),
          values.begin() + static_cast<std::ptrdiff_t>((s + 1) * size));
  }
  return run;
}

}  // namespace headroom
