#include "core/corpus/series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/base/utc.h"
#include "core/checkpoint/strict_json.h"
#include "core/corpus/plan_file.h"
#include "core/corpus/sequence_record.h"
#include "core/corpus/shard_origin.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/io/run_file_writer.h"
#include "core/run/provenance.h"
#include "core/run/run_layout.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

using Sizes = std::vector<std::int64_t>;
using Names = std::vector<std::string>;

constexpr std::size_t kRowsAtOnce = std::size_t{16} << 20;  // bytes

template <typename T>
std::vector<T> in_front(std::vector<T> first, const std::vector<T>& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

std::size_t elements_of(const Sizes& sizes) {
  std::size_t all = 1;
  for (const std::int64_t size : sizes) all *= static_cast<std::size_t>(size);
  return all;
}

// What one checkpoint left.
struct OpenPart {
  const SeriesPart* part = nullptr;
  std::unique_ptr<RunFile> file;
  std::string settings, sha256;  // without and of the checkpoint
};

class SeriesWriter {
 public:
  SeriesWriter(const SeriesRequest& request, const std::function<bool()>& stop)
      : request_(request), layout_(*request.layout), stop_(stop), sequences_(std::ssize(request.plan->sequences)) {
    for (const PlannedSequence& sequence : request.plan->sequences) documents_.push_back(sequence.document);
  }

  Result<SeriesOutcome> run() {
    HEADROOM_TRY_VOID(look_at_parts());
    if (!request_.force && is_finished()) {
      outcome_.nothing_to_do = true;
      return std::move(outcome_);
    }
    RunFileWriter::Options options;
    options.force = request_.force;
    options.inputs = request_.inputs;
    for (const SeriesPart& part : request_.parts) options.inputs.push_back(part.file);
    options.schema_name = kSeriesSchemaName;
    HEADROOM_TRY(writer_, RunFileWriter::create(request_.output, options));
    HEADROOM_TRY_VOID(define());
    HEADROOM_TRY_VOID(write_attributes());
    HEADROOM_TRY_VOID(write_once());
    const SequenceStatistics statistics(documents_, request_.bootstrap_seed);
    OpenPart before;
    for (std::size_t i = 0; i < request_.parts.size(); ++i) {
      HEADROOM_TRY(OpenPart part, open(request_.parts[i]));
      HEADROOM_TRY_VOID(copy_root(part, i));
      HEADROOM_TRY_VOID(copy_sequences(part, i));
      if (i > 0) HEADROOM_TRY_VOID(write_change(statistics, before, part, i));
      HEADROOM_TRY_VOID(writer_->flush());
      before = std::move(part);
    }
    HEADROOM_TRY_VOID(writer_->commit());
    std::error_code ignored;
    outcome_.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request_.output, ignored));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] Result<void> running() const {
    if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
    return {};
  }

  static Error of_part(Error error, const SeriesPart& part) {
    return error.file.empty() ? error.in_file(part.file.string()) : error;
  }

  Result<OpenPart> open(const SeriesPart& part) const {
    HEADROOM_TRY_VOID(running());
    OpenPart opened;
    opened.part = &part;
    HEADROOM_TRY(opened.file, RunFile::open(part.file));
    const auto schema = opened.file->root_attribute("schema_name");
    const auto settings = opened.file->root_attribute("settings");
    auto said = settings ? parse_json(*settings) : Result<nlohmann::json>(settings.error());
    const auto first = opened.file->read_axis("sequences/sequence");
    if (!schema || *schema != kCorpusSchemaName || !said || !said->is_object() || !first ||
        std::ssize(*first) != sequences_ || first->front() != 0.0)
      return of_part(Error(ErrorCode::Corrupt, "the file is not the whole corpus of a checkpoint"), part)
          .wanted(format("%s of %lld sequences", std::string(kCorpusSchemaName).c_str(),
                         static_cast<long long>(sequences_)),
                  schema ? *schema : "none");
    if (said->contains("checkpoint_sha256") && (*said)["checkpoint_sha256"].is_string())
      opened.sha256 = (*said)["checkpoint_sha256"].get<std::string>();
    said->erase("checkpoint_sha256");
    opened.settings = said->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return opened;
  }

  // Numbers of a dataset, which has these sizes.
  Result<std::vector<double>> read(const OpenPart& part, const std::string& path, std::size_t size) const {
    auto values = part.file->read(path);
    if (!values) return of_part(values.error(), *part.part);
    if (values->size() == size) return values;
    return of_part(Error(ErrorCode::Corrupt, "a dataset of the corpus has another size"), *part.part)
        .at_tensor(path)
        .wanted(format("%zu numbers", size), format("%zu", values->size()));
  }

  Result<void> look_at_parts() {
    std::vector<ShardOrigin> origins;
    for (const SeriesPart& part : request_.parts) {
      HEADROOM_TRY(const OpenPart opened, open(part));
      if (settings_.empty()) settings_ = opened.settings;
      if (opened.settings != settings_)
        return of_part(Error(ErrorCode::Corrupt, "corpora of different settings make no series"), part)
            .wanted(settings_, opened.settings);
      hashes_.push_back(opened.sha256);
      steps_.push_back(static_cast<double>(part.step));
      auto of_part_alone = read_origins(*opened.file);
      if (!of_part_alone) return of_part(of_part_alone.error(), part);
      self_checks_.push_back(stored_violations(violations_of(*of_part_alone)));
      origins.insert(origins.end(), of_part_alone->begin(), of_part_alone->end());
      SeriesStep step;
      const std::size_t rates = layout_.rates();
      HEADROOM_TRY(const std::vector<double> loss, read(opened, "next_token_loss", kStatistics));
      HEADROOM_TRY(const std::vector<double> rate, read(opened, "sink_rate", kStatistics * rates));
      HEADROOM_TRY(const std::vector<double> non_finite,
                   read(opened, "sequences/non_finite_layer", static_cast<std::size_t>(sequences_)));
      std::ranges::copy(loss, step.next_token_loss.begin());
      step.sink_rate.resize(rates);
      for (std::size_t i = 0; i < rate.size(); ++i) step.sink_rate[i % rates][i / rates] = rate[i];
      step.non_finite = std::ranges::count_if(non_finite, [](double layer) { return layer >= 0.0; });
      outcome_.steps.push_back(std::move(step));
    }
    outcome_.different_kinds = different_kinds(origins);
    return {};
  }

  // Whether the target is what would be written.
  [[nodiscard]] bool is_finished() const {
    const auto file = RunFile::open(request_.output);
    if (!file) return false;
    const auto schema = (*file)->root_attribute("schema_name"), found = (*file)->root_attribute("settings");
    const auto steps = (*file)->read_axis("step");
    const auto hashes = (*file)->read_strings("checkpoints/sha256");
    return schema && *schema == kSeriesSchemaName && found && *found == settings_ && steps && *steps == steps_ &&
           hashes && *hashes == hashes_;
  }

  Result<void> define() {
    HEADROOM_TRY_VOID(define_axes(*writer_, layout_.shape()));
    AxisDef step = index_axis("step", steps_, "training step of the checkpoint");
    step.type = ElementType::Int64;
    HEADROOM_TRY_VOID(writer_->add_axis(step));
    HEADROOM_TRY_VOID(
        writer_->add_axis(label_axis("statistic", statistic_names(), "what is said of a number over sequences")));
    AxisDef epsilon = index_axis("epsilon", layout_.epsilons(), "share of attention above which a head is a sink");
    epsilon.type = ElementType::Float64;
    HEADROOM_TRY_VOID(writer_->add_axis(epsilon));
    HEADROOM_TRY_VOID(writer_->add_axis(label_axis("map", sink_maps(), "map that a sink is one of")));
    HEADROOM_TRY_VOID(
        define_plan(*writer_, *request_.plan, {0, std::ssize(request_.plan->sequences)}, request_.with_ids));
    for (const CorpusDataset& dataset : layout_.floats()) HEADROOM_TRY_VOID(define_statistics(dataset));
    HEADROOM_TRY_VOID(add_both(number("next_token_loss", {}, "nat", "next-token loss",
                                      "mean over tokens 1 … L − 1 of −ln of the model's probability of the token, of a "
                                      "sequence"),
                               true));
    HEADROOM_TRY_VOID(add_both(number("sink_rate", {"epsilon", "map"}, "1", "share of heads that are sinks",
                                      "share of (layer, head) with a sink score above epsilon, of a sequence"),
                               true));
    for (const std::span<const Quantity> table : {other_quantities(), head_quantities()})
      for (const Quantity& quantity : table)
        if (quantity.group.empty() && is_fixed(quantity.name) && is_written(quantity, layout_.shape()))
          HEADROOM_TRY_VOID(define_quantity(*writer_, quantity, layout_.shape().real));
    HEADROOM_TRY_VOID(define_sequences());
    for (const auto& [name, long_name] : {std::pair("name", "name of the checkpoint's path"),
                                          std::pair("sha256", "SHA-256 of each file of the checkpoint"),
                                          std::pair("self_check",
                                                    "what the self-check found wrong, a line each; "
                                                    "empty: nothing")}) {
      DatasetDef def = number(name, {}, "1", long_name, long_name);
      def.group = "checkpoints";
      def.axes = {"step"};
      def.type = ElementType::String;
      HEADROOM_TRY_VOID(writer_->add_dataset(def));
    }
    return {};
  }

  static bool is_fixed(std::string_view name) {
    return name == "attention_kind" || name == "kv_head" || name == "sink_null";
  }

  static DatasetDef number(const char* name, Names axes, const char* units, const char* long_name,
                           const char* definition) {
    DatasetDef def;
    def.name = name;
    def.axes = std::move(axes);
    def.type = ElementType::Float64;
    def.units = units;
    def.long_name = long_name;
    def.definition = definition;
    return def;
  }

  // A dataset of the root, and of its change where values of sequences are there.
  Result<void> add_both(DatasetDef def, bool kept) {
    def.type = ElementType::Float64;
    def.axes = in_front<std::string>({"step", "statistic"}, def.axes);
    def.attributes["over"] = kept ? "sequences, documents as clusters" : "sequences; their values are not kept";
    HEADROOM_TRY_VOID(writer_->add_dataset(def));
    if (!kept) return {};
    def.group = "change";
    def.long_name = "change of " + def.long_name;
    def.definition = "x(step) − x(step before) of each sequence; x: " + def.definition;
    return writer_->add_dataset(def);
  }

  Result<void> define_statistics(const CorpusDataset& dataset) {
    if (dataset.quantity != nullptr) return add_both(dataset_of(*dataset.quantity, ElementType::Float64), dataset.kept);
    return add_both(number("sink_frequency", dataset.axes, "1", "share of sequences in which a head is a sink",
                           "1 where the head's sink score is above epsilon, 0 elsewhere, of a sequence"),
                    dataset.kept);
  }

  Result<void> define_sequences() {
    const auto add = [&](DatasetDef def) {
      def.group = "sequences";
      def.axes = in_front<std::string>({"step", "sequence"}, def.axes);
      return writer_->add_dataset(def);
    };
    HEADROOM_TRY_VOID(add(number("next_token_loss", {}, "nat", "next-token loss",
                                 "mean over tokens 1 … L − 1 of −ln of the model's probability of the token")));
    HEADROOM_TRY_VOID(add(number("sink_rate", {"epsilon", "map"}, "1", "share of heads that are sinks",
                                 "share of (layer, head) with a sink score above epsilon")));
    DatasetDef non_finite = number("non_finite_layer", {}, "1", "first layer that is not finite",
                                   "the first layer whose output holds NaN or infinity; none: no value");
    non_finite.type = ElementType::Int32;
    non_finite.missing_values = true;
    HEADROOM_TRY_VOID(add(non_finite));
    for (const auto* datasets : {&layout_.floats(), &layout_.integers()})
      for (const CorpusDataset& dataset : *datasets)
        if (dataset.kept && dataset.quantity != nullptr)
          HEADROOM_TRY_VOID(add(dataset_of(*dataset.quantity, ElementType::Float32)));
    return {};
  }

  Result<void> write_attributes() {
    HEADROOM_TRY(const OpenPart part, open(request_.parts.front()));
    const std::string now = utc_now();
    for (const char* name :
         {"Conventions", "institution", "source", "references", "comment", "license", "program_git_commit",
          "model_type", "model_revision", "container", "dtype_compute", "dtype_statistics", "device",
          "device_statistics", "backend", "torch_version", "kernel_target"})
      if (const auto value = part.file->root_attribute(name))
        HEADROOM_TRY_VOID(writer_->set_attribute("", name, *value));
    const std::pair<const char*, AttributeValue> attributes[] = {
        {"title", "Statistics over a corpus of " + stored_text(request_.model_id) +
                      format(" at %zu training steps, %lld to %lld", request_.parts.size(),
                             static_cast<long long>(request_.parts.front().step),
                             static_cast<long long>(request_.parts.back().step))},
        {"model_id", stored_text(request_.model_id)},
        {"history", now + " " + stored_text(request_.command_line)},
        {"command_line", stored_text(request_.command_line)},
        {"created_utc", now},
        {"keep", request_.keep},
        {"settings", settings_},
        {"bootstrap_seed", std::to_string(request_.bootstrap_seed)},
        {"resamples", SequenceStatistics::kResamples},
        {"checkpoint_count", std::ssize(request_.parts)},
        {"min_row", layout_.shape().min_row},
        {"lse_includes_sink", std::int64_t{1}},
    };
    for (const auto& [name, value] : attributes) HEADROOM_TRY_VOID(writer_->set_attribute("", name, value));
    if (const auto overrides = part.file->attribute("program", "overrides"))
      HEADROOM_TRY_VOID(writer_->set_attribute("program", "overrides", *overrides));
    return {};
  }

  // What no step changes.
  Result<void> write_once() {
    HEADROOM_TRY_VOID(write_plan_parts(*writer_, *request_.plan, {0, sequences_}, request_.with_ids));
    HEADROOM_TRY(const OpenPart part, open(request_.parts.front()));
    for (const DatasetInfo& info : part.file->datasets()) {
      if (!is_fixed(info.path)) continue;
      const Sizes start(info.shape.size(), 0);
      if (info.type == ElementType::String) {
        HEADROOM_TRY(const Names texts, part.file->read_strings(info.path));
        HEADROOM_TRY_VOID(writer_->write_strings(info.path, start, info.shape, texts));
      } else {
        HEADROOM_TRY(const std::vector<double> numbers, part.file->read(info.path));
        HEADROOM_TRY_VOID(writer_->write(info.path, start, info.shape, numbers));
      }
    }
    const std::int64_t start[] = {0}, count[] = {std::ssize(request_.parts)};
    Names names;
    for (const SeriesPart& each : request_.parts) names.push_back(stored_text(each.name));
    HEADROOM_TRY_VOID(writer_->write_strings("checkpoints/name", start, count, names));
    HEADROOM_TRY_VOID(writer_->write_strings("checkpoints/sha256", start, count, hashes_));
    return writer_->write_strings("checkpoints/self_check", start, count, self_checks_);
  }

  // Values of a dataset of this step; `extents` without the step.
  Result<void> write_step(const std::string& path, std::size_t step, const Sizes& start, const Sizes& extents,
                          const std::vector<double>& values) {
    return writer_->write(path, in_front<std::int64_t>({static_cast<std::int64_t>(step)}, start),
                          in_front<std::int64_t>({1}, extents), values);
  }

  Result<void> copy_root(const OpenPart& part, std::size_t step) {
    const auto copy = [&](const std::string& name, const Sizes& extents) -> Result<void> {
      const Sizes all = in_front<std::int64_t>({static_cast<std::int64_t>(kStatistics)}, extents);
      HEADROOM_TRY(const std::vector<double> values, read(part, name, elements_of(all)));
      return write_step(name, step, Sizes(all.size(), 0), all, values);
    };
    HEADROOM_TRY_VOID(copy("next_token_loss", {}));
    HEADROOM_TRY_VOID(copy("sink_rate", {std::ssize(layout_.epsilons()), 3}));
    for (const CorpusDataset& dataset : layout_.floats()) HEADROOM_TRY_VOID(copy(dataset.name, dataset.extents));
    return {};
  }

  // take(first row, rows, values [rows, extents]) of a dataset of sequences, some rows at a time.
  template <typename Take>
  Result<void> by_rows(const OpenPart& part, const std::string& name, const Sizes& extents, const Take& take) const {
    const std::string path = "sequences/" + name;
    const std::size_t size = elements_of(extents);
    const DatasetInfo* info = part.file->find(path);
    if (info == nullptr || info->shape != in_front<std::int64_t>({sequences_}, extents))
      return of_part(Error(ErrorCode::Corrupt, "the corpus lacks a dataset, or it has another shape"), *part.part)
          .at_tensor(path);
    const auto fit = static_cast<std::int64_t>(kRowsAtOnce / (sizeof(double) * std::max<std::size_t>(size, 1)));
    const std::int64_t step = std::clamp<std::int64_t>(fit, 1, sequences_);
    for (std::int64_t first = 0; first < sequences_; first += step) {
      HEADROOM_TRY_VOID(running());
      Sizes start(extents.size() + 1, 0);
      start[0] = first;
      const std::int64_t rows = std::min(step, sequences_ - first);
      auto values = part.file->read_part(path, start, in_front<std::int64_t>({rows}, extents));
      if (!values) return of_part(values.error(), *part.part);
      HEADROOM_TRY_VOID(take(first, rows, *values));
    }
    return {};
  }

  Result<void> copy_sequences(const OpenPart& part, std::size_t step) {
    const auto copy = [&](const std::string& name, const Sizes& extents) {
      return by_rows(
          part, name, extents, [&](std::int64_t first, std::int64_t rows, const std::vector<double>& values) {
            Sizes start(extents.size() + 1, 0);
            start[0] = first;
            return write_step("sequences/" + name, step, start, in_front<std::int64_t>({rows}, extents), values);
          });
    };
    HEADROOM_TRY_VOID(copy("next_token_loss", {}));
    HEADROOM_TRY_VOID(copy("sink_rate", {std::ssize(layout_.epsilons()), 3}));
    HEADROOM_TRY_VOID(copy("non_finite_layer", {}));
    for (const auto* datasets : {&layout_.floats(), &layout_.integers()})
      for (const CorpusDataset& dataset : *datasets)
        if (dataset.kept && dataset.quantity != nullptr) HEADROOM_TRY_VOID(copy(dataset.name, dataset.extents));
    return {};
  }

  // Columns [first, first + count) of a dataset of sequences: [sequences, count].
  Result<std::vector<double>> columns(const OpenPart& part, const std::string& name, const Sizes& extents,
                                      std::size_t first, std::size_t count) const {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(sequences_) * count);
    const std::size_t size = elements_of(extents);
    HEADROOM_TRY_VOID(
        by_rows(part, name, extents, [&](std::int64_t /*first*/, std::int64_t rows, const std::vector<double>& read) {
          for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
            const auto from = read.begin() + static_cast<std::ptrdiff_t>(r * size + first);
            values.insert(values.end(), from, from + static_cast<std::ptrdiff_t>(count));
          }
          return Result<void>();
        }));
    return values;
  }

  // Likewise of sink_frequency, within one place (epsilon and map): 1 where the head is a sink.
  Result<std::vector<double>> sink_columns(const OpenPart& part, std::size_t place, std::size_t first,
                                           std::size_t count) const {
    const CorpusDataset& score = *layout_.find("sink_score");
    const CorpusDataset& net = *layout_.find("sink_score_net");
    HEADROOM_TRY(const std::vector<double> scores, columns(part, score.name, score.extents, 2 * first, 2 * count));
    HEADROOM_TRY(const std::vector<double> nets, columns(part, net.name, net.extents, first, count));
    const std::vector<float> both(scores.begin(), scores.end()), one(nets.begin(), nets.end());
    std::vector<double> indicators;
    indicators.reserve(one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      indicators.push_back(static_cast<double>(sink_indicator(layout_, both, one, place, i)));
    return indicators;
  }

  template <typename Columns>
  Result<std::vector<StatisticValues>> change_of(const SequenceStatistics& statistics, const OpenPart& before,
                                                 const OpenPart& now, std::size_t size, const Columns& columns_of) {
    const auto all = static_cast<std::size_t>(sequences_);
    const std::size_t step = std::clamp<std::size_t>(
        request_.memory_bytes / 2 / (sizeof(double) * (all + SequenceStatistics::kResamples)), 1, size);
    std::vector<StatisticValues> results;
    results.reserve(size);
    for (std::size_t first = 0; first < size; first += step) {
      const std::size_t count = std::min(step, size - first);
      HEADROOM_TRY(const std::vector<double> old, columns_of(before, first, count));
      HEADROOM_TRY(std::vector<double> values, columns_of(now, first, count));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] -= old[i];
      const std::vector<StatisticValues> some = statistics.compute(values, count);
      results.insert(results.end(), some.begin(), some.end());
    }
    return results;
  }

  Result<void> write_change(const SequenceStatistics& statistics, const OpenPart& before, const OpenPart& now,
                            std::size_t step) {
    const auto write = [&](const std::string& name, const Sizes& extents, const std::vector<StatisticValues>& results) {
      const Sizes all = in_front<std::int64_t>({static_cast<std::int64_t>(kStatistics)}, extents);
      return write_step("change/" + name, step, Sizes(all.size(), 0), all, by_statistic(results));
    };
    const auto change = [&](const std::string& name, const Sizes& extents) -> Result<void> {
      HEADROOM_TRY(const std::vector<StatisticValues> results,
                   change_of(statistics, before, now, elements_of(extents),
                             [&](const OpenPart& part, std::size_t first, std::size_t count) {
                               return columns(part, name, extents, first, count);
                             }));
      return write(name, extents, results);
    };
    HEADROOM_TRY_VOID(change("next_token_loss", {}));
    HEADROOM_TRY_VOID(change("sink_rate", {std::ssize(layout_.epsilons()), 3}));
    for (const CorpusDataset& dataset : layout_.floats())
      if (dataset.kept && dataset.quantity != nullptr) HEADROOM_TRY_VOID(change(dataset.name, dataset.extents));
    const CorpusDataset& sinks = layout_.sinks();
    if (!sinks.kept) return {};
    std::vector<StatisticValues> all;
    for (std::size_t place = 0; place < layout_.rates(); ++place) {
      HEADROOM_TRY(const std::vector<StatisticValues> results,
                   change_of(statistics, before, now, layout_.heads(),
                             [&](const OpenPart& part, std::size_t first, std::size_t count) {
                               return sink_columns(part, place, first, count);
                             }));
      all.insert(all.end(), results.begin(), results.end());
    }
    return write(sinks.name, sinks.extents, all);
  }

  const SeriesRequest& request_;
  const CorpusLayout& layout_;
  const std::function<bool()>& stop_;
  std::int64_t sequences_ = 0;
  std::vector<std::int64_t> documents_;  // of each sequence
  std::string settings_;
  Names hashes_, self_checks_;
  std::vector<double> steps_;
  std::unique_ptr<RunFileWriter> writer_;
  SeriesOutcome outcome_;
};

}  // namespace

Result<SeriesOutcome> write_series(const SeriesRequest& request, const std::function<bool()>& stop) {
  if (request.parts.empty()) return Error(ErrorCode::InvalidArgument, "there are no checkpoints");
  return SeriesWriter(request, stop).run();
}

std::int64_t step_of_name(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0)
    if (std::ranges::any_of(name.substr(0, dot), is_digit)) name = name.substr(0, dot);
  while (!name.empty() && !is_digit(name.back())) name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  std::int64_t step = -1;
  const auto parsed = std::from_chars(name.data() + begin, name.data() + name.size(), step);
  return parsed.ec == std::errc() ? step : -1;
}

}  // namespace headroom
