// The attention of the token that the large text points at: of the selected head, or a mean over heads, with the keys
// that get most. The row of a head comes from the tile store; a mean is added up over some frames. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

struct PointedAttention {
  std::string name;                                   // "L17.H4", "layer 17", "mean of 270"
  std::string reason;                                 // why there are no weights (yet)
  std::shared_ptr<const std::vector<float>> weights;  // by key; NaN where masked
  bool is_signed = false;                             // some of it is a difference of maps
  std::int64_t done = 1, all = 1;                     // heads of the mean that are in it
  std::vector<std::int64_t> strongest;                // keys by magnitude, at most kMostKeys
  std::int64_t visible = 0;                           // keys with a weight

  static constexpr std::size_t kMostKeys = 16;
  [[nodiscard]] float weight(std::int64_t key) const { return (*weights)[static_cast<std::size_t>(key)]; }
  // Of the weights of all keys, and −Σ a ln a of those above 0.
  [[nodiscard]] double sum() const;
  [[nodiscard]] double entropy() const;
};

// Under the pointer, else pinned as query, else the last one; nothing without tokens.
[[nodiscard]] std::optional<std::int64_t> pointed_token(const State& state);

[[nodiscard]] PointedAttention pointed_attention(PanelContext& context, RunCache& memory, std::int64_t token);

// The heads with the largest weights at one cell, by magnitude; as many as have been looked at so far, of those whose
// maps were kept.
struct KeyHeads {
  std::vector<std::pair<HeadRef, double>> heads;  // at most 8
  bool complete = false;
};
[[nodiscard]] KeyHeads heads_at(PanelContext& context, RunCache& memory, std::int64_t query, std::int64_t key);

}  // namespace headroom
