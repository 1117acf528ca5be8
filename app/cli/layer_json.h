// The facts of a model's layers as `inspect --json` gives them (app/README.md). Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/model/model_spec.h"

namespace headroom {

[[nodiscard]] nlohmann::json layers_json(const ModelSpec& model);
[[nodiscard]] nlohmann::json logits_json(const ModelSpec& model);

}  // namespace headroom
