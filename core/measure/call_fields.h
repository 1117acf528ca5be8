// The numbers of the group /calls as a table: each entry declares a dataset and takes it from a call's record.
// Immutable; safe from any thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/measure/layer_record.h"
#include "core/measure/quantity.h"

namespace headroom {

struct CallField {
  Quantity quantity;  // of each layer
  std::int64_t (*get)(const LayerRecord& record) = nullptr;
};

[[nodiscard]] std::span<const CallField> call_fields();

}  // namespace headroom
