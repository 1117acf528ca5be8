#include "core/run/missing_value.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/run/ablation_way.h"

namespace headroom {
namespace {

// Of a head whose weights do not sum to a number, where the run kept its rows.
std::int64_t rows_not_finite(const LayerSnapshot& layer, std::int64_t head) {
  return std::ranges::count_if(layer.row_values("rows/weight_sum", head),
                               [](float sum) { return !std::isfinite(sum); });
}

}  // namespace

std::string missing_reason(const RunSnapshot& run, const QuantityRef& ref, std::int64_t layer, std::int64_t head) {
  const LayerSnapshot* snapshot = run.layer(layer);
  if (snapshot == nullptr) {
    if (run.complete) return "The layer is not in this run.";
    return "The layer is not computed yet.";
  }
  if (ref.info == nullptr) return "There is no such quantity.";
  if (ref.info->group == QuantityGroup::Circuits && !run.beside.contains(ref.info->name))
    return "No circuits are measured: press O.";
  const std::string& name = ref.info->name;
  const std::string what = "A " + snapshot->kind + " head";
  const std::int64_t index = snapshot->head_index(head);
  const HeadProgram* program = index >= 0 && index < static_cast<std::int64_t>(snapshot->programs.size())
                                   ? &snapshot->programs[static_cast<std::size_t>(index)]
                                   : nullptr;
  const bool pair = program && program->has_first() && program->has_second();
  if (ref.info->group == QuantityGroup::Importance) {
    if (way_of_quantity(name) == AblationWay::SecondOff && program && !program->has_second())
      return what + " has one map, and no second one.";
    return run.beside.contains(name) ? "Its loss change is not computed yet."
                                     : "No loss change is computed: press I and choose a way.";
  }
  if (name.starts_with("norm_gain") && !(program && program->post_norm))
    return what + " has no norm of its own; only diff_v1 heads do.";
  if (name == "gate_mean" && !(program && program->gated)) return what + " has no gate.";
  if (name.starts_with("lambda") && !pair) return what + " has one map and no λ.";
  if (ref.info->group == QuantityGroup::Differential && !pair)
    return what + " has one map: there is nothing to subtract.";
  if (ref.info->per_component() && ref.index >= ref.info->elements() / 2 && !pair)
    return what + " has one map, and no second one.";
  if (const std::int64_t lost = rows_not_finite(*snapshot, head); lost > 0)
    return std::to_string(lost) + " of its " + std::to_string(snapshot->length) + " rows are not finite.";
  if (ref.info->group == QuantityGroup::Circuits)
    return "It is not measured yet, or not defined for this head: the Circuit view says which.";
  if (name == "induction_score") return "No token of the prompt that counts occurred before.";
  if (name.starts_with("sink_score")) return "A what-if hides key 0.";
  return "The value is not a number for this head.";
}

}  // namespace headroom
