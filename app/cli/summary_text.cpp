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

#include "app/cli/head_tables.h"
#include "app/cli/progress.h"
#include "core/base/format.h"
#include "core/model/capture.h"
#include "core/run/two_sequences.h"

namespace headroom {
namespace {

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
  text += sink_lines(outcome.summary, outcome.sink_null) + logit_lines(outcome.summary) +
          bound_lines(outcome.summary, outcome.min_row) + premise_lines(outcome.summary) +
          differential_lines(outcome.summary);
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
  json["open_seconds"] = facts.open_seconds;
  json["library_seconds"] = facts.library_seconds;
  json["prompt_seconds"] = facts.prompt_seconds;
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
                    {"verify", stages.verify},
                    {"hash", stages.hash},
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
