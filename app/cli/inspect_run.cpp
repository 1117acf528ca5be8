#include "app/cli/inspect_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cli/fact_lines.h"
#include "app/cli/head_tables.h"
#include "core/base/format.h"
#include "core/base/number_text.h"
#include "core/checkpoint/tensor_info.h"
#include "core/corpus/shard_origin.h"
#include "core/io/blocks_schema.h"
#include "core/io/circuits_schema.h"
#include "core/io/corpus_schema.h"
#include "core/io/run_file.h"
#include "core/model/layer_facts.h"
#include "core/run/run_overview.h"
#include "core/run/stored_violations.h"

namespace headroom {
namespace {

// The head with the largest (or smallest) number; nothing where none is finite.
struct Extreme {
  HeadPlace place;
  double value = 0.0;
};

std::optional<Extreme> extreme_of(const SummaryTable& table, const char* name, bool of_maps, bool smallest = false) {
  std::optional<Extreme> found;
  for (const HeadPlace& place : of_maps ? map_places(table) : places(table)) {
    const double value = table.at(name, place.layer_index, place.head_index, place.map);
    if (!std::isfinite(value)) continue;
    if (!found || (smallest ? value < found->value : value > found->value)) found = Extreme{place, value};
  }
  return found;
}

std::string place_text(const SummaryTable& table, const HeadPlace& place) {
  if (!has_both_maps(table, place)) return place.name();
  return place.name() + (place.map == 0 ? " first map" : " second map");
}

std::string layers_and_heads(const RunOverview& run) {
  const std::string layers = layers_text(run.table.layers), heads = layers_text(run.table.heads);
  return format("%zu (", run.table.layers.size()) + layers + format("), of each %zu heads (", run.table.heads.size()) +
         heads + ")";
}

std::string prompt_text(const RunOverview& run) {
  std::string text = format("%lld token%s", static_cast<long long>(run.length), run.length == 1 ? "" : "s");
  if (run.attribute("bos_added") == "1")
    text += ", BOS put in front";
  else if (run.attribute("first_token_is_bos") == "1")
    text += ", token 0 is the BOS";
  if (run.first_tokens.empty()) return text + ", given as ids";
  std::string begin;
  for (const std::string& token : run.first_tokens) begin += token;
  return text + ": “" + begin + "”" + (static_cast<std::size_t>(run.length) > run.first_tokens.size() ? " …" : "");
}

std::string computed_text(const RunOverview& run) {
  const std::string dtype = run.attribute("dtype_compute"), device = run.attribute("device"),
                    statistics = run.attribute("dtype_statistics"), where = run.attribute("device_statistics");
  std::string text = dtype + " on " + device;
  if (statistics != dtype || where != device) text += ", statistics in " + statistics + " on " + where;
  text += ", backend " + run.attribute("backend");
  if (const std::string target = run.attribute("kernel_target"); !target.empty()) text += " (" + target + ")";
  return text;
}

// What alike layers have, by their own numbers.
std::vector<std::string> by_layer(const RunOverview& run, const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> found;
  for (std::size_t l = 0; l < texts.size(); ++l) {
    auto at = std::ranges::find(found, texts[l], [](const auto& one) { return one.first; });
    if (at == found.end()) at = found.insert(at, {texts[l], {}});
    at->second.push_back(run.table.layers[l]);
  }
  std::vector<std::string> lines;
  for (const auto& [text, layers] : found) lines.push_back(layers_phrase({text, layers}, texts.size()));
  return lines;
}

std::string experts_text(const RunOverview& run) {
  std::size_t most_layer = 0, most_expert = 0;
  std::int64_t most = -1, tokens = 0, experts = 0, idle = 0;
  for (std::size_t l = 0; l < run.expert_use.size(); ++l)
    for (std::size_t e = 0; e < run.expert_use[l].size(); ++e) {
      const std::int64_t count = run.expert_use[l][e];
      if (count < 0) continue;
      ++experts, tokens += count;
      if (count == 0) ++idle;
      if (count > most) most = count, most_layer = l, most_expert = e;
    }
  if (experts == 0) return "";
  std::string text = format("%zu", run.expert_use.front().size());
  if (run.chosen_experts > 0) text += format(", %lld for each token", static_cast<long long>(run.chosen_experts));
  text += ", in layers " + layers_text(run.expert_layers) +
          format("; L%lld's %zu is sent the most tokens, %lld of %lld",
                 static_cast<long long>(run.expert_layers[most_layer]), most_expert, static_cast<long long>(most),
                 static_cast<long long>(run.length));
  if (idle > 0)
    text += format("; %lld of %lld are sent none", static_cast<long long>(idle), static_cast<long long>(experts));
  return text;
}

// "49 numbers of heads; tokens 4, rows 20, …".
std::string holds_text(const RunOverview& run) {
  std::vector<std::pair<std::string, std::size_t>> groups;
  std::size_t root = 0;
  for (const DatasetInfo& info : run.datasets) {
    const std::size_t slash = info.path.find('/');
    if (slash == std::string::npos) {
      ++root;
      continue;
    }
    const std::string group = info.path.substr(0, slash);
    const auto at = std::ranges::find(groups, group, [](const auto& one) { return one.first; });
    if (at == groups.end())
      groups.emplace_back(group, 1);
    else
      ++at->second;
  }
  std::string text = format("%zu datasets: %zu in the root", run.datasets.size(), root);
  for (const auto& [group, count] : groups) text += ", /" + group + format(" %zu", count);
  std::string missing;
  const std::pair<const char*, const char*> optional[] = {
      {"rows", "without --only summary"}, {"maps", "--maps P"}, {"exact", "--exact-maps"}, {"hidden", "--hidden"}};
  for (const auto& [group, how] : optional)
    if (std::ranges::none_of(groups, [&, name = group](const auto& one) { return one.first == name; }))
      missing += (missing.empty() ? "; not /" : ", /") + std::string(group) + " (" + how + ")";
  return text + missing;
}

std::vector<std::string> warnings_of(const RunOverview& run) {
  std::vector<std::string> warnings;
  std::istringstream sentences(run.attribute("non_finite_weights"));
  for (std::string line; std::getline(sentences, line);)
    if (!line.empty()) warnings.push_back("not finite: " + line);
  if (const std::string layer = run.attribute("non_finite_layer"); !layer.empty() && layer != "-1")
    warnings.push_back("the output of layer " + layer + " is not finite, nor is what comes after it");
  std::int64_t heads = 0;
  for (const HeadPlace& place : places(run.table)) {
    const bool measured = run.table.at("kv_head", place.layer_index, place.head_index, 0) >= 0.0 ||
                          run.table.at("kv_head", place.layer_index, place.head_index, 1) >= 0.0;
    if (measured && !std::isfinite(component(run.table, "logit_max", place))) ++heads;
  }
  if (heads > 0) warnings.push_back(format("%lld heads have no finite numbers", static_cast<long long>(heads)));
  return warnings;
}

void print_headlines(const RunOverview& run) {
  const SummaryTable& table = run.table;
  if (const auto most = extreme_of(table, "sink_score", true))
    print_fact("most sink", place_text(table, most->place) + format(" gives key 0 %.3f of its attention", most->value));
  if (const auto most = extreme_of(table, "logit_max", true)) {
    std::string text = place_text(table, most->place) + format(" %.4g", most->value);
    if (const auto least = extreme_of(table, "logit_min", true, true))
      text += ", the smallest " + place_text(table, least->place) + format(" %.4g", least->value);
    print_fact("largest z", text + " (scaled qk-logits)");
  }
  const auto lowest = extreme_of(table, "context_rms_relative_mean", false, true);
  const auto highest = extreme_of(table, "context_rms_relative_mean", false);
  const BoundShares own = bound_shares(table, 2);
  if (lowest && highest)
    print_fact(
        "context ρ",
        format("%.3g (%s) to %.3g (%s), means over rows; %.1f %% of rows inside the head's own bounds", lowest->value,
               lowest->place.name().c_str(), highest->value, highest->place.name().c_str(), 100.0 * own.inside));
}

void print_violations(const std::vector<std::string>& violations) {
  for (const std::string& violation : violations) print_fact("self-check", "FAILED: " + violation);
}

void print_run(const std::filesystem::path& path, std::uint64_t size, const RunOverview& run, bool datasets) {
  print_fact("run", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + run.attribute("schema_version") +
                         ", made " + run.attribute("created_utc") + " by " + run.attribute("source"));
  print_fact("model",
             run.attribute("model_id") + ": " + run.attribute("model_type") + ", " + run.attribute("container"));
  print_fact("prompt", prompt_text(run));
  print_fact("computed", computed_text(run));
  print_fact(run.layer_names.empty() ? "layers" : "calls", layers_and_heads(run));
  const auto lines = [&](const char* name, const std::vector<std::string>& texts) {
    for (const std::string& line : by_layer(run, texts)) print_fact(std::exchange(name, ""), line);
  };
  lines("attention", run.kinds);
  lines("mask", run.masks);
  for (std::size_t l = 0; l < run.layer_names.size(); ++l)
    print_fact(format("L%lld", static_cast<long long>(run.table.layers[l])).c_str(), run.layer_names[l]);
  if (!run.expert_use.empty()) print_fact("experts", experts_text(run));
  const char* name = "what-ifs";
  for (const std::string& what_if : run.what_ifs) print_fact(std::exchange(name, ""), what_if);
  if (run.what_ifs.empty()) print_fact(name, "none");
  if (const std::string loss = run.attribute("next_token_loss"); !loss.empty())
    print_fact("loss", format("%.4f nats a token", std::strtod(loss.c_str(), nullptr)));
  print_headlines(run);
  print_violations(violations_in(run.attribute(kSelfCheckAttribute)));
  print_fact("holds", holds_text(run));
  for (const std::string& warning : warnings_of(run)) print_fact("warning", warning);
  print_wrapped(sink_lines(run.table, run.sink_null) + logit_lines(run.table) + bound_lines(run.table, run.min_row) +
                    premise_lines(run.table) + differential_lines(run.table),
                0);
  if (!datasets) return;
  std::printf("\n");
  for (const DatasetInfo& info : run.datasets)
    std::printf("  %-34s %-8s %s\n", escape_for_terminal(info.path).c_str(), element_type_name(info.type),
                shape_text(info.shape).c_str());
}

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

nlohmann::json extreme_json(const std::optional<Extreme>& extreme, bool of_maps) {
  if (!extreme) return nullptr;
  nlohmann::json json = {
      {"layer", extreme->place.layer}, {"head", extreme->place.head}, {"value", number(extreme->value)}};
  if (of_maps) json["component"] = extreme->place.map;
  return json;
}

nlohmann::json datasets_json(const std::vector<DatasetInfo>& datasets) {
  nlohmann::json all = nlohmann::json::array();
  for (const DatasetInfo& info : datasets)
    all.push_back({{"path", info.path},
                   {"axes", info.axes},
                   {"shape", info.shape},
                   {"type", element_type_name(info.type)},
                   {"units", info.units}});
  return all;
}

nlohmann::json run_json(const std::filesystem::path& path, std::uint64_t size, const RunOverview& run) {
  const SummaryTable& table = run.table;
  nlohmann::json json = {{"path", path.string()}, {"format", "run file"}, {"size_bytes", size}};
  for (const char* name :
       {"schema_version", "created_utc", "source", "program_git_commit", "command_line", "model_id", "model_type",
        "container", "dtype_compute", "dtype_statistics", "device", "device_statistics", "backend"})
    json[name] = run.attribute(name).empty() ? nlohmann::json() : nlohmann::json(run.attribute(name));
  json["tokens"] = run.length;
  json["bos_added"] = run.attribute("bos_added") == "1";
  json["layers"] = table.layers;
  json["heads"] = table.heads;
  json["attention"] = run.kinds;
  json["masks"] = run.masks;
  json["calls"] = run.layer_names.empty() ? nlohmann::json() : nlohmann::json(run.layer_names);
  json["what_ifs"] = run.what_ifs;
  json["min_row"] = run.min_row;
  json["sink_null"] = number(run.sink_null);
  const std::string loss = run.attribute("next_token_loss");
  json["next_token_loss"] = loss.empty() ? nlohmann::json() : number(std::strtod(loss.c_str(), nullptr));
  std::int64_t heads = 0;
  json["sink_heads"] = count_sinks(table, heads);
  json["heads_with_sink_score"] = heads;
  json["largest_sink_score"] = extreme_json(extreme_of(table, "sink_score", true), true);
  json["largest_logit"] = extreme_json(extreme_of(table, "logit_max", true), true);
  json["smallest_logit"] = extreme_json(extreme_of(table, "logit_min", true, true), true);
  nlohmann::json rho = {
      {"lowest_mean", extreme_json(extreme_of(table, "context_rms_relative_mean", false, true), false)},
      {"highest_mean", extreme_json(extreme_of(table, "context_rms_relative_mean", false), false)}};
  const char* const bounds[] = {"softmax", "diff_v2", "variant"};
  for (std::size_t b = 0; b < std::size(bounds); ++b) {
    const BoundShares shares = bound_shares(table, b);
    rho["rows"][bounds[b]] = {
        {"below", number(shares.below)}, {"inside", number(shares.inside)}, {"above", number(shares.above)}};
  }
  json["context_rms_relative"] = rho;
  json["experts"] = nullptr;
  if (!run.expert_use.empty())
    json["experts"] = {{"layers", run.expert_layers},
                       {"chosen", run.chosen_experts > 0 ? nlohmann::json(run.chosen_experts) : nlohmann::json()},
                       {"tokens_per_expert", run.expert_use}};
  json["warnings"] = warnings_of(run);
  json["datasets"] = datasets_json(run.datasets);
  return json;
}

// The history that `train` writes beside a model.
constexpr const char* kTrainingFacts[] = {"variant",    "seed",        "step",          "finished",
                                          "parameters", "created_utc", "diverged_step", "source"};

std::string attribute_text(const RunFile& file, const char* name) {
  const Result<std::string> value = file.attribute("", name);
  return value ? *value : std::string();
}

void print_datasets(const RunFile& file) {
  for (const DatasetInfo& info : file.datasets())
    std::printf("  %-34s %s\n", escape_for_terminal(info.path).c_str(), shape_text(info.shape).c_str());
}

void print_history(const std::filesystem::path& path, std::uint64_t size, const RunFile& file, bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("training", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("variant") + ", seed " + text("seed") + ", " + text("parameters") + " parameters");
  std::string steps = text("step") + (text("finished") == "1" ? " steps, finished" : " steps, unfinished");
  if (const std::string diverged = text("diverged_step"); !diverged.empty() && diverged != "-1")
    steps += ", diverged at step " + diverged;
  print_fact("trained", steps);
  print_fact("holds", format("%zu datasets by step", file.datasets().size()));
  if (datasets) print_datasets(file);
}

// What `ablate` writes.
constexpr const char* kAblationFacts[] = {"model_id",      "mode",         "change",     "next_token_loss",
                                          "results_asked", "results_done", "complete",   "tokens",
                                          "prompt_sha256", "created_utc",  "source",     "sequences",
                                          "length",        "plan_sha256",  "ids_sha256", "documents_used"};
constexpr std::array kCircuitFacts = {"schema_version", "created_utc", "source",           "program_git_commit",
                                      "command_line",   "model_id",    "model_type",       "container",
                                      "vocabulary",     "hidden_size", "checkpoint_sha256"};

Result<void> print_violations(const RunFile& file) {
  HEADROOM_TRY(const std::vector<std::string> violations, read_violations(file));
  print_violations(violations);
  return {};
}

Result<void> print_ablation(const std::filesystem::path& path, std::uint64_t size, const RunFile& file, bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("ablation", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  const std::string of_plan = text("sequences");
  print_fact("model",
             text("model_id") + ", " +
                 (of_plan.empty() ? "" : of_plan + " sequences of " + text("documents_used") + " documents, ") +
                 text("tokens") + " tokens, next-token loss " + text("next_token_loss"));
  print_fact("changed", text("mode") + " (" + text("change") + "), " + text("results_done") + " of " +
                            text("results_asked") + " done");
  HEADROOM_TRY_VOID(print_violations(file));
  if (datasets) print_datasets(file);
  return {};
}

void print_circuits(const std::filesystem::path& path, std::uint64_t size, const RunFile& file, bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("circuits", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("model_id") + ", " + text("vocabulary") + " tokens of the vocabulary");
  if (datasets) print_datasets(file);
}

// A corpus, and the plan of one.
constexpr std::array kPlanFacts = {
    "model_id", "sequences", "length", "documents",   "documents_used", "plan_sha256",     "ids_sha256",
    "data",     "order",     "bos",    "created_utc", "source",         "tokenizer_sha256"};
constexpr std::array kCorpusFacts = {"model_id",       "sequences",     "sequences_all", "sequences_missing",
                                     "shard_index",    "shard_count",   "length",        "documents",
                                     "documents_used", "keep",          "plan_sha256",   "ids_sha256",
                                     "data",           "created_utc",   "source",        "command_line",
                                     "model_type",     "dtype_compute", "backend",       "checkpoint_sha256"};

Result<void> print_corpus(const std::filesystem::path& path, std::uint64_t size, const RunFile& file, bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  const bool ran = text("schema_name") == kCorpusSchemaName;
  print_fact(ran ? "corpus" : "plan of a corpus", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("model_id"));
  print_fact("sequences", text("sequences") + " of " + text("length") + " positions from " + text("documents_used") +
                              " of " + text("documents") + " documents");
  if (const std::string shards = text("shard_count"); !shards.empty())
    print_fact("part", text("shard_index") + " of " + shards);
  if (const std::string missing = text("sequences_missing"); !missing.empty())
    print_fact("missing", "the sequences " + missing + " of " + text("sequences_all"));
  if (ran) {
    HEADROOM_TRY(const std::vector<double> loss, file.read("next_token_loss"));
    HEADROOM_TRY(const std::vector<double> rate, file.read("sink_rate"));
    HEADROOM_TRY(const std::vector<double> epsilons, file.read_axis("epsilon"));
    const auto interval = [](double mean, double low, double high) {
      return format("%.4f, 95 %% [%.4f, %.4f]", mean, low, high);
    };
    if (loss.size() > 4) print_fact("loss", "next-token loss " + interval(loss[0], loss[3], loss[4]) + " nats");
    const std::size_t step = 3 * epsilons.size();
    for (std::size_t e = 0; e < epsilons.size() && rate.size() >= 5 * step; ++e)
      print_fact(format("sinks > %g", epsilons[e]).c_str(),
                 interval(rate[3 * e], rate[3 * step + 3 * e], rate[4 * step + 3 * e]) + " of the heads");
  }
  HEADROOM_TRY_VOID(print_violations(file));
  print_fact("plan", text("plan_sha256"));
  if (datasets) print_datasets(file);
  return {};
}

// A corpus run by several checkpoints.
constexpr std::array kSeriesFacts = {"model_id",    "checkpoint_count", "sequences",  "length",       "documents",
                                     "keep",        "plan_sha256",      "ids_sha256", "data",         "documents_used",
                                     "created_utc", "source",           "model_type", "command_line", "dtype_compute",
                                     "backend"};

Result<void> print_series_facts(const std::filesystem::path& path, std::uint64_t size, const RunFile& file,
                                bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("series", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("model_id"));
  print_fact("sequences", text("sequences") + " of " + text("length") + " positions from " + text("documents_used") +
                              " of " + text("documents") + " documents");
  HEADROOM_TRY(const std::vector<double> steps, file.read_axis("step"));
  HEADROOM_TRY(const std::vector<double> loss, file.read("next_token_loss"));
  if (steps.empty() || loss.size() % steps.size() != 0 || loss.size() / steps.size() < 5)
    return Error(ErrorCode::Corrupt, "the series has no loss of its steps").in_file(path.string());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double* const of_step = loss.data() + i * (loss.size() / steps.size());
    print_fact(format("step %.0f", steps[i]).c_str(),
               format("next-token loss %.4f, 95 %% [%.4f, %.4f] nats", of_step[0], of_step[3], of_step[4]));
  }
  HEADROOM_TRY_VOID(print_violations(file));
  print_fact("plan", text("plan_sha256"));
  if (datasets) print_datasets(file);
  return {};
}

// Which blocks of keys are chosen.
constexpr std::array kBlockFacts = {
    "model_id",      "block",     "always",         "sequences",   "length",           "documents",  "plan_sha256",
    "ids_sha256",    "data",      "documents_used", "created_utc", "source",           "model_type", "command_line",
    "dtype_compute", "overrides", "backend",        "device",      "checkpoint_sha256"};

Result<void> print_block_facts(const std::filesystem::path& path, std::uint64_t size, const RunFile& file,
                               bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("key blocks", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("model_id"));
  print_fact("blocks", text("block") + " keys, always chosen: " + text("always"));
  print_fact("sequences", text("sequences") + " of " + text("length") + " positions from " + text("documents_used") +
                              " of " + text("documents") + " documents");
  HEADROOM_TRY(const std::vector<double> tops, file.read_axis("top"));
  HEADROOM_TRY(const std::vector<double> recall, file.read("mean/recall"));  // statistic, map, choice, top
  constexpr std::size_t kNetByGroup = 2 * 5 + 2;
  if (recall.size() < 15 * tops.size())
    return Error(ErrorCode::Corrupt, "the file has no recall").in_file(path.string());
  for (std::size_t t = 0; t < tops.size(); ++t)
    print_fact(format("k = %.0f", tops[t]).c_str(),
               format("recall of net weights, chosen by groups: %.4f", recall[kNetByGroup * tops.size() + t]));
  HEADROOM_TRY_VOID(print_violations(file));
  print_fact("plan", text("plan_sha256"));
  if (datasets) print_datasets(file);
  return {};
}

// Needles in a haystack.
constexpr std::array kNeedleFacts = {"model_id",
                                     "needles",
                                     "samples",
                                     "seed",
                                     "bos",
                                     "documents",
                                     "data",
                                     "ids_sha256",
                                     "cells_done",
                                     "cells_asked",
                                     "complete",
                                     "created_utc",
                                     "source",
                                     "model_type",
                                     "command_line",
                                     "document_tokens",
                                     "backend",
                                     "dtype_compute",
                                     "checkpoint_sha256"};

Result<void> print_needles(const std::filesystem::path& path, std::uint64_t size, const RunFile& file, bool datasets) {
  const auto text = [&](const char* name) { return attribute_text(file, name); };
  print_fact("needles", path.string());
  print_fact("file", "HDF5, " + size_text(static_cast<double>(size)) + ", schema " + text("schema_version") +
                         ", made " + text("created_utc") + " by " + text("source"));
  print_fact("model", text("model_id"));
  print_fact("prompts", text("samples") + " samples of " + text("needles") + " needles in " + text("document_tokens") +
                            " tokens of " + text("documents") + " documents, " + text("cells_done") + " of " +
                            text("cells_asked") + " lengths and depths done");
  HEADROOM_TRY(const std::vector<double> recalled, file.read("overall/recalled"));
  if (recalled.size() > 4)
    print_fact("recalled",
               format("%.4f of the answer's tokens, 95 %% [%.4f, %.4f]", recalled[0], recalled[3], recalled[4]));
  HEADROOM_TRY_VOID(print_violations(file));
  if (datasets) print_datasets(file);
  return {};
}

nlohmann::json facts_json(const std::filesystem::path& path, std::uint64_t size, const RunFile& file,
                          const char* format_name, std::span<const char* const> facts) {
  nlohmann::json json = {{"path", path.string()}, {"format", format_name}, {"size_bytes", size}};
  for (const char* name : facts) {
    const Result<std::string> value = file.attribute("", name);
    json[name] = value ? nlohmann::json(*value) : nlohmann::json();
  }
  json["datasets"] = datasets_json({file.datasets().begin(), file.datasets().end()});
  return json;
}

}  // namespace

Result<void> inspect_run_file(const std::filesystem::path& path, bool datasets, bool json) {
  HEADROOM_TRY(const std::unique_ptr<RunFile> file, RunFile::open(path));
  std::error_code ignored;
  const std::uint64_t size = std::filesystem::file_size(path, ignored);
  HEADROOM_TRY(const std::string schema, file->root_attribute("schema_name"));
  nlohmann::json told;
  if (schema == kTrainingSchemaName) {
    if (!json) {
      print_history(path, size, *file, datasets);
      return {};
    }
    told = facts_json(path, size, *file, "training history", kTrainingFacts);
  } else if (schema == kAblationSchemaName) {
    if (!json) return print_ablation(path, size, *file, datasets);
    told = facts_json(path, size, *file, "ablation", kAblationFacts);
  } else if (schema == kCircuitsSchemaName) {
    if (!json) {
      print_circuits(path, size, *file, datasets);
      return {};
    }
    told = facts_json(path, size, *file, "circuits", kCircuitFacts);
  } else if (schema == kSeriesSchemaName) {
    if (!json) return print_series_facts(path, size, *file, datasets);
    told = facts_json(path, size, *file, "series", kSeriesFacts);
  } else if (schema == kBlocksSchemaName) {
    if (!json) return print_block_facts(path, size, *file, datasets);
    told = facts_json(path, size, *file, "blocks", kBlockFacts);
  } else if (schema == kNeedleSchemaName) {
    if (!json) return print_needles(path, size, *file, datasets);
    told = facts_json(path, size, *file, "needles", kNeedleFacts);
  } else if (schema == kCorpusSchemaName || schema == kPlanSchemaName) {
    if (!json) return print_corpus(path, size, *file, datasets);
    told = schema == kCorpusSchemaName ? facts_json(path, size, *file, "corpus", kCorpusFacts)
                                       : facts_json(path, size, *file, "plan of a corpus", kPlanFacts);
  } else {
    Result<RunOverview> run = read_overview(*file);
    if (!run) return std::move(run.error()).in_file(path.string());
    if (!json) {
      print_run(path, size, *run, datasets);
      return {};
    }
    told = run_json(path, size, *run);
  }
  HEADROOM_TRY(const std::vector<std::string> violations, read_violations(*file));
  told["self_check"] = {{"violations", violations}};
  std::printf("%s\n", told.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return {};
}

}  // namespace headroom
