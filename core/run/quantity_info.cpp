#include "core/run/quantity_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/base/capitals.h"
#include "core/base/edit_distance.h"
#include "core/base/number_text.h"
#include "core/measure/circuit_quantities.h"
#include "core/measure/quantity.h"
#include "core/run/ablation_way.h"

namespace headroom {
namespace {

using Group = QuantityGroup;

// What is added to a quantity of the run file.
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
      {"common_mean_share", "share of the common mean", "mean part", Group::ContextRms, {}},
      {"value_correlation", "correlation of values", "value corr.", Group::ContextRms, {}},
      {"value_independent_count", "values count as", "n eff.", Group::ContextRms, {}, true},
      {"value_effective_rank", "effective rank of values", "value rank", Group::ContextRms, {}},
      {"value_size_spread", "spread of value sizes", "size spread", Group::ContextRms, {}},
      {"sign_coherence", "coherence K", "K", Group::ContextRms, {}, true},
      {"sign_coherence_interval", "K with random signs", "K, signs", Group::ContextRms, {}, true},
      {"sign_p", "p against random signs", "sign p", Group::ContextRms, {}, true},
      {"sign_rows_below_bound", "below with random signs", "below, signs", Group::ContextRms, kShare},
      {"sign_rows_above_bound", "above with random signs", "above, signs", Group::ContextRms, kShare},
      {"centred_rows_below_bound", "below without the mean", "below, centred", Group::ContextRms, kShare},
      {"centred_rows_above_bound", "above without the mean", "above, centred", Group::ContextRms, kShare},
      {"hull_distance_median", "least ρ within reach", "least ρ", Group::ContextRms, {}},
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
      {"rounding_bias_t", "bias in bfloat16, t", "bf16 bias t", Group::Logits, {}, true},
      {"rounding_bias", "bias in bfloat16, of RMS", "bf16 bias", Group::Logits, {}, true},
      {"rounding_noise", "error in bfloat16, of RMS", "bf16 error", Group::Logits, {}, true},
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
      {"output_cosine_mean", "cosine of the two outputs", "output cos.", Group::Differential, kSigned},
      {"norm_gain_median", "norm gain, median", "norm gain", Group::Differential, {}, true},
      {"norm_gain_max", "norm gain, largest", "max gain", Group::Differential, {}, true},
      {"gate_mean", "gate mean", "gate", Group::Gate, kShare},
      {"gated_rms_relative_mean", "mean ρ after the gate", "gated ρ", Group::Gate, {}, true},
      {"gated_rows_above_bound", "rows above 1 after the gate", "gated above", Group::Gate, kShare},
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
  if (name == axis::kCentring) axis.labels = {"raw", "centred"};
  if (name == axis::kTail) axis.labels = {"aligned", "cancelling"};
  if (name == axis::kEnd) axis.labels = {"low", "high"};
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
  if (info.name == "copying_score") info.threshold = 0.9;
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

std::string quantity_heading(const QuantityRef& ref) { return capitalised(quantity_title(ref)); }

int quantity_decimals(std::string_view name) {
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const auto begins = [name](std::string_view part) { return name.substr(0, part.size()) == part; };
  const auto holds = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (holds("position") || name == "kv_head" || name == "rounds_to_one") return 0;
  if (begins("logit") || holds("distance") || begins("norm_gain") || begins("query_norm") || begins("key_norm"))
    return 1;
  if (begins("rows_below") || begins("rows_inside") || begins("rows_above") || holds("percent")) return 1;
  if (begins("coherence") || begins("effective_keys") || name == "rounds_to_one_mean" || holds("kappa")) return 2;
  if (begins("entropy") && !holds("normalized")) return 2;
  return 3;
}

std::string number_text(const QuantityInfo& info, double value) {
  if (info.linear_to > 0.0 && !std::isnan(value)) return signed_text(value, info.decimals);
  return fixed_text(shown_value(info, value), info.decimals);
}

}  // namespace headroom
