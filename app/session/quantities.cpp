#include "app/session/quantities.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "app/plot/number_text.h"
#include "app/session/importance.h"
#include "core/base/numbers.h"
#include "core/circuits/circuit_quantities.h"
#include "core/measure/quantity.h"

namespace headroom {
namespace {

using Group = QuantityGroup;

// What the window adds to a quantity of the run file.
struct Looks {
  std::string_view name, title, column;
  Group group;
  std::optional<Range> natural;
  bool log = false, centred = false;
};

constexpr Range kShare{0.0, 1.0}, kSigned{-1.0, 1.0};

const std::vector<Looks>& looks() {
  static const std::vector<Looks> table = {
      {"sink_score", "sink score α₀", "sink α₀", Group::Sinks, kShare},
      {"sink_score_net", "net sink score", "net sink", Group::Sinks, Range{-1.0, 1.0}, false, true},
      {"sink_score_absolute", "absolute share of key 0", "abs. sink", Group::Sinks, kShare},
      {"top_sink_position", "top sink position", "top sink", Group::Sinks, {}},
      {"top_sink_score", "top sink score", "top sink score", Group::Sinks, kShare},
      {"top_key_mass", "share of the top keys", "top keys", Group::Sinks, kShare},
      {"top_key_position", "most attended keys", "top key", Group::Sinks, {}},
      {"value_drain", "value drain", "value drain", Group::Sinks, {}},
      {"implicit_sink_mass", "implicit sink mass", "implicit mass", Group::Sinks, kShare},
      {"context_rms_relative_mean", "mean ρ", "mean ρ", Group::ContextRms, {}, true},
      {"context_rms_mean", "mean RMS", "mean RMS", Group::ContextRms, {}, true},
      {"context_rms_min", "smallest RMS", "min RMS", Group::ContextRms, {}, true},
      {"context_rms_max", "largest RMS", "max RMS", Group::ContextRms, {}, true},
      {"context_rms_quantile", "RMS quantile", "RMS quantile", Group::ContextRms, {}, true},
      {"coherence_mean", "coherence κ", "coherence κ", Group::ContextRms, {}, true},
      {"rows_below_bound", "rows below bound", "below, %", Group::ContextRms, kShare},
      {"rows_inside_bound", "rows inside bound", "inside, %", Group::ContextRms, kShare},
      {"rows_above_bound", "rows above bound", "above, %", Group::ContextRms, kShare},
      {"finite_rows", "finite rows", "finite rows", Group::ContextRms, {}},
      {"value_mean_share", "value mean share", "mean share", Group::ContextRms, kShare},
      {"weight_l2_mean", "mean ‖w‖₂", "mean ‖w‖₂", Group::Map, {}},
      {"weight_l1_mean", "mean ‖w‖₁", "mean ‖w‖₁", Group::Map, {}},
      {"entropy_normalized_mean", "entropy / ln n", "entropy / ln n", Group::Map, kShare},
      {"entropy_mean", "entropy", "entropy", Group::Map, {}},
      {"effective_keys_mean", "effective keys", "eff. keys", Group::Map, {}, true},
      {"induction_score", "induction", "induction", Group::Map, kShare},
      {"previous_token_score", "previous token", "previous", Group::Map, kShare},
      {"self_score", "self", "self", Group::Map, kShare},
      {"mean_distance", "mean distance", "distance", Group::Map, {}},
      {"kv_head", "key head", "key head", Group::Map, {}},
      {"logit_max", "largest logit", "max logit", Group::Logits, {}},
      {"logit_min", "smallest logit", "min logit", Group::Logits, {}},
      {"logit_abs_max", "largest |logit|", "max |logit|", Group::Logits, {}},
      {"logit_max_raw", "largest logit before the cap", "raw logit", Group::Logits, {}},
      {"rounds_to_one_mean", "N₁: weights that round to 1", "N₁", Group::Logits, {}, true},
      {"rounds_to_one_several", "rows with N₁ ≥ 2", "N₁ ≥ 2", Group::Logits, kShare},
      {"rounding_bias_t", "bias of weights in bfloat16, t", "bf16 bias t", Group::Logits, {}, true},
      {"rounding_bias", "bias of weights in bfloat16, of RMS", "bf16 bias", Group::Logits, {}, true},
      {"rounding_noise", "error of weights in bfloat16, of RMS", "bf16 error", Group::Logits, {}, true},
      {"query_norm_max", "largest query norm", "max ‖q‖", Group::Logits, {}},
      {"key_norm_max", "largest key norm", "max ‖k‖", Group::Logits, {}},
      {"lambda_mean", "λ mean", "λ mean", Group::Differential, kShare},
      {"lambda_std", "λ standard deviation", "λ sd", Group::Differential, {}},
      {"lambda_quantile", "λ quantile", "λ quantile", Group::Differential, kShare},
      {"negative_mass_mean", "negative mass", "neg. mass", Group::Differential, kShare},
      {"map_cosine_mean", "map cosine", "map cosine", Group::Differential, kShare},
      {"output_cancellation_mean", "output cancellation", "output canc.", Group::Differential, {}},
      {"energy_cancellation_mean", "energy cancellation", "energy canc.", Group::Differential, {}},
      {"weight_cancellation_mean", "weight cancellation", "weight canc.", Group::Differential, kShare},
      {"norm_gain_median", "norm gain, median", "norm gain", Group::Differential, {}, true},
      {"norm_gain_max", "norm gain, largest", "max gain", Group::Differential, {}, true},
      {"gate_mean", "gate mean", "gate", Group::Gate, kShare},
      {"copying_score", "copying score", "copying", Group::Circuits, kSigned, false, true},
      {"ov_effective_rank", "effective rank of OV", "OV eff. rank", Group::Circuits, {}},
      {"ov_largest_singular_value", "OV σ₁", "OV σ₁", Group::Circuits, {}, true},
      {"qk_effective_rank", "effective rank of QK", "QK eff. rank", Group::Circuits, {}},
      {"qk_largest_singular_value", "QK σ₁", "QK σ₁", Group::Circuits, {}, true},
      {"output_alignment_mean", "W_O alignment", "alignment", Group::Circuits, kSigned, false, true},
      {"query_alignment", "alignment of the two query blocks", "query pair", Group::Circuits, kSigned, false, true},
      {"qk_alignment", "alignment of the two QK circuits", "QK pair", Group::Circuits, kSigned, false, true},
  };
  return table;
}

std::string plain_number(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

QuantityAxis make_axis(std::string_view name) {
  QuantityAxis axis{std::string(name), {}};
  if (name == axis::kComponent) axis.labels = {"first", "second"};
  if (name == axis::kBound) axis.labels = {"softmax", "diff_v2", "variant"};
  if (name == axis::kQuantile)
    for (const double point : quantile_points()) axis.labels.push_back(plain_number(point));
  if (name == axis::kTopK)
    for (const std::int64_t point : top_k_points()) axis.labels.push_back(std::to_string(point));
  if (name == axis::kRank)
    for (std::int64_t rank = 0; rank < kRanks; ++rank) axis.labels.push_back(std::to_string(rank));
  return axis;
}

// What an axis stands at where nothing is said.
std::size_t usual_position(const QuantityAxis& axis) {
  if (axis.name == axis::kBound) return 2;
  if (axis.name == axis::kQuantile) return 5;
  if (axis.name == axis::kTopK) return 2;
  return 0;
}

QuantityInfo make_info(const Quantity& quantity) {
  QuantityInfo info;
  info.name = quantity.name;
  info.title = info.column = quantity.long_name;
  info.long_name = quantity.long_name;
  info.definition = definition_of(quantity);
  info.units = quantity.units == "1" ? "" : quantity.units;
  info.decimals = quantity_decimals(quantity.name);
  info.whole = quantity.type == ElementType::Int32;
  if (info.whole) info.decimals = 0;
  info.percent = info.name.starts_with("rows_") || info.name == "rounding_bias" || info.name == "rounding_noise";
  info.sink_null = info.name == "sink_score";
  if (info.name == "value_drain") info.reference = 1.0;
  for (const std::string_view axis : quantity.axes) info.axes.push_back(make_axis(axis));
  for (const QuantityAxis& axis : info.axes)
    info.default_index = info.default_index * axis.labels.size() + usual_position(axis);
  return info;
}

// What the loss changes by without a head: not in run files, but beside a run (RunSnapshot::beside).
QuantityInfo loss_change_info(AblationWay way) {
  const AblationWayInfo& of = way_info(way);
  QuantityInfo info;
  info.name = of.quantity;
  info.title = std::string("loss change, ") + of.title;
  info.column = std::string("Δ ") + of.title;
  info.long_name = "change of the next-token loss";
  info.definition = std::string("mean over tokens t ≥ 1 of loss_t with ") + of.change + " in the head − loss_t";
  info.units = "nat";
  info.group = Group::Importance;
  info.decimals = 4;
  info.centred = true;
  info.linear_to = kSmallLossChange;
  return info;
}

std::vector<QuantityInfo> make_infos() {
  std::vector<QuantityInfo> infos;
  for (const AblationWay way : kAblationWays) infos.push_back(loss_change_info(way));
  for (const Looks& look : looks()) {
    // Numbers of circuits stand beside a run (RunSnapshot::beside).
    const Quantity* quantity =
        look.group == Group::Circuits ? find_circuit_quantity(look.name) : find_quantity("", look.name);
    if (quantity == nullptr) continue;
    QuantityInfo info = make_info(*quantity);
    info.title = look.title;
    info.column = look.column;
    info.group = look.group;
    info.natural = look.natural;
    info.log = look.log;
    info.centred = look.centred;
    if (look.group == Group::Circuits && !look.natural) info.decimals = look.log ? 2 : 1;
    infos.push_back(std::move(info));
  }
  for (const Quantity& quantity : head_quantities()) {
    const bool known = std::ranges::any_of(looks(), [&](const Looks& look) { return look.name == quantity.name; });
    if (quantity.group.empty() && !known) infos.push_back(make_info(quantity));
  }
  std::ranges::stable_sort(infos, {}, &QuantityInfo::group);
  return infos;
}

std::vector<std::size_t> positions_of(const QuantityInfo& info, std::size_t index) {
  std::vector<std::size_t> positions(info.axes.size());
  for (std::size_t a = info.axes.size(); a-- > 0;) {
    positions[a] = index % info.axes[a].labels.size();
    index /= info.axes[a].labels.size();
  }
  return positions;
}

std::size_t index_of(const QuantityInfo& info, std::span<const std::size_t> positions) {
  std::size_t index = 0;
  for (std::size_t a = 0; a < info.axes.size(); ++a) index = index * info.axes[a].labels.size() + positions[a];
  return index;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The position that `part` names on the axis: a label first, then a plain index.
std::optional<std::size_t> position_of(const QuantityAxis& axis, const std::string& part) {
  const auto label = std::ranges::find(axis.labels, part);
  if (label != axis.labels.end()) return static_cast<std::size_t>(label - axis.labels.begin());
  if (axis.name == axis::kTopK || axis.name == axis::kRank) return {};  // their labels are numbers
  if (axis.name == axis::kQuantile) {
    double wanted = 0.0;
    const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), wanted);
    if (fault != std::errc{} || end != part.data() + part.size()) return {};
    const auto point = std::ranges::find(quantile_points(), wanted);
    if (point == quantile_points().end()) return {};
    return static_cast<std::size_t>(point - quantile_points().begin());
  }
  std::size_t index = 0;
  const auto [end, fault] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (fault != std::errc{} || end != part.data() + part.size() || index >= axis.labels.size()) return {};
  return index;
}

// Edits that turn one word into the other, for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string nearest_name(std::string_view word) {
  const QuantityInfo* best = nullptr;
  std::size_t best_distance = 4;
  for (const QuantityInfo& info : quantity_infos()) {
    const std::size_t distance = edit_distance(word.substr(0, 64), info.name);
    if (distance < best_distance) best = &info, best_distance = distance;
  }
  return best == nullptr ? "" : best->name;
}

}  // namespace

const char* group_title(QuantityGroup group) {
  switch (group) {
    case Group::Sinks: return "Sinks";
    case Group::ContextRms: return "Context RMS";
    case Group::Map: return "Map";
    case Group::Logits: return "Logits";
    case Group::Differential: return "Differential";
    case Group::Circuits: return "Circuits, from weights";
    case Group::Importance: return "Loss changes";
    default: return "Gate";
  }
}

namespace {

// [layers, heads, elements]; null where none were measured.
const std::vector<double>* measured_beside(const RunSnapshot& run, const QuantityInfo& info) {
  const auto found = run.beside.find(info.name);
  const std::size_t size = run.layers.size() * run.heads.size() * info.elements();
  return found != run.beside.end() && found->second.size() == size ? &found->second : nullptr;
}

}  // namespace

std::size_t QuantityInfo::elements() const {
  std::size_t count = 1;
  for (const QuantityAxis& axis : axes) count *= axis.labels.size();
  return count;
}

std::span<const QuantityInfo> quantity_infos() {
  static const std::vector<QuantityInfo> infos = make_infos();
  return infos;
}

const QuantityInfo* find_quantity_info(std::string_view name) {
  for (const QuantityInfo& info : quantity_infos())
    if (info.name == name) return &info;
  return nullptr;
}

const QuantityInfo& row_distance_info() {
  static const QuantityInfo info = [] {
    QuantityInfo made;
    made.name = kRowDistance;
    made.title = "row distance";
    made.column = "½‖B−A‖₁";
    made.long_name = "Row distance of two runs";
    made.definition =
        "Half the sum of the absolute differences of a row, mean over rows; 0 the same, 1 disjoint (weights that sum to 1)";
    return made;
  }();
  return info;
}

Result<std::size_t> element_index(const QuantityInfo& info, std::span<const std::string> parts) {
  if (parts.empty()) return info.default_index;
  std::vector<std::size_t> positions = positions_of(info, info.default_index);
  if (parts.size() == info.axes.size()) {
    for (std::size_t a = 0; a < parts.size(); ++a) {
      const auto position = position_of(info.axes[a], parts[a]);
      if (!position) {
        return Error(ErrorCode::InvalidArgument, info.name + " has no element “" + parts[a] + "”")
            .wanted(joined(info.axes[a].labels), parts[a]);
      }
      positions[a] = *position;
    }
    return index_of(info, positions);
  }
  if (parts.size() == 1) {
    for (std::size_t a = 0; a < info.axes.size(); ++a)
      if (const auto position = position_of(info.axes[a], parts[0])) {
        positions[a] = *position;
        return index_of(info, positions);
      }
  }
  std::string expected = info.axes.empty() ? "no brackets" : "";
  for (const QuantityAxis& axis : info.axes) expected += (expected.empty() ? "" : "; ") + joined(axis.labels);
  return Error(ErrorCode::InvalidArgument,
               info.axes.empty() ? info.name + " is one number per head" : info.name + " has no such element")
      .wanted(expected, "[" + joined({parts.begin(), parts.end()}) + "]");
}

Result<QuantityRef> parse_quantity(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const std::string_view name = text.substr(0, bracket);
  const QuantityInfo* info = find_quantity_info(name);
  if (info == nullptr) {
    Error error(ErrorCode::InvalidArgument, "there is no quantity “" + std::string(name) + "”");
    const std::string nearest = nearest_name(name);
    if (!nearest.empty()) error.advise("did you mean " + nearest + "?");
    error.at_offset(0);
    return error;
  }
  std::vector<std::string> parts;
  if (bracket != std::string_view::npos) {
    if (text.back() != ']')
      return Error(ErrorCode::InvalidArgument, "the bracket of " + info->name + " is not closed").at_offset(bracket);
    std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
    while (true) {
      const std::size_t comma = inside.find(',');
      std::string_view part = inside.substr(0, comma);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      parts.emplace_back(part);
      if (comma == std::string_view::npos) break;
      inside.remove_prefix(comma + 1);
    }
  }
  Result<std::size_t> index = element_index(*info, parts);
  if (!index) {
    Error error = index.error();
    error.at_offset(bracket);
    return error;
  }
  return QuantityRef{info, *index};
}

std::string element_title(const QuantityInfo& info, std::size_t index) {
  const std::vector<std::size_t> positions = positions_of(info, index);
  std::string text;
  for (std::size_t a = 0; a < positions.size(); ++a) text += (a == 0 ? "" : ", ") + info.axes[a].labels[positions[a]];
  return text;
}

std::string quantity_text(const QuantityRef& ref) {
  if (ref.info == nullptr) return "";
  if (ref.index == ref.info->default_index) return ref.info->name;
  const std::vector<std::size_t> positions = positions_of(*ref.info, ref.index);
  std::string text;
  for (std::size_t a = 0; a < positions.size(); ++a)
    text += (a == 0 ? "" : ",") + ref.info->axes[a].labels[positions[a]];
  return ref.info->name + "[" + text + "]";
}

std::string quantity_title(const QuantityRef& ref) {
  if (ref.info == nullptr) return "";
  const bool plain = ref.index == ref.info->default_index && ref.info->name != "context_rms_quantile" &&
                     ref.info->name != "lambda_quantile" && ref.info->name != "top_key_mass";
  return plain ? ref.info->title : ref.info->title + ", " + element_title(*ref.info, ref.index);
}

std::string quantity_heading(const QuantityRef& ref) {
  std::string title = quantity_title(ref);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string number_text(const QuantityInfo& info, double value) {
  if (info.linear_to > 0.0 && !std::isnan(value)) return signed_text(value, info.decimals);
  return fixed_text(shown_value(info, value), info.decimals);
}

double head_value(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer, std::int64_t head) {
  if (ref.info != nullptr && (ref.info->group == Group::Circuits || ref.info->group == Group::Importance)) {
    const std::vector<double>* const values = measured_beside(run, *ref.info);
    const auto at_layer = std::ranges::lower_bound(run.layers, layer);
    const auto at_head = std::ranges::lower_bound(run.heads, head);
    if (values == nullptr || at_layer == run.layers.end() || *at_layer != layer || at_head == run.heads.end() ||
        *at_head != head)
      return kNaN;
    const auto row = static_cast<std::size_t>(at_layer - run.layers.begin()) * run.heads.size() +
                     static_cast<std::size_t>(at_head - run.heads.begin());
    return (*values)[row * ref.info->elements() + ref.index];
  }
  const LayerSnapshot* snapshot = run.layer(layer);
  if (ref.info == nullptr || snapshot == nullptr) return kNaN;
  const std::span<const double> values = snapshot->values(ref.info->name, head);
  if (ref.index >= values.size()) return kNaN;
  const double value = values[ref.index];
  return ref.info->whole && value < 0.0 ? kNaN : value;
}

std::vector<double> head_values(const RunSnapshot& run, const QuantityRef& ref) {
  std::vector<double> values(run.layers.size() * run.heads.size(), kNaN);
  if (ref.info == nullptr) return values;
  if (ref.info->group == Group::Circuits || ref.info->group == Group::Importance) {
    const std::vector<double>* const found = measured_beside(run, *ref.info);
    for (std::size_t row = 0; found != nullptr && row < values.size(); ++row)
      values[row] = (*found)[row * ref.info->elements() + ref.index];
    return values;
  }
  for (std::size_t l = 0; l < run.layers.size() && l < run.data.size(); ++l) {
    const LayerSnapshot* layer = run.data[l].get();
    if (layer == nullptr || layer->heads.empty()) continue;
    const auto found = layer->summary.find(ref.info->name);
    if (found == layer->summary.end()) continue;
    const std::size_t stride = found->second.size() / layer->heads.size();
    if (ref.index >= stride) continue;
    for (std::size_t h = 0; h < run.heads.size(); ++h) {
      const std::int64_t at = h < layer->heads.size() && layer->heads[h] == run.heads[h]
                                  ? static_cast<std::int64_t>(h)
                                  : layer->head_index(run.heads[h]);
      if (at < 0) continue;
      const double value = found->second[static_cast<std::size_t>(at) * stride + ref.index];
      values[l * run.heads.size() + h] = ref.info->whole && value < 0.0 ? kNaN : value;
    }
  }
  return values;
}

std::int64_t rows_not_finite(const LayerSnapshot& layer, std::int64_t head) {
  return std::ranges::count_if(layer.row_values("rows/weight_sum", head),
                               [](float sum) { return !std::isfinite(sum); });
}

std::string missing_reason(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer, std::int64_t head) {
  const LayerSnapshot* snapshot = run.layer(layer);
  if (snapshot == nullptr) {
    if (run.complete) return "The layer is not in this run.";
    return "The layer is not computed yet.";
  }
  if (ref.info == nullptr) return "There is no such quantity.";
  if (ref.info->group == Group::Circuits && !run.beside.contains(ref.info->name))
    return "No circuits are measured: press O.";
  const std::string& name = ref.info->name;
  const std::string what = "A " + snapshot->kind + " head";
  const std::int64_t index = snapshot->head_index(head);
  const HeadProgram* program = index >= 0 && index < static_cast<std::int64_t>(snapshot->programs.size())
                                   ? &snapshot->programs[static_cast<std::size_t>(index)]
                                   : nullptr;
  const bool pair = program && program->has_first() && program->has_second();
  if (ref.info->group == Group::Importance) {
    if (way_of_quantity(name) == AblationWay::SecondOff && program && !program->has_second())
      return what + " has one map, and no second one.";
    return run.beside.contains(name) ? "Its loss change is not computed yet."
                                     : "No loss change is computed: press I and choose a way.";
  }
  if (name.starts_with("norm_gain") && !(program && program->post_norm))
    return what + " has no norm of its own; only diff_v1 heads do.";
  if (name == "gate_mean" && !(program && program->gated)) return what + " has no gate.";
  if (name.starts_with("lambda") && !pair) return what + " has one map and no λ.";
  if (ref.info->group == Group::Differential && !pair) return what + " has one map: there is nothing to subtract.";
  if (ref.info->per_component() && ref.index >= ref.info->elements() / 2 && !pair)
    return what + " has one map, and no second one.";
  if (const std::int64_t lost = rows_not_finite(*snapshot, head); lost > 0)
    return std::to_string(lost) + " of its " + std::to_string(snapshot->length) + " rows are not finite.";
  if (ref.info->group == Group::Circuits)
    return "It is not measured yet, or not defined for this head: the Circuit view says which.";
  if (name == "induction_score") return "No token of the prompt that counts occurred before.";
  if (name.starts_with("sink_score")) return "A what-if hides key 0.";
  return "The value is not a number for this head.";
}

double null_level(const RunSnapshot& run, const QuantityRef& ref) {
  return ref.info != nullptr && ref.info->sink_null ? run.sink_null : kNaN;
}

namespace {

std::vector<std::string> with_values(const RunSnapshot& run, std::span<const std::string_view> names) {
  std::vector<std::string> result;
  for (const std::string_view name : names) {
    const QuantityInfo* info = find_quantity_info(name);
    if (info == nullptr) continue;
    const std::vector<double> values = head_values(run, {info, info->default_index});
    // Nothing but zeros (the negative mass of softmax heads) is no news.
    if (std::ranges::any_of(values, [](double v) { return !std::isnan(v) && v != 0.0; })) result.emplace_back(name);
  }
  return result;
}

}  // namespace

std::vector<std::string> circuit_columns(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {
      "copying_score",        "ov_largest_singular_value", "ov_effective_rank", "qk_largest_singular_value",
      "previous_token_score", "induction_score",           "sink_score",        "output_alignment_mean"};
  return with_values(run, kNames);
}

std::vector<std::string> usual_columns(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {"sink_score",
                                                "context_rms_relative_mean",
                                                "weight_l2_mean",
                                                "coherence_mean",
                                                "value_drain",
                                                "entropy_normalized_mean",
                                                "effective_keys_mean",
                                                "logit_max",
                                                "induction_score",
                                                "rows_inside_bound",
                                                "lambda_mean",
                                                "negative_mass_mean",
                                                "map_cosine_mean",
                                                "norm_gain_median",
                                                "gate_mean"};
  std::vector<std::string> columns = with_values(run, kNames);
  return columns.empty() ? circuit_columns(run) : columns;  // beside circuits, before anything ran
}

std::vector<std::string> usual_numbers(const RunSnapshot& run) {
  static constexpr std::string_view kNames[] = {
      "sink_score",      "context_rms_relative_mean", "weight_l2_mean",      "coherence_mean",
      "value_drain",     "entropy_normalized_mean",   "effective_keys_mean", "logit_max",
      "induction_score", "previous_token_score",      "implicit_sink_mass",  "gate_mean"};
  return with_values(run, kNames);
}

}  // namespace headroom
