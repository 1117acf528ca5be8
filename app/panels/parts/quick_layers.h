// A quick what-if computes one head of one layer; every other layer of its run is that of the run it changes. Which of
// them hold with the change, and which are stale. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "app/session/state.h"

namespace headroom {

struct QuickLayers {
  std::int64_t computed = 0;  // the layer
  bool one_head = false;      // the change is in the computed head: the others of its layer are as they were
  bool before_same = true;    // no layer before is changed; false where the whole model is
  [[nodiscard]] bool stale(std::int64_t layer) const { return layer > computed || (layer < computed && !before_same); }
};
// Nothing where all layers of the run are its own: a run of a model, a complete what-if, no data.
[[nodiscard]] std::optional<QuickLayers> quick_layers(const RunEntry& run);

// Two runs that are compared, one of them perhaps a quick what-if. Borrows from them.
class ComparedLayers {
 public:
  ComparedLayers(const RunEntry& a, const RunEntry& b);
  // One of the runs holds this layer as it is without its change.
  [[nodiscard]] bool stale(std::int64_t layer) const { return quick_ && quick_->stale(layer); }
  // The change of the one cannot reach the head in the other.
  [[nodiscard]] bool same(HeadRef head) const;

 private:
  std::optional<QuickLayers> quick_;
  const RunEntry* run_ = nullptr;  // the quick one
  bool related_ = false;           // it changes the other
};

// The layer below whose row the atlas has the dash of stale layers: of a quick what-if beside the shown run, or of the
// shown run itself.
[[nodiscard]] std::optional<std::int64_t> stale_below(const State& state);

}  // namespace headroom
