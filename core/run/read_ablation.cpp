#include "core/run/read_ablation.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/run/run_overview.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

constexpr const char* kAblationAttributes[] = {"schema_version",    "title",         "source",     "history",
                                               "created_utc",       "command_line",  "model_id",   "model_type",
                                               "container",         "dtype_compute", "device",     "backend",
                                               "device_statistics", "mode",          "change",     "next_token_loss",
                                               "results_asked",     "results_done",  "blocks",     "seconds",
                                               "sequences",         "length",        "ids_sha256", kSelfCheckAttribute};

class AblationReader {
 public:
  AblationReader(const RunFile& file, const std::filesystem::path& path) : file_(file), path_(path) {}

  Result<OpenedAblation> read() {
    for (const char* name : kAblationAttributes)
      if (Result<std::string> text = file_.root_attribute(name)) run_->attributes[name] = std::move(*text);
    HEADROOM_TRY(run_->layers, axis("layer"));
    HEADROOM_TRY(run_->heads, axis("head"));
    HEADROOM_TRY_VOID(read_tokens());
    HEADROOM_TRY_VOID(read_changes());
    HEADROOM_TRY_VOID(read_layers());
    return std::move(opened_);
  }

 private:
  Error damaged(const std::string& dataset, const std::string& what) const {
    return Error(ErrorCode::Corrupt, what).at_tensor(dataset).in_file(path_.string());
  }
  [[nodiscard]] double number(const char* name) const {
    const auto found = run_->attributes.find(name);
    double value = kNaN;
    if (found == run_->attributes.end()) return kNaN;
    const std::string& text = found->second;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() ? value : kNaN;
  }
  [[nodiscard]] std::string text(const char* name) const {
    const auto found = run_->attributes.find(name);
    return found == run_->attributes.end() ? std::string() : found->second;
  }

  Result<std::vector<std::int64_t>> axis(const char* name) {
    HEADROOM_TRY(const std::vector<double> values, file_.read_axis(name));
    std::vector<std::int64_t> indices;
    for (const double value : values) indices.push_back(static_cast<std::int64_t>(value));
    if (indices.empty() || indices.front() < 0 ||
        std::ranges::adjacent_find(indices, std::greater_equal()) != indices.end())
      return damaged(name, "an axis does not ascend");
    return indices;
  }

  // Of a plan statistics over its sequences stand in the place of numbers of one text.
  [[nodiscard]] bool of_plan() const { return file_.find("sequences/document") != nullptr; }

  // The first sequence of a plan.
  Result<std::vector<double>> first_ids() {
    if (!of_plan()) return file_.read("tokens/token_id");
    const DatasetInfo* ids = file_.find("sequences/token_id");
    if (ids == nullptr || ids->shape.size() != 2 || ids->shape[0] < 1)
      return damaged("sequences/token_id", "a plan has the ids of its sequences");
    const std::int64_t start[] = {0, 0}, count[] = {1, ids->shape[1]};
    return file_.read_part("sequences/token_id", start, count);
  }

  Result<void> read_tokens() {
    auto prompt = std::make_shared<Prompt>();
    HEADROOM_TRY(const std::vector<double> ids, first_ids());
    for (const double id : ids) prompt->ids.push_back(static_cast<std::int32_t>(id));
    if (prompt->ids.empty()) return damaged("tokens/token_id", "a run has at least one token");
    if (file_.find("tokens/token_text")) {
      HEADROOM_TRY(prompt->texts, file_.read_strings("tokens/token_text"));
    }
    if (!prompt->texts.empty() && prompt->texts.size() != prompt->ids.size())
      return damaged("tokens/token_text", "there are not as many texts as tokens");
    if (std::ranges::all_of(prompt->texts, &std::string::empty)) prompt->texts.clear();
    run_->length = static_cast<std::int64_t>(prompt->ids.size());
    run_->prompt = std::move(prompt);
    return {};
  }

  // [layers, heads], or with `extent` numbers for each head.
  Result<std::vector<double>> by_head(const char* name, std::size_t extent = 1) {
    HEADROOM_TRY(std::vector<double> values, file_.read(name));
    if (values.size() != run_->layers.size() * run_->heads.size() * extent)
      return damaged(name, "a dataset does not fit its axes");
    return values;
  }

  // Of a number of a plan.
  Result<std::vector<double>> of_statistic(const char* name, Statistic statistic, std::size_t columns) {
    const auto which = static_cast<std::size_t>(statistic);
    HEADROOM_TRY(const std::vector<double> values, file_.read(name));
    if (values.size() < (which + 1) * columns || columns == 0 || values.size() % columns != 0)
      return damaged(name, "a dataset does not fit its axes");
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(which * columns);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(columns));
  }

  Result<void> read_changes() {
    LossTable& table = opened_.table;
    table.mode = {text("mode"), text("change")};
    table.of_file = true;
    table.layers = run_->layers;
    table.heads = run_->heads;
    table.loss = number("next_token_loss");
    if (std::isfinite(table.loss)) run_->next_token_loss = table.loss;
    if (of_plan()) {
      HEADROOM_TRY_VOID(read_of_plan(table));
    } else {
      HEADROOM_TRY_VOID(read_of_text(table));
    }
    table.done =
        static_cast<std::size_t>(std::ranges::count_if(table.delta, [](double delta) { return std::isfinite(delta); }));
    for (const std::vector<ChangedTogether>* together : {&opened_.sets, &opened_.removed})
      for (const ChangedTogether& one : *together)
        if (std::isfinite(one.error)) table.set_errors.push_back(one.error);
    const double asked = number("results_asked");
    const std::size_t others = opened_.sets.size() + opened_.removed.size();
    table.asked = std::max(table.done, asked >= 0.0 && asked <= 1e9 && static_cast<std::size_t>(asked) > others
                                           ? static_cast<std::size_t>(asked) - others
                                           : 0);
    return {};
  }

  Result<void> read_of_text(LossTable& table) {
    HEADROOM_TRY(table.delta, by_head("delta_loss"));
    HEADROOM_TRY(table.error, by_head("delta_loss_se"));
    HEADROOM_TRY(const std::vector<double> losses, file_.read("token_loss"));
    table.predictions =
        static_cast<std::size_t>(std::ranges::count_if(losses, [](double loss) { return std::isfinite(loss); }));
    const double blocks = number("blocks");
    table.blocks = blocks >= 2.0 && blocks <= 1e6 ? static_cast<std::size_t>(blocks) : 0;
    if (!file_.find("set_delta_loss")) return {};
    HEADROOM_TRY(const std::vector<double> deltas, file_.read("set_delta_loss"));
    HEADROOM_TRY(const std::vector<double> errors, file_.read("set_delta_loss_se"));
    return read_together("set", deltas, errors, opened_.sets);
  }

  // Of the axis that names them.
  Result<void> read_together(const char* name, const std::vector<double>& deltas, const std::vector<double>& errors,
                             std::vector<ChangedTogether>& together) {
    HEADROOM_TRY(const std::vector<std::string> labels, file_.read_labels(name));
    if (labels.size() != deltas.size() || errors.size() != deltas.size())
      return damaged(name, "a dataset does not fit its axes");
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto heads = parse_heads(labels[i], '+');
      if (!heads) return damaged(name, "a label names no heads");
      together.push_back({*heads, deltas[i], errors[i]});
    }
    return {};
  }

  // Documents are what errors are over, those that have a finite loss; with one there is no error.
  Result<void> read_of_plan(LossTable& table) {
    const std::size_t heads = table.layers.size() * table.heads.size();
    HEADROOM_TRY(table.delta, of_statistic("delta_loss", Statistic::Mean, heads));
    HEADROOM_TRY(table.error, of_statistic("delta_loss", Statistic::StandardError, heads));
    HEADROOM_TRY(const std::vector<double> documents, file_.read("sequences/document"));
    HEADROOM_TRY(const std::vector<double> losses, file_.read("sequences/next_token_loss"));
    if (documents.size() != losses.size() || losses.empty())
      return damaged("sequences/next_token_loss", "a dataset does not fit its axes");
    std::set<double> counted;
    for (std::size_t s = 0; s < losses.size(); ++s) {
      if (!std::isfinite(losses[s])) continue;
      counted.insert(documents[s]);
      ++table.sequences;
    }
    table.predictions = table.sequences * static_cast<std::size_t>(run_->length - 1);
    table.blocks = counted.size() >= 2 ? counted.size() : 0;
    HEADROOM_TRY_VOID(read_together_of_plan("set", "set_delta_loss", opened_.sets));
    HEADROOM_TRY_VOID(read_together_of_plan("removed", "cumulative_delta_loss", opened_.removed));
    // Each with those before it.
    for (std::size_t i = 1; i < opened_.removed.size(); ++i) {
      std::vector<HeadRef>& together = opened_.removed[i].heads;
      const std::vector<HeadRef>& before = opened_.removed[i - 1].heads;
      together.insert(together.begin(), before.begin(), before.end());
    }
    return {};
  }

  Result<void> read_together_of_plan(const char* axis_name, const char* name, std::vector<ChangedTogether>& together) {
    const DatasetInfo* info = file_.find(name);
    if (info == nullptr || info->shape.size() != 2 || info->shape[1] < 1) return {};
    const auto columns = static_cast<std::size_t>(info->shape[1]);
    HEADROOM_TRY(const std::vector<double> deltas, of_statistic(name, Statistic::Mean, columns));
    HEADROOM_TRY(const std::vector<double> errors, of_statistic(name, Statistic::StandardError, columns));
    return read_together(axis_name, deltas, errors, together);
  }

  Result<void> read_layers() {
    RunSnapshot& run = *run_;
    std::vector<double> sinks;
    if (of_plan()) {
      HEADROOM_TRY(sinks, of_statistic("sink_score", Statistic::Mean, 2 * run.layers.size() * run.heads.size()));
    } else {
      HEADROOM_TRY(sinks, by_head("sink_score", 2));
    }
    for (std::size_t l = 0; l < run.layers.size(); ++l) {
      auto layer = std::make_shared<LayerSnapshot>();
      layer->layer = run.layers[l];
      layer->length = layer->rows = layer->keys = run.length;
      layer->heads = run.heads;
      const auto begin = sinks.begin() + static_cast<std::ptrdiff_t>(2 * l * run.heads.size());
      layer->summary["sink_score"].assign(begin, begin + static_cast<std::ptrdiff_t>(2 * run.heads.size()));
      layer->programs.resize(run.heads.size());
      bool pair = false;
      for (std::size_t h = 0; h < run.heads.size(); ++h) {
        layer->programs[h].first.query_block = layer->programs[h].first.key_block = 0;
        if (!std::isfinite(*(begin + static_cast<std::ptrdiff_t>(2 * h + 1)))) continue;
        layer->programs[h].second.query_block = layer->programs[h].second.key_block = 0;
        pair = true;
      }
      layer->kind = pair ? "differential" : "attention";
      run.data.push_back(std::move(layer));
    }
    run.min_row = 1;
    run.sink_null = kNaN;
    run.all_layers = run.layers.back() + 1;
    run.complete = true;
    run.model_name = text("model_id");
    run.model_kind = text("model_type");
    run.seconds = std::isfinite(number("seconds")) ? number("seconds") : 0.0;
    run.what_ifs = stored_what_ifs(file_, "");
    if (!text("backend").empty()) run.attention = AttentionChoice{text("backend"), "", "", "", ""};
    opened_.run = run_;
    return {};
  }

  const RunFile& file_;
  const std::filesystem::path& path_;
  std::shared_ptr<RunSnapshot> run_ = std::make_shared<RunSnapshot>();
  OpenedAblation opened_;
};

}  // namespace

bool is_ablation_file(const std::filesystem::path& path) {
  const auto file = RunFile::open(path);
  if (!file) return false;
  const auto schema = (*file)->root_attribute("schema_name");
  return schema && *schema == kAblationSchemaName;
}

Result<OpenedAblation> read_ablation(const std::filesystem::path& path) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  return AblationReader(*file, path).read();
}

}  // namespace headroom
