// What the tokens are tinted by: a value per token, its colours, and words for both. Pure but for the row of the map,
// which the tile store computes; main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"
#include "app/plot/color_map.h"

namespace headroom {

struct TokenTint {
  std::string title;                              // "attention received"
  std::string scale_text;                         // "key tokens, log₁₀, 10⁻⁴ … 1", or why there is nothing
  std::string value_name;                         // for the tooltip
  std::span<const float> values;                  // by token; empty: no tint; NaN: nothing there; infinite: not finite
  std::shared_ptr<const std::vector<float>> row;  // keeps the values, where they are not the run's own
  std::int64_t not_finite = 0;                    // tokens
  bool of_keys = true;                            // the values are of keys; false: of queries
  ColorScale scale;
};

// The tint `name`: of the selected head ("received", "attention", "lambda", "rms", "norm_gain"), of the token itself
// ("loss", "rank", "entropy"), or none.
[[nodiscard]] TokenTint make_token_tint(PanelContext& context, RunCache& memory, const std::string& name);

// The largest magnitude of the tokens under each of `width` pixels, with its sign; NaN where there is none.
[[nodiscard]] std::vector<float> pooled_tint(std::span<const float> values, std::size_t width);

}  // namespace headroom
