// What-ifs: named changes of head programs, for the model, a layer or a head (core/io/RUN_FILE.md#what-ifs).
// The same names on the command line, in scripts and in a run file. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"

namespace headroom {

struct WhatIf {
  std::optional<std::int64_t> layer, head;  // absent: all of them
  std::string name, value;
  std::string text;  // as it was given
};

// "[L<layer>[.H<head>]:]NAME=VALUE"; InvalidArgument says what is wrong.
[[nodiscard]] Result<WhatIf> parse_what_if(std::string_view text);

// Whether it changes what all heads of a layer share, and therefore never one head alone.
[[nodiscard]] bool is_of_layers(const WhatIf& what_if);

struct WhatIfResult {
  ModelSpec model;
  std::vector<std::string> notes;  // per what-if: how many heads it changed
};

// Applies them in order, later ones over earlier ones. One that names a layer or head it does not fit is refused with
// the reason; without a scope it applies where it fits, and is refused where it fits nowhere.
[[nodiscard]] Result<WhatIfResult> apply_what_ifs(const ModelSpec& model, const std::vector<WhatIf>& what_ifs);

}  // namespace headroom
