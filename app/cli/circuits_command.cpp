#include "app/cli/circuits_command.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/address.h"
#include "app/cli/peak_memory.h"
#include "app/cli/progress.h"
#include "app/cli/run_request.h"
#include "app/process/report_error.h"
#include "app/process/signals.h"
#include "app/process/version.h"
#include "core/base/format.h"
#include "core/base/mutex.h"
#include "core/base/numbers.h"
#include "core/circuits/circuit_file.h"
#include "core/run/open_model.h"

namespace headroom {
namespace {

constexpr std::size_t kNamedHeads = 5;
constexpr double kCopies = 0.9;

Result<CircuitRequest> request_of(const CircuitsArguments& arguments, const OpenedModel& model) {
  CircuitRequest request;
  const AnalyzeArguments& run = arguments.run;
  request.model = &model;
  if (!run.layers.empty()) {
    HEADROOM_TRY(request.layers,
                 parse_index_list(run.layers, "--layers", static_cast<std::int64_t>(model.spec.blocks.size())));
  }
  if (!run.heads.empty()) {
    HEADROOM_TRY(request.heads, parse_index_list(run.heads, "--heads", model.spec.num_heads));
  }
  request.composition = arguments.composition;
  request.output = run.output;
  request.force = run.force;
  request.inputs = input_paths(run, *model.checkpoint);
  request.command_line = run.command_line;
  request.program = std::string("headroom ") + kVersion;
  request.git_commit = kGitCommit;
  return request;
}

struct NamedValue {
  std::int64_t layer = 0, head = 0;
  double value = 0.0;
};

// Heads that have the number, by descending value.
std::vector<NamedValue> ranked(const CircuitOutcome& outcome, const char* name, std::size_t element = 0) {
  std::vector<NamedValue> values;
  for (const LayerCircuits& layer : outcome.data)
    for (const std::int64_t head : outcome.heads) {
      const double value = circuit_element(layer, static_cast<std::size_t>(head), name, 0, element);
      if (std::isfinite(value)) values.push_back({layer.layer, head, value});
    }
  std::ranges::stable_sort(values, std::greater{}, &NamedValue::value);
  return values;
}

std::string heads_text(const std::vector<NamedValue>& values, bool largest) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamedHeads, values.size()); ++i) {
    const NamedValue& shown = largest ? values[i] : values[values.size() - 1 - i];
    text += format("  L%lld.H%lld %.3f", static_cast<long long>(shown.layer), static_cast<long long>(shown.head),
                   shown.value);
  }
  return text + "\n";
}

std::string range_text(const char* what, const std::vector<NamedValue>& values) {
  if (values.empty()) return "";
  return format("%s %.1f to %.1f, median %.1f", what, values.back().value, values.front().value,
                values[values.size() / 2].value);
}

std::string copying_text(const CircuitOutcome& outcome) {
  const std::vector<NamedValue> scores = ranked(outcome, "copying_score");
  if (scores.empty()) return "";
  const auto copies = std::ranges::count_if(scores, [](const NamedValue& v) { return v.value > kCopies; });
  const auto against = std::ranges::count_if(scores, [](const NamedValue& v) { return v.value < 0.0; });
  std::string text = format(
      "Copying: %lld of %zu heads have a score above %g, %lld below 0; through all %lld tokens of the vocabulary\n",
      static_cast<long long>(copies), scores.size(), kCopies, static_cast<long long>(against),
      static_cast<long long>(outcome.vocabulary));
  text += "  most  " + heads_text(scores, true);
  if (scores.size() > kNamedHeads) text += "  least " + heads_text(scores, false);
  return text;
}

std::string alignment_text(const CircuitOutcome& outcome) {
  double sum = 0.0, null = 0.0;
  std::size_t pairs = 0, opposed = 0;
  for (const LayerCircuits& layer : outcome.data)
    for (std::size_t a = 0; a < layer.heads.size(); ++a)
      for (std::size_t b = a + 1; b < layer.heads.size(); ++b) {
        const double cosine =
            layer.output_alignment.empty() ? kNaN : layer.output_alignment[a * layer.heads.size() + b];
        if (!std::isfinite(cosine)) continue;
        sum += std::abs(cosine);
        opposed += cosine < 0.0 ? 1 : 0;
        null += layer.output_alignment_null;
        ++pairs;
      }
  if (pairs == 0) return "Alignment of W_O: no two heads share their values\n";
  const auto count = static_cast<double>(pairs);
  return format("Alignment of W_O inside groups: mean |cos| %.3f over %zu pairs, %zu opposed; random matrices ± %.4f\n",
                sum / count, pairs, opposed, null / count);
}

struct Composed {
  const char* kind = "";
  double mean = 0.0, largest = 0.0;
  std::size_t count = 0;
  std::int64_t layer = 0, head = 0, from_layer = 0, from_head = 0;
};

Composed strongest(const CircuitOutcome& outcome, const char* kind,
                   const std::vector<double>& (*values)(const Composition&)) {
  Composed found{kind};
  const std::size_t heads = outcome.heads.size();
  for (const Composition& pair : outcome.compositions) {
    const std::vector<double>& all = values(pair);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!std::isfinite(all[i])) continue;
      found.mean += all[i];
      ++found.count;
      if (all[i] <= found.largest) continue;
      found.largest = all[i];
      found.layer = pair.layer, found.from_layer = pair.from_layer;
      found.head = outcome.heads[i / heads], found.from_head = outcome.heads[i % heads];
    }
  }
  if (found.count > 0) found.mean /= static_cast<double>(found.count);
  return found;
}

std::vector<Composed> composed(const CircuitOutcome& outcome) {
  return {strongest(outcome, "Q", [](const Composition& c) -> const std::vector<double>& { return c.q[0]; }),
          strongest(outcome, "K", [](const Composition& c) -> const std::vector<double>& { return c.k[0]; }),
          strongest(outcome, "V", [](const Composition& c) -> const std::vector<double>& { return c.v; })};
}

std::string composition_text(const CircuitRequest& request, const CircuitOutcome& outcome) {
  if (!request.composition) return "Compositions were not asked for: --composition\n";
  std::string text =
      format("Compositions (of unrelated matrices: %.4f)\n", composition_null(request.model->spec.hidden_size));
  for (const Composed& kind : composed(outcome))
    if (kind.count > 0)
      text += format("  %s  mean %.4f over %zu pairs, largest %.3f: L%lld.H%lld of L%lld.H%lld\n", kind.kind, kind.mean,
                     kind.count, kind.largest, static_cast<long long>(kind.layer), static_cast<long long>(kind.head),
                     static_cast<long long>(kind.from_layer), static_cast<long long>(kind.from_head));
  return text;
}

// Each reason once, with the layers it holds for.
std::vector<std::string> refusals(const CircuitOutcome& outcome) {
  std::vector<std::string> notes;
  const std::pair<const char*, std::string LayerCircuits::*> kinds[] = {
      {"QK", &LayerCircuits::qk_refused},
      {"OV", &LayerCircuits::ov_refused},
      {"paths through the vocabulary", &LayerCircuits::path_refused}};
  for (const auto& [what, reason] : kinds) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> by_reason;
    for (const LayerCircuits& layer : outcome.data) {
      if ((layer.*reason).empty()) continue;
      const auto known = std::ranges::find(by_reason, layer.*reason, [](const auto& entry) { return entry.first; });
      if (known == by_reason.end())
        by_reason.push_back({layer.*reason, {layer.layer}});
      else
        known->second.push_back(layer.layer);
    }
    for (const auto& [text, layers] : by_reason) {
      const bool all = layers.size() == outcome.data.size();
      notes.push_back("no " + std::string(what) + (all ? "" : " in layers " + layers_text(layers)) + ": " + text);
    }
  }
  return notes;
}

std::string circuits_text(const CircuitRequest& request, const CircuitOutcome& outcome) {
  std::string text = escape_for_terminal(request.model->checkpoint->name()) +
                     format(": %zu layers × %zu heads from weights alone, %s", outcome.layers.size(),
                            outcome.heads.size(), duration_text(outcome.seconds).c_str());
  text += format(", peak memory %.2f GB\n", static_cast<double>(peak_rss_bytes()) / 1e9);
  for (const std::string& note : refusals(outcome)) text += escape_for_terminal(note) + "\n";
  text += copying_text(outcome);
  const std::string ov = range_text("OV", ranked(outcome, "ov_effective_rank")),
                    qk = range_text("QK", ranked(outcome, "qk_effective_rank")),
                    second = range_text("QK of the second map", ranked(outcome, "qk_effective_rank", 1));
  std::string ranks;
  for (const std::string& part : {ov, qk, second}) ranks += (ranks.empty() || part.empty() ? "" : "; ") + part;
  if (!ranks.empty()) text += "Effective rank: " + ranks + "\n";
  text += alignment_text(outcome);
  text += composition_text(request, outcome);
  text +=
      "Left out: other layers, the scale of the residual stream, biases, gates, λ, and RoPE (QK is that of distance 0).\n";
  return text + "Wrote " + escape_for_terminal(request.output.string()) + ".\n";
}

nlohmann::json circuits_json(const CircuitRequest& request, const CircuitOutcome& outcome) {
  nlohmann::json heads = nlohmann::json::array(), compositions = nlohmann::json::object();
  constexpr const char* kNames[] = {"copying_score",
                                    "ov_effective_rank",
                                    "ov_largest_singular_value",
                                    "qk_effective_rank",
                                    "qk_largest_singular_value",
                                    "output_alignment_mean",
                                    "query_alignment",
                                    "qk_alignment"};
  for (const LayerCircuits& layer : outcome.data)
    for (const std::int64_t head : outcome.heads) {
      nlohmann::json object = {
          {"head", format("L%lld.H%lld", static_cast<long long>(layer.layer), static_cast<long long>(head))}};
      for (const char* name : kNames) {
        const double value = circuit_element(layer, static_cast<std::size_t>(head), name);
        object[name] = std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
      }
      heads.push_back(std::move(object));
    }
  if (request.composition)
    for (const Composed& kind : composed(outcome))
      if (kind.count > 0)
        compositions[kind.kind] = {{"pairs", kind.count}, {"mean", kind.mean}, {"largest", kind.largest}};
  return {{"path", request.output.string()},
          {"layers", outcome.layers},
          {"heads", heads},
          {"vocabulary", outcome.vocabulary},
          {"compositions", compositions},
          {"composition_null", composition_null(request.model->spec.hidden_size)},
          {"refused", refusals(outcome)},
          {"seconds", outcome.seconds},
          {"vocabulary_seconds", outcome.vocabulary_seconds},
          {"layer_seconds", outcome.layer_seconds},
          {"composition_seconds", outcome.composition_seconds},
          {"peak_rss_bytes", peak_rss_bytes()}};
}

}  // namespace

int run_circuits(const CircuitsArguments& given) {
  CircuitsArguments arguments = given;
  const bool json = arguments.run.json;
  if (const auto placed = place_arguments(arguments.run); !placed) return report_error(placed.error(), json);
  const auto model = open_model(arguments.run.path, arguments.run.options);
  if (!model) return report_error(model.error(), json);
  const auto request = request_of(arguments, *model);
  if (!request) return report_error(request.error(), json);

  ProgressLine progress;
  Mutex mutex;
  const auto show = [&](double fraction, const std::string& what) {
    const MutexLock lock(mutex);
    progress.show(fraction, what);
  };
  const auto stop = [] { return signal_received(); };
  const auto outcome = [&]() -> Result<CircuitOutcome> {
    const GracefulStop graceful;
    HEADROOM_TRY(const std::unique_ptr<RunFileWriter> file, create_circuit_file(*request));
    HEADROOM_TRY(CircuitOutcome measured, measure_circuits(*request, show, stop));
    HEADROOM_TRY_VOID(write_circuits(*file, *request, measured, stop));
    return measured;
  }();
  progress.clear();
  if (!outcome) {
    const int code = report_error(outcome.error(), json);
    return outcome.error().code == ErrorCode::Cancelled ? signal_exit_code() : code;
  }
  if (json)
    std::printf(
        "%s\n",
        circuits_json(*request, *outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  else
    std::fputs(circuits_text(*request, *outcome).c_str(), stdout);
  return 0;
}

}  // namespace headroom
