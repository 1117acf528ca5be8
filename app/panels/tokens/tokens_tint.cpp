#include "app/panels/tokens/tokens_tint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panel.h"
#include "app/plot/quantiles.h"
#include "app/session/command_parts.h"
#include "core/base/number_text.h"

namespace headroom {
namespace {

constexpr float kMostNats = 8.0f, kMostRank = 1000.0f;

std::string log_text(float low, float high) {
  return "log₁₀, " + power_text(static_cast<int>(std::lround(std::log10(low)))) + " … " +
         short_text(static_cast<double>(high));
}

// Values that are not numbers where the head has one for each token: infinite, which is drawn as such. A row of the map
// has none for keys that the query does not see.
void mark_lost(TokenTint& tint, const LayerSnapshot& layer, std::int64_t head, const HeadProgram& program,
               std::optional<std::int64_t> query) {
  if (std::ranges::all_of(tint.values, [](float value) { return std::isfinite(value); })) return;
  const auto count = static_cast<std::int64_t>(tint.values.size());
  std::int64_t begin = 0, end = count;
  const MapSource::Head* of = layer.maps ? layer.maps->find(head) : nullptr;
  if (query && of && layer.maps->causal) {
    const kernels::KeyRange keys = layer.maps->mask(*of).keys_of(*query);
    begin = keys.begin;
    end = std::min(count, keys.end);
  }
  auto marked = std::make_shared<std::vector<float>>(tint.values.begin(), tint.values.end());
  for (std::int64_t token = begin; token < end; ++token) {
    float& value = (*marked)[static_cast<std::size_t>(token)];
    if (std::isfinite(value) || std::ranges::binary_search(program.hidden_keys, token)) continue;
    if (query && layer.maps && !layer.maps->causal && !layer.maps->cell(head, *query, token).visible) continue;
    value = std::numeric_limits<float>::infinity();
    ++tint.not_finite;
  }
  tint.values = *marked;
  tint.row = std::move(marked);
}

// Of each token given those before it; the first has none.
void tint_by_prediction(TokenTint& tint, const State& state, const std::string& name) {
  const LayerSnapshot* layer = state.selected_layer();
  tint.scale_text = needs_predictions(state);
  if (!tint.scale_text.empty()) return;
  if (layer != nullptr && layer->axes.rows != TokenAxis::Tokens) {
    tint.scale_text = "the rows of this layer are not of the sequence that is predicted";
    return;
  }
  const Predictions& predictions = *state.data()->predictions;
  auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(predictions.rows()), std::nanf(""));
  for (std::size_t i = 1; i < values->size(); ++i) {
    const double value = name == "loss"   ? predictions.loss[i - 1]
                         : name == "rank" ? (predictions.rank[i - 1] > 0 ? predictions.rank[i - 1] : std::nan(""))
                                          : predictions.entropy[i - 1];
    (*values)[i] = std::isfinite(value) ? static_cast<float>(value) : std::numeric_limits<float>::infinity();
    tint.not_finite += std::isfinite(value) ? 0 : 1;
  }
  tint.values = *values;
  tint.row = std::move(values);
  if (name == "rank") {
    tint.scale = {tint.scale.map, ScaleKind::Log10, 1.0f, kMostRank, 1e-3f};
    tint.scale_text = "log₁₀, 1 … ≥ " + short_text(static_cast<double>(kMostRank));
  } else {
    tint.scale = {tint.scale.map, ScaleKind::Linear, 0.0f, kMostNats, 1e-3f};
    tint.scale_text = "0 … ≥ " + short_text(static_cast<double>(kMostNats)) + " nats, linear";
  }
}

// Net maps are signed: a pair, or a single second map.
bool signed_map(const HeadProgram& program) { return program.has_second(); }

}  // namespace

TokenTint make_token_tint(PanelContext& context, RunCache& memory, const std::string& name) {
  const State& state = context.state;
  const Theme& theme = context.theme();
  TokenTint tint;
  const bool attention = name == "attention";
  tint.of_keys = attention || name == "received";
  tint.title = name == "received"    ? "attention received"
               : attention           ? "attention of the query"
               : name == "lambda"    ? "λ of the query"
               : name == "rms"       ? "ρ of the query"
               : name == "norm_gain" ? "gain of the norm, per query"
               : name == "loss"      ? "loss of the token"
               : name == "rank"      ? "rank of the token"
               : name == "entropy"   ? "entropy of the prediction"
                                     : "none";
  if (name == "none") return tint;
  if (is_of_predictions(name)) {
    tint.value_name = name == "loss" ? "loss, nats" : name == "rank" ? "rank" : "entropy of its prediction, nats";
    tint.scale.map = theme.sequential();
    tint_by_prediction(tint, state, name);
    return tint;
  }
  const LayerSnapshot* layer = state.selected_layer();
  const std::optional<HeadRef> head = state.view.selection.head;
  const std::int64_t index = layer != nullptr && head ? layer->head_index(head->head) : -1;
  if (memory.run() == nullptr || index < 0) {
    tint.scale_text = "select a head";
    return tint;
  }
  const HeadProgram program = static_cast<std::size_t>(index) < layer->programs.size()
                                  ? layer->programs[static_cast<std::size_t>(index)]
                                  : HeadProgram();
  const HeadSeries& series = memory.series(*layer, head->head);
  const auto length = static_cast<std::size_t>(layer->length);
  tint.scale = {theme.sequential(), ScaleKind::Log10, 1e-4f, 1.0f, 1e-3f};
  const bool pair = program.has_first() && program.has_second();
  std::optional<std::int64_t> attended;  // the query whose row of the map it is

  if (name == "received") {
    tint.value_name = pair ? "net attention received" : "attention received";
    const std::span<const float> both = layer->row_values("keys/attention_received", head->head);
    const std::span<const float> net = layer->row_values("keys/attention_received_net", head->head);
    if (signed_map(program) && net.size() == length) {
      tint.values = net;
      tint.scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, 1e-3f};
      tint.scale_text = "key tokens, symlog, −1 … 1";
    } else if (both.size() == 2 * length) {
      tint.values = both.first(length);
      tint.scale_text = "key tokens, " + log_text(1e-4f, 1.0f);
    }
  } else if (attention) {
    const std::optional<std::int64_t> query =
        state.view.selection.query ? state.view.selection.query : state.hover.query;
    tint.value_name = "attention of query " + (query ? std::to_string(*query) : "");
    if (!query) {
      tint.scale_text = "pin a query: Shift and click on a token";
      return tint;
    }
    if (layer->maps == nullptr) {
      tint.scale_text = "the maps of this layer were not kept";
      return tint;
    }
    tint.row = context.tiles.row(layer->maps, head->head, kernels::WindowMap::Net, *query);
    if (tint.row == nullptr) {
      tint.scale_text = "row " + std::to_string(*query) + " is being computed";
      return tint;
    }
    tint.values = *tint.row;
    attended = query;
    if (signed_map(program)) tint.scale = {theme.diverging(), ScaleKind::Symlog, -1.0f, 1.0f, 1e-3f};
    tint.scale_text = "of query " + std::to_string(*query) +
                      (signed_map(program) ? ", symlog, −1 … 1" : ", " + log_text(1e-4f, 1.0f));
  } else if (name == "lambda") {
    tint.value_name = "λ";
    tint.values = series.lambda;
    tint.scale = {theme.lambda_map(), ScaleKind::Linear, 0.0f, 1.0f, 1e-3f};
    tint.scale_text = "0 … 1, linear";
    if (tint.values.empty() && series.kept) tint.scale_text = "a " + layer->kind + " head has no λ";
  } else if (name == "rms") {
    tint.value_name = "ρ";
    tint.values = series.rho;
    const RobustRange range = robust_log_range(NumberView(series.rho));
    tint.scale.low = static_cast<float>(range.low);
    tint.scale.high = static_cast<float>(range.high);
    tint.scale_text = "log₁₀, " + short_text(range.low) + " … " + short_text(range.high);
  } else if (name == "norm_gain") {
    tint.value_name = "gain";
    tint.values = series.gain;
    const double cap = 1.0 / std::sqrt(series.norm_epsilon);
    tint.scale.low = 1.0f;
    tint.scale.high = static_cast<float>(cap);
    tint.scale_text = "log₁₀, 1 … " + fixed_text(cap, 0) + " (the cap)";
    if (tint.values.empty() && series.kept) tint.scale_text = "a " + layer->kind + " head has no norm of its own";
  }
  if (tint.values.empty() && (tint.scale_text.empty() || !series.kept))
    tint.scale_text = "the run kept no values per token";
  mark_lost(tint, *layer, head->head, program, attended);
  if (tint.not_finite > 0)
    tint.scale_text += " · " + grouped_text(tint.not_finite) + " of " + grouped_text(layer->length) + " not finite";
  return tint;
}

std::vector<float> pooled_tint(std::span<const float> values, std::size_t width) {
  std::vector<float> pooled(width, std::nanf(""));
  for (std::size_t x = 0; x < width; ++x) {
    const std::size_t begin = x * values.size() / width, end = std::max(begin + 1, (x + 1) * values.size() / width);
    for (std::size_t i = begin; i < std::min(end, values.size()); ++i)
      if (!std::isnan(values[i]) && (std::isnan(pooled[x]) || std::abs(values[i]) > std::abs(pooled[x])))
        pooled[x] = values[i];
  }
  return pooled;
}

}  // namespace headroom
