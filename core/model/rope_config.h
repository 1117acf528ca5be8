// The rotary embedding as configs describe it, in both spellings of transformers.
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "core/model/config_reader.h"
#include "core/model/rope.h"

namespace headroom {

// What holds where a config says nothing, and the keys under which it says something.
struct RopeDefaults {
  RopeLayout layout = RopeLayout::HalfSplit;
  double theta = 10000.0;
  std::string_view theta_key = "rope_theta";
  std::string_view partial_key = {};  // empty: all channels of a head rotate
  double share = 1.0;                 // of a head's channels, the first ones
  // Tokens of images have three positions (mrope_section, mrope_interleaved), which are one for text.
  bool three_positions = false;
};

// rope_theta and rope_scaling, or rope_parameters (transformers ≥ 5), for heads of `head_dim` channels.
[[nodiscard]] Result<RopeSpec> read_rope(ConfigReader& config, const RopeDefaults& defaults, std::int64_t head_dim,
                                         std::int64_t max_positions);

// Where layers with a window rotate otherwise: rope_parameters by kind of layer (transformers ≥ 5), or a theta of their
// own under sliding.theta_key, without the scaling of the others.
struct LayerRopes {
  RopeSpec full, sliding;
};
[[nodiscard]] Result<LayerRopes> read_layer_ropes(ConfigReader& config, const RopeDefaults& full,
                                                  const RopeDefaults& sliding, std::int64_t head_dim,
                                                  std::int64_t max_positions);

}  // namespace headroom
