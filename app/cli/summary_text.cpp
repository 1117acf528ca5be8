#include "app/cli/summary_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "app/cli/progress.h"
#include "core/base/format.h"
#include "core/model/capture.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

constexpr double kSinkThreshold = 0.3;  // ε of Gu et al., arXiv 2410.10781
constexpr std::size_t kShownHeads = 5;

struct HeadPlace {
  std::size_t layer_index = 0, head_index = 0;
  std::int64_t layer = 0, head = 0;
  std::size_t map = 0;  // 0 the first, 1 the second
  [[nodiscard]] std::string name() const {
    return format("L%lld.H%lld", static_cast<long long>(layer), static_cast<long long>(head));
  }
};

std::vector<HeadPlace> places(const SummaryTable& table) {
  std::vector<HeadPlace> all;
  for (std::size_t l = 0; l < table.layers.size(); ++l)
    for (std::size_t h = 0; h < table.heads.size(); ++h) all.push_back({l, h, table.layers[l], table.heads[h]});
  return all;
}

bool has_map(const SummaryTable& table, const HeadPlace& place, std::size_t map) {
  return table.at("kv_head", place.layer_index, place.head_index, map) >= 0.0;
}

// The first map's number, or the second's where there is no first.
double component(const SummaryTable& table, std::string_view name, const HeadPlace& place) {
  return table.at(name, place.layer_index, place.head_index, has_map(table, place, 0) ? 0 : 1);
}

bool has_both_maps(const SummaryTable& table, const HeadPlace& place) {
  return has_map(table, place, 0) && has_map(table, place, 1);
}

bool any_with_both_maps(const SummaryTable& table) {
  return std::ranges::any_of(places(table), [&](const HeadPlace& place) { return has_both_maps(table, place); });
}

// Whether NaN or infinities reach the weights of a head: then they reach its largest logit too.
bool is_not_finite(const SummaryTable& table, const HeadPlace& place) {
  return !std::isfinite(component(table, "logit_max", place));
}

// Every map of every head on its own; NaN where a head lacks one.
std::vector<HeadPlace> map_places(const SummaryTable& table) {
  std::vector<HeadPlace> all;
  for (HeadPlace place : places(table))
    for (place.map = 0; place.map < 2; ++place.map) all.push_back(place);
  return all;
}

template <typename Value>
std::vector<HeadPlace> largest(const std::vector<HeadPlace>& all, const Value& value) {
  std::vector<HeadPlace> order;
  for (const HeadPlace& place : all)
    if (!std::isnan(value(place))) order.push_back(place);
  std::ranges::stable_sort(order, [&](const HeadPlace& a, const HeadPlace& b) { return value(a) > value(b); });
  order.resize(std::min(order.size(), kShownHeads));
  return order;
}

std::int64_t count_sinks(const SummaryTable& table, std::int64_t& heads) {
  std::int64_t sinks = 0;
  heads = 0;
  for (const HeadPlace& place : places(table)) {
    const double score = component(table, "sink_score", place);
    if (std::isnan(score)) continue;
    ++heads;
    if (score > kSinkThreshold) ++sinks;
  }
  return sinks;
}

std::string model_line(const RunFacts& facts) {
  const ModelSpec& model = facts.model->spec;
  if (model.capture)
    return facts.model->checkpoint->name() + format(": capture of %zu calls, up to %lld heads and %lld tokens",
                                                    model.blocks.size(), static_cast<long long>(model.num_heads),
                                                    static_cast<long long>(model.capture->length));
  return facts.model->checkpoint->name() +
         format(": %s, %zu layers × %lld heads, ", model.model_type.c_str(), model.blocks.size(),
                static_cast<long long>(model.num_heads)) +
         model.kinds_text();
}

std::string tokens_text(const RunFacts& facts) {
  const Prompt& prompt = facts.request->prompt;
  const std::optional<EncoderSpec>& encoder = facts.model->spec.encoder;
  if (!encoder) return format("%zu tokens", prompt.ids.size());
  const SequencePair pair = sequences_of(*encoder, prompt);
  return format("%zu tokens and %zu of the target", pair.source.size(), pair.target.size());
}

std::string run_line(const RunFacts& facts) {
  const AnalysisOutcome& outcome = *facts.outcome;
  return tokens_text(facts) + format(", %s on %s, backend %s, %s, peak memory %.2f GB",
                                     dtype_name(facts.request->dtype), facts.request->device.c_str(),
                                     outcome.attention.backend.c_str(), duration_text(outcome.seconds).c_str(),
                                     static_cast<double>(facts.peak_rss_bytes) / 1e9);
}

// Of a capture with the model's own contexts.
std::string context_line(const AnalysisOutcome& outcome) {
  if (outcome.contexts.heads == 0) return "";
  return format("contexts of %lld heads compared with the model's own: largest difference %.2g of the largest number, ",
                static_cast<long long>(outcome.contexts.heads), outcome.contexts.worst) +
         escape_for_terminal(outcome.contexts.where) + "\n";
}

// Uniform causal attention is nothing to compare with where the keys are not the rows' own.
std::string null_text(const AnalysisOutcome& outcome) {
  if (std::isnan(outcome.sink_null)) return "";
  return format("; uniform attention gives %.3f", outcome.sink_null);
}

std::string share_text(double value, int width, const char* otherwise) {
  return std::isnan(value) ? format("%*s", width, otherwise) : format("%*.3f", width, value);
}

std::string sink_lines(const RunFacts& facts) {
  const SummaryTable& table = facts.outcome->summary;
  const std::vector<HeadPlace> all = places(table);
  const auto not_finite = std::ranges::count_if(all, [&](const HeadPlace& p) { return is_not_finite(table, p); });
  std::int64_t heads = 0;
  const std::int64_t sinks = count_sinks(table, heads);
  std::string text = "\nSinks: key 0 is hidden from every head; the keys that receive most in its place";
  if (heads > 0)
    text = format("\nSinks: %lld of %lld heads (%.1f %%) give key 0 more than %.1f of their attention",
                  static_cast<long long>(sinks), static_cast<long long>(heads),
                  100.0 * static_cast<double>(sinks) / static_cast<double>(heads), kSinkThreshold) +
           null_text(*facts.outcome);
  else if (not_finite == std::ssize(all))
    return "\nSinks: the weights of every head are NaN\n";
  if (not_finite > 0) text += format("; %lld more heads are NaN", static_cast<long long>(not_finite));
  const bool differential = any_with_both_maps(table);
  text += differential ? "\n  head        first map  second map       net   top key   its score\n"
                       : "\n  head       sink score       net   top key   its score\n";
  const char* order = heads == 0 ? "top_sink_score" : "sink_score";
  for (const HeadPlace& p : largest(all, [&](const HeadPlace& place) { return component(table, order, place); })) {
    const char* missing = heads == 0 ? "hidden" : "NaN";
    text += format("  %-10s ", p.name().c_str()) + share_text(component(table, "sink_score", p), 10, missing);
    if (differential)
      text += share_text(table.at("sink_score", p.layer_index, p.head_index, 1), 12,
                         has_map(table, p, 1) ? missing : "none");
    text += share_text(table.at("sink_score_net", p.layer_index, p.head_index), 10, missing);
    const double top = component(table, "top_sink_score", p);
    text += (std::isnan(top) ? format("  %8s", "none") : format("  %8.0f", component(table, "top_sink_position", p))) +
            share_text(top, 12, "NaN") + "\n";
  }
  return text;
}

std::string logit_lines(const RunFacts& facts) {
  const SummaryTable& table = facts.outcome->summary;
  const auto value = [&](const char* name, const HeadPlace& p) {
    return table.at(name, p.layer_index, p.head_index, p.map);
  };
  const auto width = [&](const HeadPlace& p) { return value("logit_max", p) - value("logit_min", p); };
  const bool differential = any_with_both_maps(table);
  const std::vector<HeadPlace> widest = largest(map_places(table), width);
  if (widest.empty()) return "";
  std::string text = "\nWidest qk-logits (scaled, visible)\n  head      ";
  text += differential ? " map           max       min     range   effective keys\n"
                       : "        max       min     range   effective keys\n";
  for (const HeadPlace& p : widest) {
    text += format("  %-10s ", p.name().c_str());
    if (differential) text += p.map == 0 ? "first  " : "second ";
    text += format("%10.1f  %8.1f  %8.1f  %15.2f\n", value("logit_max", p), value("logit_min", p), width(p),
                   value("effective_keys_mean", p));
  }
  return text;
}

std::string bound_lines(const RunFacts& facts) {
  static constexpr const char* kNames[] = {"softmax [1/√n, 1)", "diff_v2 (0, √2)", "the head's own"};
  const SummaryTable& table = facts.outcome->summary;
  std::string text = format("\nContext RMS ρ over all heads and rows with n ≥ %lld      below    inside     above\n",
                            static_cast<long long>(facts.outcome->min_row));
  for (std::size_t b = 0; b < 3; ++b) {
    double shares[3] = {};
    double heads = 0.0;
    for (const HeadPlace& p : places(table)) {
      const double inside = table.at("rows_inside_bound", p.layer_index, p.head_index, b);
      if (std::isnan(inside)) continue;
      shares[0] += table.at("rows_below_bound", p.layer_index, p.head_index, b);
      shares[1] += inside;
      shares[2] += table.at("rows_above_bound", p.layer_index, p.head_index, b);
      heads += 1.0;
    }
    if (heads == 0.0) return "\nContext RMS ρ: no row of any head is finite\n";
    // printf pads bytes, so that the column is filled by hand after a name with √.
    const int symbols = b < 2 ? static_cast<int>(std::string_view(kNames[b]).size()) - 2 : 14;
    text += "  " + std::string(kNames[b]) + std::string(static_cast<std::size_t>(49 - symbols), ' ');
    text += format("%6.1f %%  %6.1f %%  %6.1f %%\n", 100.0 * shares[0] / heads, 100.0 * shares[1] / heads,
                   100.0 * shares[2] / heads);
  }
  return text;
}

std::string differential_lines(const RunFacts& facts) {
  const SummaryTable& table = facts.outcome->summary;
  double lambda = 0.0, weight = 0.0, output = 0.0, heads = 0.0;
  for (const HeadPlace& p : places(table)) {
    const auto value = [&](const char* name) { return table.at(name, p.layer_index, p.head_index); };
    const double of_head[] = {value("weight_cancellation_mean"), value("lambda_mean"),
                              value("output_cancellation_mean")};
    if (!std::isfinite(of_head[0] + of_head[1] + of_head[2])) continue;
    weight += of_head[0];
    lambda += of_head[1];
    output += of_head[2];
    heads += 1.0;
  }
  if (heads == 0.0) return "";
  return format(
      "\nDifferential heads: mean λ %.3f, weight cancellation %.3f, output cancellation %.3f (1 = disjoint maps)\n",
      lambda / heads, weight / heads, output / heads);
}

}  // namespace

std::string summary_text(const RunFacts& facts) {
  const AnalysisOutcome& outcome = *facts.outcome;
  const std::string output = escape_for_terminal(facts.request->output.string());
  std::string text = escape_for_terminal(model_line(facts)) + "\n" + run_line(facts) + "\n";
  if (outcome.forward.next_token_loss)
    text += format("next-token loss %.4f nats (perplexity %.2f)%s\n", *outcome.forward.next_token_loss,
                   std::exp(*outcome.forward.next_token_loss),
                   facts.request->prompt.first_is_bos ? ", token 0 is the BOS" : ", no BOS at token 0");
  if (!facts.tokenizer.empty()) text += escape_for_terminal(facts.tokenizer) + "\n";
  if (!facts.device_note.empty()) text += "device " + escape_for_terminal(facts.device_note) + "\n";
  if (!outcome.attention.reason.empty())
    text += "backend auto: " + outcome.attention.backend + ", " + outcome.attention.reason + "\n";
  for (const std::string& warning : facts.model->spec.warnings)
    text += "warning: " + escape_for_terminal(warning) + "\n";
  for (const std::string& note : outcome.notes) text += escape_for_terminal(note) + "\n";
  text += context_line(outcome);
  const std::int64_t not_finite = outcome.self_check.rows_not_finite;
  const std::string left_out =
      not_finite > 0 ? format(" (%lld that are NaN left out)", static_cast<long long>(not_finite)) : "";
  text += sink_lines(facts) + logit_lines(facts) + bound_lines(facts) + differential_lines(facts);
  text += format("\nSelf-check: %lld rows%s, worst row sum off by %.1e, worst ‖w‖₂ outside its bounds by %.1e: %s\n",
                 static_cast<long long>(outcome.self_check.rows), left_out.c_str(), outcome.self_check.worst_row_sum,
                 outcome.self_check.worst_bound, outcome.self_check.violations.empty() ? "passed" : "FAILED");
  text += format("\nWrote %s (%.1f MB). Next:\n", output.c_str(), static_cast<double>(outcome.size_bytes) / 1e6);
  text += "  python3 -c \"import xarray; print(xarray.open_dataset('" + output + "', engine='h5netcdf'))\"\n";
  text += "  headroom analyze … --what-if sink=off|lambda=none|hide-key=0 -o other.h5; headroom compare " + output +
          " other.h5\n";
  return text;
}

std::string summary_json(const RunFacts& facts) {
  const AnalysisOutcome& outcome = *facts.outcome;
  const SummaryTable& table = outcome.summary;
  nlohmann::json json;
  json["path"] = facts.request->output.string();
  json["tokens"] = facts.request->prompt.ids.size();
  json["layers"] = table.layers;
  json["heads"] = table.heads;
  json["seconds"] = outcome.seconds;
  json["attention_seconds"] = outcome.forward.attention_seconds;
  json["forward_seconds"] = outcome.forward.seconds;
  const StageSeconds& stages = outcome.stages;
  json["stages"] = {{"project", stages.project},
                    {"attention", stages.attention},
                    {"record", stages.record},
                    {"mix", stages.mix},
                    {"mlp", stages.mlp},
                    {"logits", stages.logits},
                    {"wait_weights", stages.wait_weights},
                    {"wait_write", stages.wait_write},
                    {"read_weights", stages.read_weights},
                    {"write", stages.write}};
  json["peak_rss_bytes"] = facts.peak_rss_bytes;
  json["memory"] = {{"estimated_bytes", facts.budget.memory.working_bytes},
                    {"allowed_bytes", facts.budget.allowed_bytes},
                    {"limit", facts.budget.limit},
                    {"parts", nlohmann::json::array()}};
  for (const MemoryItem& item : facts.budget.memory.items)
    json["memory"]["parts"].push_back({{"what", item.what}, {"formula", item.formula}, {"bytes", item.bytes}});
  json["device"] = facts.request->device;
  json["device_note"] = facts.device_note;
  json["backend"] = outcome.attention.backend;
  json["backend_note"] = outcome.attention.reason.empty() ? "" : "auto: " + outcome.attention.reason;
  json["dtype"] = dtype_name(facts.request->dtype);
  json["next_token_loss"] =
      outcome.forward.next_token_loss ? nlohmann::json(*outcome.forward.next_token_loss) : nullptr;
  const std::int64_t non_finite = outcome.forward.non_finite_layer;
  json["non_finite_layer"] = non_finite >= 0 ? nlohmann::json(non_finite) : nullptr;
  json["non_finite_weights"] = nlohmann::json::array();
  for (const NonFiniteWeight& weight : outcome.forward.non_finite_weights)
    json["non_finite_weights"].push_back({{"layer", weight.layer >= 0 ? nlohmann::json(weight.layer) : nullptr},
                                          {"tensor", weight.tensor},
                                          {"nan", weight.counts.nan},
                                          {"positive_infinity", weight.counts.positive_infinity},
                                          {"negative_infinity", weight.counts.negative_infinity},
                                          {"values", weight.values}});
  json["contexts"] = nullptr;
  if (outcome.contexts.heads > 0)
    json["contexts"] = {{"heads", outcome.contexts.heads},
                        {"largest_difference", outcome.contexts.worst},
                        {"where", outcome.contexts.where}};
  json["bos_added"] = facts.request->prompt.bos_added;
  json["sink_null"] = outcome.sink_null;
  std::int64_t heads = 0;
  const std::int64_t sinks = count_sinks(table, heads);
  json["sink_heads"] = sinks;
  json["sink_rate"] = heads > 0 ? nlohmann::json(static_cast<double>(sinks) / static_cast<double>(heads)) : nullptr;
  json["notes"] = outcome.notes;
  json["self_check"] = {{"rows", outcome.self_check.rows},
                        {"rows_not_finite", outcome.self_check.rows_not_finite},
                        {"worst_row_sum", outcome.self_check.worst_row_sum},
                        {"worst_bound", outcome.self_check.worst_bound},
                        {"violations", outcome.self_check.violations}};
  json["table"] = nlohmann::json::array();
  for (const HeadPlace& p : places(table)) {
    nlohmann::json row = {{"layer", p.layer}, {"head", p.head}};
    for (const char* name : {"sink_score", "top_sink_score", "top_sink_position", "logit_max", "logit_min",
                             "effective_keys_mean", "entropy_mean"})
      row[name] = component(table, name, p);
    for (const char* name : {"sink_score", "logit_max", "logit_min", "effective_keys_mean", "entropy_mean"})
      row[std::string(name) + "_second_map"] =
          has_both_maps(table, p) ? nlohmann::json(table.at(name, p.layer_index, p.head_index, 1)) : nullptr;
    for (const char* name : {"sink_score_net", "context_rms_mean", "context_rms_relative_mean", "lambda_mean",
                             "output_cancellation_mean", "finite_rows"})
      row[name] = table.at(name, p.layer_index, p.head_index);
    for (const char* name : {"rows_below_bound", "rows_inside_bound", "rows_above_bound"})
      row[name] = {table.at(name, p.layer_index, p.head_index, 0), table.at(name, p.layer_index, p.head_index, 1),
                   table.at(name, p.layer_index, p.head_index, 2)};
    json["table"].push_back(row);
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace headroom
