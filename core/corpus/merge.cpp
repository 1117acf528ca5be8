#include "core/corpus/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/base/parse_number.h"
#include "core/base/utc.h"
#include "core/checkpoint/sha256.h"
#include "core/checkpoint/strict_json.h"
#include "core/corpus/corpus_file.h"
#include "core/corpus/corpus_part.h"
#include "core/corpus/shard_origin.h"
#include "core/io/corpus_schema.h"
#include "core/io/target_check.h"
#include "core/model/model_spec.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostShards = 1'000'000;

// "1,5-6" of ascending numbers, as Slurm takes them.
std::string array_text(std::span<const std::int64_t> numbers) {
  std::string text = layers_text(numbers);
  std::erase(text, ' ');
  return text;
}

class Merger {
 public:
  Merger(const MergeRequest& request, const std::function<bool()>& stop) : request_(request), stop_(stop) {}

  Result<MergeOutcome> run() {
    HEADROOM_TRY([[maybe_unused]] const std::filesystem::path checked,
                 check_target(request_.output, request_.force, request_.parts));
    for (const std::filesystem::path& path : request_.parts) {
      HEADROOM_TRY(CorpusPart part, open_corpus_part(path));
      parts_.push_back(std::move(part));
    }
    std::ranges::sort(parts_, {}, &CorpusPart::first);
    HEADROOM_TRY_VOID(check_parts());
    HEADROOM_TRY_VOID(join_plans());
    HEADROOM_TRY_VOID(read_layout());
    CorpusTotals totals(*layout_);
    HEADROOM_TRY_VOID(read_totals(totals));
    return write(totals);
  }

 private:
  Result<void> check_parts() {
    for (const CorpusPart& part : parts_) {
      if (part.settings == parts_.front().settings) continue;
      Error error(ErrorCode::Corrupt, "parts of different runs cannot be merged");
      return error.in_file(part.path.string()).wanted(parts_.front().settings, part.settings);
    }
    HEADROOM_TRY(const std::int64_t sequences, parts_.front().number("sequences_all"));
    all_ = sequences;
    std::int64_t next = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for (const CorpusPart& part : parts_) {
      if (part.first < next) {
        Error error(ErrorCode::Corrupt, "a sequence is in two parts");
        return error.in_file(part.path.string())
            .wanted(format("sequences from %lld on", static_cast<long long>(next)),
                    format("from %lld on", static_cast<long long>(part.first)));
      }
      if (part.first > next) gaps.emplace_back(next, part.first);
      next = part.first + part.count;
    }
    if (next < all_) gaps.emplace_back(next, all_);
    if (next > all_)
      return Error(ErrorCode::Corrupt, "a part has sequences that the plan has not")
          .in_file(parts_.back().path.string());
    for (const auto& [from, to] : gaps) {
      missing_ += (missing_.empty() ? "" : ", ") + std::to_string(from);
      if (to - 1 > from) missing_ += "-" + std::to_string(to - 1);
      missing_count_ += to - from;
    }
    const std::string shards = missing_shards(gaps);
    if (!shards.empty()) advice_ = "run these shards again: --array=" + shards;
    if (gaps.empty() || request_.partial) return {};
    Error error(ErrorCode::Corrupt, "parts of the corpus are missing");
    error.wanted(format("sequences 0 to %lld", static_cast<long long>(all_ - 1)), "none for " + missing_);
    return error.advise((advice_.empty() ? "" : advice_ + "; ") + "--partial writes what is there");
  }

  // As Slurm takes them, where all parts say the same of how many there are.
  [[nodiscard]] std::string missing_shards(const std::vector<std::pair<std::int64_t, std::int64_t>>& gaps) const {
    std::set<std::int64_t> counts;
    for (const CorpusPart& part : parts_)
      if (const auto count = part.file->root_attribute("shard_count")) counts.insert(parse_index(*count).value_or(0));
    if (counts.size() != 1 || *counts.begin() < 1 || *counts.begin() > kMostShards) return "";
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < *counts.begin(); ++i) {
      const ShardRange range = shard_range(all_, i, *counts.begin());
      if (std::ranges::any_of(gaps, [&](const auto& gap) {
            return range.count > 0 && gap.first <= range.first && range.first + range.count <= gap.second;
          }))
        indices.push_back(i);
    }
    return array_text(indices);
  }

  Result<void> join_plans() {
    plan_ = parts_.front().plan;
    std::map<std::int64_t, PlannedDocument> documents;
    plan_.sequences.clear();
    for (CorpusPart& part : parts_) {
      if (part.plan.plan_sha256 != plan_.plan_sha256)
        return Error(ErrorCode::Corrupt, "parts of different plans cannot be merged")
            .in_file(part.path.string())
            .wanted(plan_.plan_sha256, part.plan.plan_sha256);
      for (PlannedSequence& sequence : part.plan.sequences) plan_.sequences.push_back(std::move(sequence));
      for (std::int64_t s = 0; s < part.count; ++s) plan_.numbers.push_back(part.first + s);
      for (const PlannedDocument& document : part.plan.documents) {
        const auto [place, is_new] = documents.emplace(document.index, document);
        if (!is_new) place->second.sequences += document.sequences;
      }
    }
    plan_.documents.clear();
    for (auto& [index, document] : documents) plan_.documents.push_back(std::move(document));
    plan_.sequences_all = all_;
    with_ids_ = !plan_.sequences.front().ids.empty();
    if (!with_ids_ || missing_count_ > 0) return {};  // hashes are of all sequences
    const std::string expected = plan_.plan_sha256;
    hash_plan(plan_);
    if (plan_.plan_sha256 == expected) return {};
    return Error(ErrorCode::Corrupt, "the sequences of the parts are not those of their plan")
        .in_file(parts_.front().path.string())
        .at_tensor("plan_sha256")
        .wanted(expected, plan_.plan_sha256);
  }

  // The shape of the runs, as their file says it.
  Result<void> read_layout() {
    const CorpusPart& part = parts_.front();
    const RunFile& file = *part.file;
    auto settings = parse_json(part.settings);
    if (!settings || !settings->is_object() || !settings->contains("keep") || !settings->contains("epsilon") ||
        !settings->contains("bootstrap_seed") || !settings->contains("dtype"))
      return part.named(Error(ErrorCode::Corrupt, "a part does not say what it was made with").at_tensor("settings"));
    const json& said = *settings;
    keep_ = said["keep"].is_string() ? said["keep"].get<std::string>() : "";
    seed_ = said["bootstrap_seed"].is_number_unsigned() ? said["bootstrap_seed"].get<std::uint64_t>() : 0;
    std::vector<double> epsilons;
    for (const json& epsilon : said["epsilon"])
      if (epsilon.is_number()) epsilons.push_back(epsilon.get<double>());
    RunShape shape;
    shape.length = plan_.options.length;
    const auto axis = [&](const char* name) { return file.read_axis(name); };
    const auto integers = [](const std::vector<double>& values) {
      return std::vector<std::int64_t>(values.begin(), values.end());
    };
    HEADROOM_TRY(const std::vector<double> layers, axis("layer"));
    HEADROOM_TRY(const std::vector<double> heads, axis("head"));
    HEADROOM_TRY(const std::vector<double> others, axis("weights/head_other"));
    HEADROOM_TRY(const std::vector<double> slots, axis("program/value_slot"));
    shape.layers = integers(layers), shape.heads = integers(heads);
    shape.all_heads = std::ssize(others);
    shape.value_slots = std::ssize(slots);
    HEADROOM_TRY(shape.min_row, part.number("min_row"));
    shape.real = said["dtype"] == "float64" ? ElementType::Float64 : ElementType::Float32;
    shape.alibi = file.find("program/alibi_slope") != nullptr;
    if (file.find("program/distance_bias") != nullptr) {
      HEADROOM_TRY(const std::vector<double> distances, axis("program/distance"));
      if (!distances.empty()) {
        shape.bias_ahead = -static_cast<std::int64_t>(distances.front());
        shape.bias_behind = static_cast<std::int64_t>(distances.back());
      }
    }
    auto layout =
        CorpusLayout::create(std::move(shape), keep_, std::move(epsilons), said.value("curves", json()) == true);
    if (!layout) return part.named(layout.error());
    layout_ = std::make_unique<CorpusLayout>(std::move(*layout));
    return {};
  }

  // Adds a dataset of a part, layer by layer: take(first element, values).
  template <typename Take>
  Result<void> by_layer(const CorpusPart& part, const std::string& path, std::size_t size, const Take& take) const {
    const DatasetInfo* info = part.file->find(path);
    const auto layers = static_cast<std::int64_t>(layout_->shape().layers.size());
    std::size_t elements = 1;
    if (info != nullptr)
      for (const std::int64_t extent : info->shape) elements *= static_cast<std::size_t>(extent);
    const std::size_t axis = info != nullptr && !info->axes.empty() && info->axes.front() == "epsilon" ? 2 : 0;
    if (info == nullptr || elements != size || info->shape.size() <= axis || info->shape[axis] != layers)
      return part.named(Error(ErrorCode::Corrupt, "a part lacks a dataset, or it has another shape").at_tensor(path));
    if (axis != 0) {
      HEADROOM_TRY(const std::vector<double> values, part.file->read(path));
      return take(0, values);
    }
    std::vector<std::int64_t> start(info->shape.size(), 0), count = info->shape;
    count[0] = 1;
    const std::size_t step = size / static_cast<std::size_t>(layers);
    for (std::int64_t l = 0; l < layers; ++l) {
      start[0] = l;
      auto values = part.file->read_part(path, start, count);
      if (!values) return part.named(values.error());
      HEADROOM_TRY_VOID(take(static_cast<std::size_t>(l) * step, *values));
    }
    return {};
  }

  Result<void> read_totals(CorpusTotals& totals) {
    const std::size_t heads = layout_->heads();
    for (const CorpusPart& part : parts_) {
      if (stop_ && stop_()) return Error(ErrorCode::Cancelled, "cancelled");
      for (const CorpusBins& bins : layout_->bins()) {
        const std::string path =
            bins.sketch != nullptr ? "sketch/" + std::string(bins.sketch->name) : headroom::path_of(*bins.histogram);
        HEADROOM_TRY_VOID(by_layer(part, path, bins.per_head * heads,
                                   [&](std::size_t first, const std::vector<double>& values) -> Result<void> {
                                     for (std::size_t i = 0; i < values.size(); ++i)
                                       totals.counts[bins.first + first + i] += static_cast<std::int64_t>(values[i]);
                                     return {};
                                   }));
        if (bins.sketch == nullptr) continue;
        const std::size_t places = heads * (bins.sketch->by_component ? 2 : 1);
        for (const char* end : {"_min", "_max"})
          HEADROOM_TRY_VOID(by_layer(
              part, path + end, places, [&](std::size_t first, const std::vector<double>& values) -> Result<void> {
                for (std::size_t i = 0; i < values.size(); ++i)
                  widen(totals.extremes.data() + 2 * (bins.first_extreme + first + i), values[i], values[i]);
                return {};
              }));
      }
      for (const CorpusDataset& dataset : layout_->floats())
        if (!dataset.kept)
          HEADROOM_TRY_VOID(by_layer(part, "exact/" + dataset.name, dataset.size * ExactMoments::kWords,
                                     [&](std::size_t first, const std::vector<double>& values) {
                                       return add_moments(totals, dataset.first, first, values, part);
                                     }));
    }
    return {};
  }

  static Result<void> add_moments(CorpusTotals& totals, std::size_t column, std::size_t first,
                                  const std::vector<double>& values, const CorpusPart& part) {
    std::array<std::uint32_t, ExactMoments::kWords> words{};
    for (std::size_t i = 0; i < values.size(); i += words.size()) {
      for (std::size_t w = 0; w < words.size(); ++w) {
        if (!(values[i + w] >= 0.0 && values[i + w] < 0x1p32))
          return part.named(Error(ErrorCode::Corrupt, "a part has no exact sums").at_tensor("exact"));
        words[w] = static_cast<std::uint32_t>(values[i + w]);
      }
      totals.moments[column + (first + i) / words.size()].add(ExactMoments::from_words(words));
    }
    return {};
  }

  // What is the same for all parts, from the first.
  Result<std::vector<FixedRegion>> read_fixed() const {
    std::vector<FixedRegion> regions;
    const CorpusPart& part = parts_.front();
    for (const DatasetInfo& info : part.file->datasets()) {
      if (!info.path.starts_with("program/") && !info.path.starts_with("weights/") && info.path != "attention_kind" &&
          info.path != "kv_head")
        continue;
      FixedRegion region;
      region.path = info.path;
      region.start.assign(info.shape.size(), 0);
      region.count = info.shape;
      if (info.type == ElementType::String) {
        auto texts = part.file->read_strings(info.path);
        if (!texts) return part.named(texts.error());
        region.texts = std::move(*texts);
      } else {
        auto numbers = part.file->read(info.path);
        if (!numbers) return part.named(numbers.error());
        region.numbers = std::move(*numbers);
      }
      regions.push_back(std::move(region));
    }
    return regions;
  }

  Result<std::vector<ShardOrigin>> read_shards() {
    std::vector<ShardOrigin> all_shards;
    for (const CorpusPart& part : parts_) {
      auto origins = read_origins(*part.file);
      if (!origins) return part.named(origins.error());
      for (ShardOrigin& shard : *origins) {
        if (shard.file.empty()) {
          shard.file = part.path.filename().string();
          HEADROOM_TRY(shard.sha256, sha256_of_file(part.path));
        }
        all_shards.push_back(std::move(shard));
      }
    }
    if (const std::string kinds = different_kinds(all_shards); !kinds.empty())
      notes_.push_back("warning: parts were run on different processors or threads, whose last bits may differ: " +
                       kinds);
    return all_shards;
  }

  Result<void> write_origin(RunFileWriter& writer) const {
    const RunFile& file = *parts_.front().file;
    const std::string now = utc_now();
    for (const char* name : {"Conventions",      "title",       "institution",        "source",        "references",
                             "comment",          "license",     "program_git_commit", "model_id",      "model_type",
                             "model_revision",   "container",   "checkpoint_sha256",  "prompt_sha256", "dtype_compute",
                             "dtype_statistics", "device",      "device_statistics",  "backend",       "torch_version",
                             "kernel_target",    "tensor_names"})
      if (const auto value = file.root_attribute(name)) HEADROOM_TRY_VOID(writer.set_attribute("", name, *value));
    for (const char* name : {"bos_added", "first_token_is_bos", "tokens"}) {
      HEADROOM_TRY(const std::int64_t value, parts_.front().number(name));
      HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
    }
    HEADROOM_TRY_VOID(writer.set_attribute("", "created_utc", now));
    HEADROOM_TRY_VOID(writer.set_attribute("", "command_line", request_.command_line));
    std::string history = now + " " + request_.command_line;
    for (const CorpusPart& part : parts_)
      if (const auto before = part.file->root_attribute("history")) history += "\n" + *before;
    HEADROOM_TRY_VOID(writer.set_attribute("", "history", history));
    if (const auto overrides = file.attribute("program", "overrides"))
      HEADROOM_TRY_VOID(writer.set_attribute("program", "overrides", *overrides));
    return {};
  }

  Result<MergeOutcome> write(const CorpusTotals& totals) {
    CorpusContent content;
    const PartValues values(parts_, *layout_);
    content.plan = &plan_;
    content.layout = layout_.get();
    content.values = &values;
    content.totals = &totals;
    content.range = {0, std::ssize(plan_.sequences)};
    for (const CorpusPart& part : parts_) {
      const auto append = [&](std::vector<double>& all_values, const char* path) -> Result<void> {
        auto some = part.file->read(path);
        if (!some) return part.named(some.error());
        all_values.insert(all_values.end(), some->begin(), some->end());
        return {};
      };
      std::vector<double> non_finite;
      HEADROOM_TRY_VOID(append(content.losses, "sequences/next_token_loss"));
      HEADROOM_TRY_VOID(append(content.rates, "sequences/sink_rate"));
      HEADROOM_TRY_VOID(append(non_finite, "sequences/non_finite_layer"));
      for (const double layer : non_finite)
        content.non_finite_layers.push_back(std::isnan(layer) ? -1 : static_cast<std::int64_t>(layer));
    }
    const std::size_t sequences = plan_.sequences.size();
    if (content.losses.size() != sequences || content.non_finite_layers.size() != sequences ||
        content.rates.size() != sequences * layout_->rates())
      return Error(ErrorCode::Corrupt, "parts have not all numbers of their sequences");
    HEADROOM_TRY(content.fixed, read_fixed());
    HEADROOM_TRY(content.shards, read_shards());
    HEADROOM_TRY(const std::vector<double> null_value, parts_.front().file->read("sink_null"));
    content.sink_null = null_value.empty() ? kNaN : null_value.front();
    content.keep = keep_;
    content.settings = parts_.front().settings;
    content.bootstrap_seed = seed_;
    content.with_ids = with_ids_;
    RunFileWriter::Options options;
    options.force = request_.force;
    options.inputs = request_.parts;
    options.schema_name = kCorpusSchemaName;
    HEADROOM_TRY(const std::unique_ptr<RunFileWriter> writer, RunFileWriter::create(request_.output, options));
    HEADROOM_TRY_VOID(write_origin(*writer));
    if (missing_count_ > 0) HEADROOM_TRY_VOID(writer->set_attribute("", "sequences_missing", missing_));
    HEADROOM_TRY([[maybe_unused]] const CorpusSummary summary, write_corpus(*writer, content, stop_));
    HEADROOM_TRY_VOID(writer->commit());
    MergeOutcome outcome;
    outcome.parts = std::ssize(parts_);
    outcome.sequences = std::ssize(plan_.sequences);
    outcome.non_finite =
        std::ranges::count_if(content.non_finite_layers, [](std::int64_t layer) { return layer >= 0; });
    outcome.missing = missing_;
    outcome.advice = advice_;
    outcome.violations = violations_of(content.shards);
    outcome.notes = notes_;
    std::error_code ignored;
    outcome.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request_.output, ignored));
    return outcome;
  }

  const MergeRequest& request_;
  const std::function<bool()>& stop_;
  std::vector<CorpusPart> parts_;
  CorpusPlan plan_;
  std::unique_ptr<CorpusLayout> layout_;
  std::int64_t all_ = 0;  // sequences of the plan
  std::int64_t missing_count_ = 0;
  std::string missing_, advice_;
  std::string keep_;
  std::uint64_t seed_ = 0;
  bool with_ids_ = true;
  std::vector<std::string> notes_;
};

}  // namespace

Result<MergeOutcome> merge_corpus(const MergeRequest& request, const std::function<bool()>& stop) {
  if (request.parts.empty()) return Error(ErrorCode::InvalidArgument, "there are no parts to merge");
  return Merger(request, stop).run();
}

}  // namespace headroom
