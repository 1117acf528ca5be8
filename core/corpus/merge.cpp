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
#include "core/corpus/plan_file.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"

namespace headroom {
namespace {

using nlohmann::json;

constexpr std::size_t kCachedBytes = std::size_t{16} << 20;

struct Part {
  std::filesystem::path path;
  std::unique_ptr<RunFile> file;
  CorpusPlan plan;  // its own sequences
  std::int64_t first = 0, count = 0;
  std::string settings;
};

Error of_part(Error error, const Part& part) { return error.file.empty() ? error.in_file(part.path.string()) : error; }

Result<Part> open_part(const std::filesystem::path& path) {
  Part part;
  part.path = path;
  HEADROOM_TRY(part.file, RunFile::open(path));
  HEADROOM_TRY(const std::string schema, part.file->root_attribute("schema_name"));
  if (schema != kCorpusSchemaName) {
    Error error(ErrorCode::Corrupt, "the file is no part of a corpus");
    return error.in_file(path.string()).wanted(kCorpusSchemaName, schema);
  }
  auto plan = read_plan_part(*part.file);
  if (!plan) return of_part(plan.error(), part);
  part.plan = std::move(*plan);
  auto settings = part.file->root_attribute("settings");
  if (!settings) return of_part(settings.error(), part);
  part.settings = std::move(*settings);
  auto sequences = part.file->read_axis("sequences/sequence");
  if (!sequences) return of_part(sequences.error(), part);
  bool fits = sequences->size() == part.plan.sequences.size() && !sequences->empty();
  for (std::size_t s = 1; fits && s < sequences->size(); ++s) fits = (*sequences)[s] == (*sequences)[s - 1] + 1.0;
  if (!fits || !(sequences->front() >= 0.0 && sequences->front() < 0x1p53))
    return of_part(Error(ErrorCode::Corrupt, "the sequences of a part do not follow one another"), part)
        .at_tensor("sequences/sequence");
  part.first = static_cast<std::int64_t>(sequences->front());
  part.count = std::ssize(*sequences);
  return part;
}

// "1,5-6" of ascending numbers.
std::string array_text(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

class Merger {
 public:
  Merger(const MergeRequest& request, const std::function<bool()>& stop) : request_(request), stop_(stop) {}

  Result<MergeOutcome> run() {
    for (const std::filesystem::path& path : request_.parts) {
      HEADROOM_TRY(Part part, open_part(path));
      parts_.push_back(std::move(part));
    }
    std::ranges::sort(parts_, {}, &Part::first);
    HEADROOM_TRY_VOID(check_parts());
    HEADROOM_TRY_VOID(join_plans());
    HEADROOM_TRY_VOID(read_layout());
    CorpusTotals totals(*layout_);
    HEADROOM_TRY_VOID(read_totals(totals));
    return write(totals);
  }

 private:
  Result<std::int64_t> number(const Part& part, const char* name) const {
    auto text = part.file->root_attribute(name);
    if (!text) return of_part(text.error(), part);
    const auto value = parse_index(*text);
    if (!value)
      return of_part(Error(ErrorCode::Corrupt, "a part has no number as this attribute"), part).at_tensor(name);
    return *value;
  }

  Result<void> check_parts() {
    for (const Part& part : parts_) {
      if (part.settings == parts_.front().settings) continue;
      Error error(ErrorCode::Corrupt, "parts of different runs cannot be merged");
      return error.in_file(part.path.string()).wanted(parts_.front().settings, part.settings);
    }
    HEADROOM_TRY(const std::int64_t sequences, number(parts_.front(), "sequences_all"));
    all_ = sequences;
    std::int64_t next = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for (const Part& part : parts_) {
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
    return gaps.empty() ? Result<void>() : missing(gaps);
  }

  // Names the shards that are missing, where parts say how many there are.
  [[nodiscard]] Error missing(const std::vector<std::pair<std::int64_t, std::int64_t>>& gaps) const {
    std::int64_t shards = 1;
    for (const Part& part : parts_)
      if (const auto count = part.file->root_attribute("shard_count")) shards = parse_index(*count).value_or(1);
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; shards > 1 && i < shards; ++i) {
      const ShardRange range = shard_range(all_, i, shards);
      if (std::ranges::any_of(gaps, [&](const auto& gap) {
            return range.count > 0 && gap.first <= range.first && range.first + range.count <= gap.second;
          }))
        indices.push_back(i);
    }
    std::string found;
    for (const auto& [from, to] : gaps)
      found += (found.empty() ? "" : ", ") +
               format("none for %lld to %lld", static_cast<long long>(from), static_cast<long long>(to - 1));
    Error error(ErrorCode::Corrupt, "parts of the corpus are missing");
    error.wanted(format("sequences 0 to %lld", static_cast<long long>(all_ - 1)), found);
    if (!indices.empty()) error.advise("run these shards again: --array=" + array_text(indices));
    return error;
  }

  Result<void> join_plans() {
    plan_ = parts_.front().plan;
    std::map<std::int64_t, PlannedDocument> documents;
    plan_.sequences.clear();
    for (Part& part : parts_) {
      if (part.plan.plan_sha256 != plan_.plan_sha256)
        return Error(ErrorCode::Corrupt, "parts of different plans cannot be merged")
            .in_file(part.path.string())
            .wanted(plan_.plan_sha256, part.plan.plan_sha256);
      for (PlannedSequence& sequence : part.plan.sequences) plan_.sequences.push_back(std::move(sequence));
      for (const PlannedDocument& document : part.plan.documents) {
        const auto [place, is_new] = documents.emplace(document.index, document);
        if (!is_new) place->second.sequences += document.sequences;
      }
    }
    plan_.documents.clear();
    for (auto& [index, document] : documents) plan_.documents.push_back(std::move(document));
    with_ids_ = !plan_.sequences.front().ids.empty();
    if (!with_ids_) return {};
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
    const Part& part = parts_.front();
    const RunFile& file = *part.file;
    auto settings = parse_json(part.settings);
    if (!settings || !settings->is_object() || !settings->contains("keep") || !settings->contains("epsilon") ||
        !settings->contains("bootstrap_seed") || !settings->contains("dtype"))
      return of_part(Error(ErrorCode::Corrupt, "a part does not say what it was made with"), part)
          .at_tensor("settings");
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
    HEADROOM_TRY(shape.min_row, number(part, "min_row"));
    shape.real = said["dtype"] == "float64" ? ElementType::Float64 : ElementType::Float32;
    shape.alibi = file.find("program/alibi_slope") != nullptr;
    if (file.find("program/distance_bias") != nullptr) {
      HEADROOM_TRY(const std::vector<double> distances, axis("program/distance"));
      if (!distances.empty()) {
        shape.bias_ahead = -static_cast<std::int64_t>(distances.front());
        shape.bias_behind = static_cast<std::int64_t>(distances.back());
      }
    }
    auto layout = CorpusLayout::create(std::move(shape), keep_, std::move(epsilons));
    if (!layout) return of_part(layout.error(), part);
    layout_ = std::make_unique<CorpusLayout>(std::move(*layout));
    return {};
  }

  // Adds a dataset of a part, layer by layer: take(first element, values).
  template <typename Take>
  Result<void> by_layer(const Part& part, const std::string& path, std::size_t size, const Take& take) const {
    const DatasetInfo* info = part.file->find(path);
    const auto layers = static_cast<std::int64_t>(layout_->shape().layers.size());
    std::size_t elements = 1;
    if (info != nullptr)
      for (const std::int64_t extent : info->shape) elements *= static_cast<std::size_t>(extent);
    const std::size_t axis = info != nullptr && !info->axes.empty() && info->axes.front() == "epsilon" ? 2 : 0;
    if (info == nullptr || elements != size || info->shape.size() <= axis || info->shape[axis] != layers)
      return of_part(Error(ErrorCode::Corrupt, "a part lacks a dataset, or it has another shape"), part)
          .at_tensor(path);
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
      if (!values) return of_part(values.error(), part);
      HEADROOM_TRY_VOID(take(static_cast<std::size_t>(l) * step, *values));
    }
    return {};
  }

  Result<void> read_totals(CorpusTotals& totals) {
    const std::size_t heads = layout_->heads();
    for (const Part& part : parts_) {
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
                                  const std::vector<double>& values, const Part& part) {
    std::array<std::uint32_t, ExactMoments::kWords> words{};
    for (std::size_t i = 0; i < values.size(); i += words.size()) {
      for (std::size_t w = 0; w < words.size(); ++w) {
        if (!(values[i + w] >= 0.0 && values[i + w] < 0x1p32))
          return of_part(Error(ErrorCode::Corrupt, "a part has no exact sums"), part).at_tensor("exact");
        words[w] = static_cast<std::uint32_t>(values[i + w]);
      }
      totals.moments[column + (first + i) / words.size()].add(ExactMoments::from_words(words));
    }
    return {};
  }

  // What parts keep of sequences, some sequences of a dataset at a time.
  class PartValues final : public SequenceValues {
   public:
    PartValues(const std::vector<Part>& parts, const CorpusLayout& layout) : parts_(parts), layout_(layout) {}

    Result<void> floats(std::int64_t sequence, std::size_t first, std::span<float> out) const override {
      for (const CorpusDataset& dataset : layout_.floats()) {
        if (first < dataset.first || first >= dataset.first + dataset.size) continue;
        if (dataset.quantity != nullptr) return copy(dataset, sequence, first - dataset.first, out);
        return indicators(sequence, first - dataset.first, out);
      }
      return Error(ErrorCode::InvalidArgument, "there is no such column");
    }
    Result<void> integers(std::int64_t sequence, std::size_t first, std::span<std::int32_t> out) const override {
      for (const CorpusDataset& dataset : layout_.integers())
        if (first >= dataset.first && first < dataset.first + dataset.size)
          return copy(dataset, sequence, first - dataset.first, out);
      return Error(ErrorCode::InvalidArgument, "there is no such column");
    }

   private:
    struct Block {
      std::int64_t first = 0, count = 0;
      std::vector<double> values;
    };

    template <typename T>
    Result<void> copy(const CorpusDataset& dataset, std::int64_t sequence, std::size_t column, std::span<T> out) const {
      // At once those of the dataset that is written, and of the two that sinks follow from.
      if (blocks_.size() > 2 && !blocks_.contains(&dataset)) blocks_.clear();
      Block& block = blocks_[&dataset];
      if (sequence < block.first || sequence >= block.first + block.count)
        HEADROOM_TRY_VOID(load(dataset, sequence, block));
      const std::size_t at = static_cast<std::size_t>(sequence - block.first) * dataset.size + column;
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(block.values[at + i]);
      return {};
    }

    Result<void> load(const CorpusDataset& dataset, std::int64_t sequence, Block& block) const {
      const auto part = std::ranges::find_if(
          parts_, [&](const Part& p) { return sequence >= p.first && sequence < p.first + p.count; });
      const auto fit = static_cast<std::int64_t>(kCachedBytes / (sizeof(double) * dataset.size));
      block.first = sequence;
      block.count = std::clamp<std::int64_t>(fit, 1, part->first + part->count - sequence);
      std::vector<std::int64_t> start(dataset.extents.size() + 1, 0), count = {block.count};
      start[0] = sequence - part->first;
      count.insert(count.end(), dataset.extents.begin(), dataset.extents.end());
      const std::string path = "sequences/" + dataset.name;
      auto values = part->file->read_part(path, start, count);
      if (!values) return of_part(values.error(), *part);
      if (values->size() != static_cast<std::size_t>(block.count) * dataset.size)
        return of_part(Error(ErrorCode::Corrupt, "what a part keeps has another shape"), *part).at_tensor(path);
      block.values = std::move(*values);
      return {};
    }

    Result<void> indicators(std::int64_t sequence, std::size_t first, std::span<float> out) const {
      const CorpusDataset& score = *layout_.find("sink_score");
      const CorpusDataset& net = *layout_.find("sink_score_net");
      const std::size_t heads = layout_.heads();
      std::vector<float> scores(score.size), nets(net.size);
      HEADROOM_TRY_VOID(copy(score, sequence, 0, std::span(scores)));
      HEADROOM_TRY_VOID(copy(net, sequence, 0, std::span(nets)));
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = sink_indicator(layout_, scores, nets, (first + i) / heads, (first + i) % heads);
      return {};
    }

    const std::vector<Part>& parts_;
    const CorpusLayout& layout_;
    mutable std::map<const CorpusDataset*, Block> blocks_;
  };

  // What is the same for all parts, from the first.
  Result<std::vector<FixedRegion>> read_fixed() const {
    std::vector<FixedRegion> regions;
    const Part& part = parts_.front();
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
        if (!texts) return of_part(texts.error(), part);
        region.texts = std::move(*texts);
      } else {
        auto numbers = part.file->read(info.path);
        if (!numbers) return of_part(numbers.error(), part);
        region.numbers = std::move(*numbers);
      }
      regions.push_back(std::move(region));
    }
    return regions;
  }

  Result<std::vector<ShardOrigin>> read_shards() {
    std::vector<ShardOrigin> all_shards;
    for (const Part& part : parts_) {
      const RunFile& file = *part.file;
      HEADROOM_TRY(const std::vector<double> first, file.read("shards/first"));
      HEADROOM_TRY(const std::vector<double> count, file.read("shards/count"));
      HEADROOM_TRY(const std::vector<double> threads, file.read("shards/threads"));
      HEADROOM_TRY(const std::vector<double> seconds, file.read("shards/seconds"));
      HEADROOM_TRY(const std::vector<std::string> names, file.read_strings("shards/file"));
      HEADROOM_TRY(const std::vector<std::string> hashes, file.read_strings("shards/sha256"));
      HEADROOM_TRY(const std::vector<std::string> hosts, file.read_strings("shards/host"));
      HEADROOM_TRY(const std::vector<std::string> devices, file.read_strings("shards/device"));
      HEADROOM_TRY(const std::vector<std::string> targets, file.read_strings("shards/kernel_target"));
      const std::size_t rows = first.size();
      for (const std::size_t size : {count.size(), threads.size(), seconds.size(), names.size(), hashes.size(),
                                     hosts.size(), devices.size(), targets.size()})
        if (size != rows) return of_part(Error(ErrorCode::Corrupt, "a part does not say where it was run"), part);
      for (std::size_t i = 0; i < rows; ++i) {
        ShardOrigin shard{static_cast<std::int64_t>(first[i]),
                          static_cast<std::int64_t>(count[i]),
                          names[i],
                          hashes[i],
                          hosts[i],
                          devices[i],
                          targets[i],
                          static_cast<std::int64_t>(threads[i]),
                          seconds[i]};
        if (shard.file.empty()) {
          shard.file = part.path.filename().string();
          HEADROOM_TRY(shard.sha256, sha256_of_file(part.path));
        }
        all_shards.push_back(std::move(shard));
      }
    }
    std::set<std::pair<std::string, std::string>> kinds;
    std::string listed;
    for (const ShardOrigin& shard : all_shards)
      if (kinds.emplace(shard.device, shard.kernel_target).second)
        listed += (listed.empty() ? "" : ", ") + shard.device + " " + shard.kernel_target;
    if (kinds.size() > 1)
      notes_.push_back("warning: parts were run on different processors, whose last bits may differ: " + listed);
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
      HEADROOM_TRY(const std::int64_t value, number(parts_.front(), name));
      HEADROOM_TRY_VOID(writer.set_attribute("", name, value));
    }
    HEADROOM_TRY_VOID(writer.set_attribute("", "created_utc", now));
    HEADROOM_TRY_VOID(writer.set_attribute("", "command_line", request_.command_line));
    std::string history = now + " " + request_.command_line;
    for (const Part& part : parts_)
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
    content.range = {0, all_};
    for (const Part& part : parts_) {
      const auto append = [&](std::vector<double>& all_values, const char* path) -> Result<void> {
        auto some = part.file->read(path);
        if (!some) return of_part(some.error(), part);
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
    const auto sequences = static_cast<std::size_t>(all_);
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
    HEADROOM_TRY_VOID(write_corpus(*writer, content, stop_));
    HEADROOM_TRY_VOID(writer->commit());
    MergeOutcome outcome;
    outcome.parts = std::ssize(parts_);
    outcome.sequences = all_;
    outcome.notes = notes_;
    std::error_code ignored;
    outcome.size_bytes = static_cast<std::size_t>(std::filesystem::file_size(request_.output, ignored));
    return outcome;
  }

  const MergeRequest& request_;
  const std::function<bool()>& stop_;
  std::vector<Part> parts_;
  CorpusPlan plan_;
  std::unique_ptr<CorpusLayout> layout_;
  std::int64_t all_ = 0;  // sequences of the plan
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
