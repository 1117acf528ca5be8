// What changes of head programs and runs are called in the window. Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "app/session/state.h"

namespace headroom {

// A layer's kind of attention: "softmax", "off-by-one", "DIFF V2".
[[nodiscard]] std::string kind_of_attention(std::string_view kind);
// The changes of a run, or its name where there are none.
[[nodiscard]] std::string run_title(const RunEntry& run);
// What a run is beside the other: its changes, its kind of attention if these differ, else its name.
struct RunTitles {
  std::string a, b;
};
[[nodiscard]] RunTitles run_titles(const RunEntry& a, const RunEntry& b, const LayerSnapshot* layer_a,
                                   const LayerSnapshot* layer_b);

// "+.305", "−.05", "0" on bars: no leading zero.
[[nodiscard]] std::string delta_text(double value, int decimals);

}  // namespace headroom
