#include "core/run/run_overview.h"
#include "core/run/stored_violations.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "core/base/format.h"
#include "core/base/numbers.h"
#include "core/model/layer_facts.h"

namespace headroom {
namespace {

constexpr const char* kOverviewAttributes[] = {"schema_name",
                                               "schema_version",
                                               "title",
                                               "source",
                                               "created_utc",
                                               "command_line",
                                               "program_git_commit",
                                               "model_id",
                                               "model_type",
                                               "container",
                                               "dtype_compute",
                                               "dtype_statistics",
                                               "device",
                                               "device_statistics",
                                               "backend",
                                               "kernel_target",
                                               "torch_version",
                                               "bos_added",
                                               "first_token_is_bos",
                                               "min_row",
                                               "next_token_loss",
                                               "non_finite_layer",
                                               "non_finite_weights",
                                               kSelfCheckAttribute};
constexpr std::int64_t kShownTokens = 24;

std::vector<std::int64_t> whole_numbers(const std::vector<double>& values) {
  std::vector<std::int64_t> all;
  for (const double value : values) all.push_back(static_cast<std::int64_t>(value));
  return all;
}

class OverviewReader {
 public:
  explicit OverviewReader(const RunFile& file) : file_(file) {}

  Result<RunOverview> read() {
    for (const char* name : kOverviewAttributes)
      if (Result<std::string> text = file_.attribute("", name)) overview_.attributes[name] = std::move(*text);
    overview_.datasets.assign(file_.datasets().begin(), file_.datasets().end());
    HEADROOM_TRY(const std::vector<double> layers, file_.read_axis("layer"));
    HEADROOM_TRY(const std::vector<double> heads, file_.read_axis("head"));
    overview_.table.layers = whole_numbers(layers);
    overview_.table.heads = whole_numbers(heads);
    HEADROOM_TRY_VOID(read_table());
    HEADROOM_TRY_VOID(read_layers());
    HEADROOM_TRY_VOID(read_prompt());
    HEADROOM_TRY_VOID(read_experts());
    overview_.what_ifs = stored_what_ifs(file_);
    if (const auto null_level = file_.read("sink_null"); null_level && null_level->size() == 1)
      overview_.sink_null = null_level->front();
    else
      overview_.sink_null = kNaN;
    if (const std::string row = overview_.attribute("min_row"); !row.empty()) {
      const char* const end = row.data() + row.size();
      if (std::from_chars(row.data(), end, overview_.min_row).ptr != end)
        return Error(ErrorCode::Corrupt, "an attribute is no number")
            .at_tensor("min_row")
            .wanted("a whole number", row);
    }
    return std::move(overview_);
  }

 private:
  [[nodiscard]] static Error misfit(const std::string& dataset) {
    return Error(ErrorCode::Corrupt, "a dataset does not fit its axes").at_tensor(dataset);
  }

  Result<void> read_table() {
    const std::size_t places = overview_.table.layers.size() * overview_.table.heads.size();
    for (const DatasetInfo& info : file_.datasets()) {
      const bool per_head = info.axes.size() >= 2 && info.axes[0] == "layer" && info.axes[1] == "head";
      if (!per_head || info.type == ElementType::String || info.path.find('/') != std::string::npos) continue;
      HEADROOM_TRY(std::vector<double> values, file_.read(info.path));
      if (places == 0 || values.size() % places != 0) return misfit(info.path);
      overview_.table.values.emplace(info.path, std::move(values));
    }
    return {};
  }

  Result<std::vector<double>> of_layers(const char* path) const {
    if (!file_.find(path)) return std::vector<double>(overview_.table.layers.size(), kNaN);
    HEADROOM_TRY(std::vector<double> values, file_.read(path));
    if (values.size() != overview_.table.layers.size()) return misfit(path);
    return values;
  }

  Result<void> read_layers() {
    if (file_.find("attention_kind")) {
      HEADROOM_TRY(overview_.kinds, file_.read_strings("attention_kind"));
      if (overview_.kinds.size() != overview_.table.layers.size()) return misfit("attention_kind");
    }
    if (file_.find("calls/name")) {
      HEADROOM_TRY(overview_.layer_names, file_.read_strings("calls/name"));
      if (overview_.layer_names.size() != overview_.table.layers.size()) return misfit("calls/name");
    }
    HEADROOM_TRY(const std::vector<double> causal, of_layers("program/causal"));
    HEADROOM_TRY(const std::vector<double> window, of_layers("program/window"));
    HEADROOM_TRY(const std::vector<double> chunk, of_layers("program/chunk"));
    HEADROOM_TRY(const std::vector<double> always, of_layers("program/always_visible"));
    const auto count = [](double number) { return std::isfinite(number) ? static_cast<std::int64_t>(number) : 0; };
    for (std::size_t l = 0; l < causal.size(); ++l)
      overview_.masks.push_back((causal[l] == 0.0 ? "bidirectional" : "causal") +
                                reach_text(count(window[l]), count(chunk[l]), count(always[l])));
    return {};
  }

  Result<void> read_prompt() {
    const DatasetInfo* ids = file_.find("tokens/token_id");
    if (ids && ids->shape.size() == 1) overview_.length = ids->shape.front();
    if (!file_.find("tokens/token_text")) return {};
    HEADROOM_TRY(std::vector<std::string> texts, file_.read_strings("tokens/token_text"));
    texts.resize(std::min<std::size_t>(texts.size(), kShownTokens));
    if (std::ranges::any_of(texts, [](const std::string& text) { return !text.empty(); }))
      overview_.first_tokens = std::move(texts);
    return {};
  }

  Result<void> read_experts() {
    const DatasetInfo* use = file_.find("router/tokens_per_expert");
    if (!use || use->shape.size() != 2) return {};
    HEADROOM_TRY(const std::vector<double> layers, file_.read_axis("router/expert_layer"));
    overview_.expert_layers = whole_numbers(layers);
    HEADROOM_TRY(const std::vector<double> counts, file_.read(use->path));
    const std::vector<std::int64_t> all = whole_numbers(counts);
    const auto experts = static_cast<std::size_t>(use->shape[1]);
    if (all.size() != experts * layers.size()) return misfit(use->path);
    for (std::size_t l = 0; l < layers.size(); ++l)
      overview_.expert_use.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(l * experts),
                                        all.begin() + static_cast<std::ptrdiff_t>((l + 1) * experts));
    const DatasetInfo* chosen = file_.find("router/chosen_expert");
    if (chosen && chosen->shape.size() == 3) overview_.chosen_experts = chosen->shape[2];
    return {};
  }

  const RunFile& file_;
  RunOverview overview_;
};

}  // namespace

std::vector<std::string> stored_what_ifs(const RunFile& file, const char* group) {
  const Result<std::string> text = file.attribute(group, "overrides");
  if (!text) return {};
  const nlohmann::json list = nlohmann::json::parse(*text, nullptr, false);
  std::vector<std::string> found;
  if (!list.is_array()) return found;
  for (const nlohmann::json& one : list)
    if (one.is_object() && one.contains("text") && one["text"].is_string())
      found.push_back(one["text"].get<std::string>());
  return found;
}

std::string RunOverview::attribute(std::string_view name) const {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : found->second;
}

Result<RunOverview> read_overview(const RunFile& file) { return OverviewReader(file).read(); }

}  // namespace headroom
