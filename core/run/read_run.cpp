#include "core/run/read_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/io/blocks.h"
#include "core/io/hdf5_error.h"
#include "core/io/run_file.h"
#include "core/measure/program_fields.h"
#include "core/measure/residual_record.h"
#include "core/run/prediction_file.h"
#include "core/run/run_layout.h"
#include "core/run/run_overview.h"
#include "core/run/run_snapshot.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr double kMostStreamBytes = 1e9;

constexpr const char* kAttributes[] = {"schema_version",
                                       "title",
                                       "source",
                                       "history",
                                       "created_utc",
                                       "command_line",
                                       "program_git_commit",
                                       "model_id",
                                       "model_type",
                                       "model_revision",
                                       "container",
                                       "checkpoint_sha256",
                                       "prompt_sha256",
                                       "dtype_compute",
                                       "dtype_statistics",
                                       "device",
                                       "device_statistics",
                                       "backend",
                                       "torch_version",
                                       "kernel_target",
                                       "bos_added",
                                       "first_token_is_bos",
                                       "tokens",
                                       "min_row",
                                       "model_layers",
                                       "next_token_loss",
                                       "non_finite_layer",
                                       "non_finite_weights",
                                       kSelfCheckAttribute};

bool parse(const std::string& text, double& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

std::vector<std::int64_t> integers(const std::vector<double>& values) {
  std::vector<std::int64_t> result;
  for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
  return result;
}

class Reader {
 public:
  Reader(const RunFile& file, const std::filesystem::path& path) : file_(file), path_(path) {}

  Result<std::shared_ptr<RunSnapshot>> read(bool with_predictions) {
    HEADROOM_TRY(const std::string schema, file_.root_attribute("schema_name"));
    if (schema != kRunSchemaName)
      return Error(ErrorCode::InvalidArgument, "this file holds no run")
          .wanted(kRunSchemaName, schema)
          .in_file(path_.string());
    for (const char* name : kAttributes)
      if (Result<std::string> text = file_.root_attribute(name)) run_->attributes[name] = std::move(*text);
    HEADROOM_TRY_VOID(read_prompt());
    HEADROOM_TRY_VOID(read_axes());
    read_attributes();
    for (std::size_t l = 0; l < run_->layers.size(); ++l) HEADROOM_TRY_VOID(read_layer(static_cast<std::int64_t>(l)));
    HEADROOM_TRY_VOID(read_routers());
    if (with_predictions) {
      HEADROOM_TRY(run_->predictions, read_predictions(file_, run_->length, path_));
    }
    HEADROOM_TRY_VOID(read_residual());
    run_->complete = run_->finished_layers() == run_->layers.size();
    return run_;
  }

 private:
  Error damaged(const std::string& dataset, const std::string& what) const {
    return Error(ErrorCode::Corrupt, what).at_tensor(dataset).in_file(path_.string());
  }

  Result<void> read_prompt() {
    auto prompt = std::make_shared<Prompt>();
    HEADROOM_TRY(const std::vector<double> ids, file_.read("tokens/token_id"));
    for (const double id : ids) prompt->ids.push_back(static_cast<std::int32_t>(id));
    if (file_.find("tokens/token_text")) {
      HEADROOM_TRY(prompt->texts, file_.read_strings("tokens/token_text"));
    }
    if (file_.find("tokens/is_special")) {
      HEADROOM_TRY(const std::vector<double> special, file_.read("tokens/is_special"));
      prompt->is_special.assign(special.begin(), special.end());
    }
    if (prompt->ids.empty()) return damaged("tokens/token_id", "a run has at least one token");
    if (!prompt->texts.empty() && prompt->texts.size() != prompt->ids.size())
      return damaged("tokens/token_text", "there are not as many texts as tokens");
    if (!prompt->is_special.empty() && prompt->is_special.size() != prompt->ids.size())
      return damaged("tokens/is_special", "there are not as many flags as tokens");
    if (file_.find("calls/key_token_text")) {
      HEADROOM_TRY(prompt->key_texts, file_.read_strings("calls/key_token_text"));
      if (std::ranges::all_of(prompt->key_texts, &std::string::empty)) prompt->key_texts.clear();
    }
    if (file_.find("calls/key_token_id")) {
      HEADROOM_TRY(const std::vector<double> key_ids, file_.read("calls/key_token_id"));
      for (const double id : key_ids) prompt->key_ids.push_back(static_cast<std::int32_t>(id));
      if (std::ranges::all_of(prompt->key_ids, [](std::int32_t id) { return id < 0; })) prompt->key_ids.clear();
    }
    // A file of a prompt that was given as ids has empty texts.
    if (std::ranges::all_of(prompt->texts, &std::string::empty)) prompt->texts.clear();
    prompt->bos_added = attribute("bos_added") == 1.0;
    prompt->first_is_bos = attribute("first_token_is_bos") == 1.0;
    run_->length = static_cast<std::int64_t>(prompt->ids.size());
    run_->prompt = std::move(prompt);
    return {};
  }

  // The coordinates of layers and heads.
  Result<void> read_axes() {
    HEADROOM_TRY(run_->layers, axis_values("layer"));
    HEADROOM_TRY(run_->heads, axis_values("head"));
    run_->data.resize(run_->layers.size());
    shape_.length = run_->length;
    shape_.layers = run_->layers;
    shape_.heads = run_->heads;
    for (const DatasetInfo& info : file_.datasets()) {
      if (info.axes.size() < 2 || info.axes[0] != "layer" || info.axes[1] != "head") continue;
      if (info.shape[0] != count(run_->layers) || info.shape[1] != count(run_->heads))
        return damaged(info.path, "a dataset does not fit its axes");
      HEADROOM_TRY_VOID(check_extents(info));
    }
    return {};
  }

  Result<std::vector<std::int64_t>> axis_values(const char* name) {
    HEADROOM_TRY(const std::vector<double> values, file_.read_axis(name));
    const std::vector<std::int64_t> indices = integers(values);
    if (indices.empty() || indices.front() < 0 ||
        std::ranges::adjacent_find(indices, std::greater_equal()) != indices.end())
      return damaged(name, "an axis does not ascend");
    return indices;
  }

  // Panels count on the extents of the quantities they know.
  Result<void> check_extents(const DatasetInfo& info) const {
    const std::size_t slash = info.path.find('/');
    const std::string group = slash == std::string::npos ? "" : info.path.substr(0, slash);
    const Quantity* quantity =
        find_quantity(group, slash == std::string::npos ? info.path : info.path.substr(slash + 1));
    if (!quantity || group == "maps") return {};
    const std::vector<std::int64_t> expected = extents(*quantity, shape_);
    if (!std::ranges::equal(expected, std::span(info.shape).subspan(2)))
      return damaged(info.path, "a dataset has not the extents of its quantity");
    return {};
  }

  void read_attributes() {
    RunSnapshot& run = *run_;
    const double min_row = attribute("min_row");
    run.min_row = min_row >= 1.0 ? static_cast<std::int64_t>(min_row) : 1;
    if (const double loss = attribute("next_token_loss"); loss == loss) run.next_token_loss = loss;
    if (const double layer = attribute("non_finite_layer"); layer == layer)
      run.non_finite_layer = static_cast<std::int64_t>(layer);
    std::istringstream sentences(text("non_finite_weights"));
    for (std::string line; std::getline(sentences, line);) run.non_finite_weights.push_back(line);
    run.model_name = text("model_id");
    run.model_kind = text("model_type");
    run.what_ifs = stored_what_ifs(file_);
    if (!text("backend").empty())
      run.attention = AttentionChoice{text("backend"), "", text("device_statistics"), text("dtype_statistics"),
                                      text("kernel_target")};
    if (const Result<std::vector<double>> null_level = file_.read("sink_null"); null_level && null_level->size() == 1)
      run.sink_null = null_level->front();
    run.all_layers = run.layers.back() + 1;
    // Older files do not say how many the model has.
    if (const double layers = attribute("model_layers"); layers > static_cast<double>(run.all_layers))
      run.all_layers = static_cast<std::int64_t>(layers);
  }

  [[nodiscard]] std::string text(const char* name) const {
    const auto found = run_->attributes.find(name);
    return found == run_->attributes.end() ? std::string() : found->second;
  }
  [[nodiscard]] double attribute(const char* name) const {
    double value = kNaN;
    return parse(text(name), value) ? value : kNaN;
  }

  Result<void> read_layer(std::int64_t l) {
    const auto index = static_cast<std::size_t>(l);
    HEADROOM_TRY(const std::string kind, layer_text("attention_kind", l));
    if (kind.empty() && run_->non_finite_layer >= 0) return {};  // of a run that ended before
    auto layer = std::make_shared<LayerSnapshot>();
    layer->layer = run_->layers[index];
    layer->length = layer->rows = layer->keys = run_->length;
    if (file_.find("calls/name")) HEADROOM_TRY_VOID(read_call(l, *layer));
    layer->heads = run_->heads;
    layer->kind = kind;
    HEADROOM_TRY(const std::vector<double> init, part("weights/lambda_init", l));
    layer->lambda_init = init.size() == 1 ? init.front() : kNaN;
    HEADROOM_TRY(const std::vector<double> visible, part("tokens/visible_keys", l));
    if (static_cast<std::int64_t>(visible.size()) == run_->length) {
      layer->visible.push_back(integers(visible));
      for (std::int64_t& count : layer->visible.back()) count = std::max<std::int64_t>(count, 0);
    }
    for (const char* name : {"keys/key_norm", "keys/value_norm"}) {
      HEADROOM_TRY(const std::vector<double> norms, part(name, l));
      auto& blocks = std::string_view(name) == "keys/key_norm" ? layer->key_norms : layer->value_norms;
      for (std::size_t at = 0; at + static_cast<std::size_t>(run_->length) <= norms.size();
           at += static_cast<std::size_t>(run_->length))
        blocks.emplace_back(norms.begin() + static_cast<std::ptrdiff_t>(at),
                            norms.begin() + static_cast<std::ptrdiff_t>(at) + run_->length);
    }
    HEADROOM_TRY_VOID(read_quantities(l, *layer));
    HEADROOM_TRY_VOID(read_programs(l, *layer));
    HEADROOM_TRY(const std::vector<double> value_dim, part("program/value_dim", l));
    if (value_dim.size() == 1 && !layer->programs.empty()) {
      const HeadProgram& program = layer->programs.front();
      const HeadProgram::Map& map = program.has_first() ? program.first : program.second;
      layer->context_dim = static_cast<std::int64_t>(value_dim.front()) * std::ssize(map.value_blocks);
    }
    layer->pooled = stored_pooled(*layer);
    run_->data[index] = std::move(layer);
    return {};
  }

  // What a run of a capture has beside the layers of a model.
  Result<void> read_call(std::int64_t l, LayerSnapshot& layer) {
    HEADROOM_TRY(layer.call_name, layer_text("calls/name", l));
    const std::pair<const char*, std::int64_t*> numbers[] = {
        {"calls/queries", &layer.rows}, {"calls/keys", &layer.keys}, {"calls/first_query", &layer.first_query}};
    for (const auto& [path, number] : numbers) {
      HEADROOM_TRY(const std::vector<double> values, part(path, l));
      if (values.size() == 1) *number = static_cast<std::int64_t>(values.front());
    }
    for (const auto& [path, axis] :
         {std::pair("calls/row_tokens", &layer.axes.rows), std::pair("calls/key_tokens", &layer.axes.keys)}) {
      HEADROOM_TRY(const std::string name, layer_text(path, l));
      for (std::size_t i = 0; i < std::size(kTokenAxes); ++i)
        if (name == kTokenAxes[i]) *axis = static_cast<TokenAxis>(i);
    }
    if (layer.rows < 1 || layer.rows > run_->length || layer.keys < 1 || layer.keys > run_->length)
      return damaged("calls/queries", "a call is longer than the run's positions");
    return {};
  }

  Result<void> read_quantities(std::int64_t l, LayerSnapshot& layer) {
    for (const DatasetInfo& info : file_.datasets()) {
      if (info.axes.size() < 2 || info.axes[0] != "layer" || info.axes[1] != "head") continue;
      if (info.type == ElementType::String || info.path.starts_with("program/") || info.path.starts_with("exact/"))
        continue;
      HEADROOM_TRY(std::vector<double> values, part(info.path, l));
      if (info.path == "weights/output_alignment")
        layer.output_alignment = std::move(values);
      else if (info.path.find('/') == std::string::npos || info.axes.size() == 2)
        layer.summary.emplace(info.path, std::move(values));
      else
        layer.series.emplace(info.path, std::vector<float>(values.begin(), values.end()));
    }
    const std::span<const double> blocks =
        layer.summary.contains("kv_head") ? layer.summary["kv_head"] : std::span<const double>();
    for (std::size_t h = 0; 2 * h + 1 < blocks.size(); ++h)
      layer.kv_heads.push_back(
          {static_cast<std::int64_t>(blocks[2 * h]), static_cast<std::int64_t>(blocks[2 * h + 1])});
    return {};
  }

  Result<void> read_programs(std::int64_t l, LayerSnapshot& layer) {
    if (!file_.find("program/q1")) return {};
    std::vector<HeadProgram> programs(layer.heads.size());
    for (const ProgramField& field : program_fields()) {
      const std::string path = path_of(field.quantity);
      if (field.set_text) HEADROOM_TRY_VOID(read_program_texts(l, path, field, programs));
      // Files of earlier programs lack a field that came later.
      if (!field.set || !file_.find(path)) continue;
      HEADROOM_TRY(const std::vector<double> values, part(path, l));
      const std::size_t size = values.size() % programs.size() == 0 ? values.size() / programs.size() : 0;
      for (std::size_t h = 0; size > 0 && h < programs.size(); ++h)
        field.set(programs[h], std::span(values).subspan(h * size, size));
    }
    layer.programs = std::move(programs);
    return {};
  }
  Result<void> read_program_texts(std::int64_t l, const std::string& path, const ProgramField& field,
                                  std::vector<HeadProgram>& programs) {
    HEADROOM_TRY(const std::vector<std::string>* const values, texts(path));
    const std::size_t begin = static_cast<std::size_t>(l) * programs.size();
    for (std::size_t h = 0; begin + h < values->size() && h < programs.size(); ++h)
      if (const std::string& text = (*values)[begin + h]; !field.set_text(programs[h], text))
        return damaged(path, "a text in the head program is unknown").wanted(std::string(field.quantity.formula), text);
    return {};
  }

  // A run without rows has the counts alone.
  Result<void> read_routers() {
    if (!file_.find("router/tokens_per_expert")) return {};
    HEADROOM_TRY(const std::vector<std::int64_t> layers, axis_values("router/expert_layer"));
    for (std::size_t l = 0; l < layers.size(); ++l) {
      RouterRecord record;
      record.layer = layers[l];
      HEADROOM_TRY(const std::vector<double> tokens, part("router/tokens_per_expert", static_cast<std::int64_t>(l)));
      record.experts = std::ranges::count_if(tokens, [](double count) { return count >= 0.0; });
      HEADROOM_TRY(const std::vector<double> experts, part("router/chosen_expert", static_cast<std::int64_t>(l)));
      HEADROOM_TRY(const std::vector<double> weights, part("router/chosen_weight", static_cast<std::int64_t>(l)));
      const auto choices = experts.size() / static_cast<std::size_t>(run_->length);
      if (record.experts > 65536 || experts.size() != weights.size() ||
          choices * static_cast<std::size_t>(run_->length) != experts.size())
        return damaged("router/chosen_expert", "a dataset does not fit its axes");
      // The choices that this layer has lead those of each token.
      while (record.chosen < static_cast<std::int64_t>(choices) &&
             experts[static_cast<std::size_t>(record.chosen)] >= 0.0)
        ++record.chosen;
      for (std::size_t i = 0; i < experts.size(); ++i) {
        if (i % choices >= static_cast<std::size_t>(record.chosen)) continue;
        if (!(experts[i] >= 0.0) || experts[i] >= static_cast<double>(record.experts))
          return damaged("router/chosen_expert", "a token is sent to an expert that the layer does not have");
        record.index.push_back(static_cast<std::uint16_t>(experts[i]));
        record.weight.push_back(weights[i]);
      }
      auto kept = std::make_shared<RouterSnapshot>(*keep_router(record));
      kept->tokens.resize(static_cast<std::size_t>(record.experts));
      for (std::size_t e = 0; e < kept->tokens.size(); ++e) kept->tokens[e] = static_cast<std::int64_t>(tokens[e]);
      run_->routers.push_back(std::move(kept));
    }
    return {};
  }

  // What a run in memory measures of the stream, and the stream itself where that is not much.
  Result<void> read_residual() {
    const DatasetInfo* info = file_.find("hidden/residual");
    if (!info || info->shape.size() != 3) return {};
    const std::int64_t boundaries = info->shape[0], channels = info->shape[2];
    if (info->shape[1] != run_->length || boundaries < 1 || channels < 1)
      return damaged(info->path, "a dataset does not fit its axes");
    const double bytes = 4.0 * static_cast<double>(boundaries * channels) * static_cast<double>(run_->length);
    run_->encoder_boundaries = encoder_boundaries();
    std::vector<std::int32_t> followed;
    for (std::int64_t b = 0; b < boundaries; ++b) {
      HEADROOM_TRY(const std::vector<double> values, part(info->path, b));
      std::vector<float> stream(values.begin(), values.end());
      // The shorter one of two sequences is NaN behind its end.
      std::int64_t rows = run_->length;
      if (run_->encoder_boundaries > 0)
        while (rows > 1 && std::isnan(stream[static_cast<std::size_t>((rows - 1) * channels)])) --rows;
      stream.resize(static_cast<std::size_t>(rows * channels));
      auto boundary = std::make_shared<ResidualBoundary>(measure_residual(b, rows, channels, stream, followed));
      follow_largest(*boundary, followed);
      if (bytes <= kMostStreamBytes) boundary->stream = std::make_shared<const std::vector<float>>(std::move(stream));
      run_->residual.push_back(std::move(boundary));
    }
    return {};
  }
  // The encoder's layers come first, and are called so.
  [[nodiscard]] std::int64_t encoder_boundaries() const {
    const auto encodes = [](const auto& layer) { return layer && layer->call_name.starts_with("encoder "); };
    const auto last = std::ranges::find_if(run_->data.rbegin(), run_->data.rend(), encodes);
    return last == run_->data.rend() ? 0 : (*last)->layer + 2;
  }

  // One layer of a dataset; empty where the file has no such dataset. As many layers as are small are read at once:
  // they share chunks, which HDF5 would unpack again for each.
  Result<std::vector<double>> part(const std::string& path, std::int64_t l) {
    const DatasetInfo* info = file_.find(path);
    if (!info || info->shape.empty() || l >= info->shape.front()) return std::vector<double>();
    constexpr std::int64_t kSmall = std::int64_t{1} << 18;  // numbers
    const std::int64_t all = info->shape.front();
    const std::int64_t each = element_count(std::span(info->shape).subspan(1));
    const std::int64_t together = each > 0 ? std::clamp<std::int64_t>(kSmall / each, 1, all) : 1;
    std::vector<std::int64_t> start(info->shape.size(), 0), extent = info->shape;
    start.front() = l, extent.front() = 1;
    if (together == 1) return file_.read_part(path, start, extent);
    LayersRead& read = layers_[path];
    if (l < read.first || l >= read.first + read.count) {
      read.first = start.front() = l / together * together;
      read.count = extent.front() = std::min(together, all - read.first);
      HEADROOM_TRY(read.values, file_.read_part(path, start, extent));
    }
    const auto begin = read.values.begin() + (l - read.first) * each;
    return std::vector<double>(begin, begin + each);
  }
  // Strings are read once.
  Result<const std::vector<std::string>*> texts(const std::string& path) {
    if (const auto found = texts_.find(path); found != texts_.end()) return &found->second;
    std::vector<std::string> values;
    if (file_.find(path)) {
      HEADROOM_TRY(values, file_.read_strings(path));
    }
    return &texts_.emplace(path, std::move(values)).first->second;
  }
  Result<std::string> layer_text(const std::string& path, std::int64_t l) {
    HEADROOM_TRY(const std::vector<std::string>* const values, texts(path));
    return static_cast<std::size_t>(l) < values->size() ? (*values)[static_cast<std::size_t>(l)] : std::string();
  }
  static std::int64_t count(const std::vector<std::int64_t>& values) {
    return static_cast<std::int64_t>(values.size());
  }

  const RunFile& file_;
  const std::filesystem::path& path_;
  std::shared_ptr<RunSnapshot> run_ = std::make_shared<RunSnapshot>();
  RunShape shape_;
  std::map<std::string, std::vector<std::string>> texts_;
  struct LayersRead {
    std::int64_t first = 0, count = 0;
    std::vector<double> values;
  };
  std::map<std::string, LayersRead> layers_;  // of each dataset the last ones
};

}  // namespace

Result<std::shared_ptr<const RunSnapshot>> read_run(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  HEADROOM_TRY(std::shared_ptr<RunSnapshot> run, Reader(*file, path).read(/*with_predictions=*/true));
  return std::shared_ptr<const RunSnapshot>(std::move(run));
}

Result<std::shared_ptr<RunSnapshot>> read_run_without_predictions(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  return Reader(*file, path).read(/*with_predictions=*/false);
}

}  // namespace headroom
