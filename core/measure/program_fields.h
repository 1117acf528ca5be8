// The group /program as a table: each entry declares a dataset, takes it from a head's record or a layer's block, and
// puts it back into a head program. Immutable; safe from any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/measure/layer_record.h"
#include "core/measure/quantity.h"
#include "core/model/model_spec.h"

namespace headroom {

// Of each head. Numbers or text; neither: written elsewhere.
struct ProgramField {
  Quantity quantity;
  // `out` is −1 beforehand, and has one place, or those of the entry's axis.
  void (*get)(const HeadRecord& head, std::span<double> out) = nullptr;
  void (*set)(HeadProgram& program, std::span<const double> values) = nullptr;  // null: the program has no such field
  std::string (*get_text)(const HeadRecord& head) = nullptr;
  // Whether the text means something. `formula` says what does.
  bool (*set_text)(HeadProgram& program, std::string_view text) = nullptr;
};

// Of each layer, by its block.
struct LayerField {
  Quantity quantity;
  double (*get)(const BlockSpec& block) = nullptr;
};

[[nodiscard]] std::span<const ProgramField> program_fields();
[[nodiscard]] std::span<const LayerField> layer_fields();

}  // namespace headroom
