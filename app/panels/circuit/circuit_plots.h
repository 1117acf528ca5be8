// The plots of circuits: singular values, eigenvalues, alignment of W_O in the layer and over all layers. Main thread
// only.
#pragma once

#include <cstddef>

#include "app/panels/panel.h"
#include "app/session/model_circuits.h"

namespace headroom {

// One head among the circuits of its model.
struct CircuitView {
  PanelContext& context;
  const ModelCircuits& circuits;
  const LayerCircuits& layer;
  HeadRef head;

  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(head.head); }
  [[nodiscard]] const HeadCircuits& mine() const { return layer.heads[index()]; }
};

// Below its title. `component`: of QK.
void draw_ov_spectrum(const CircuitView& view, Rect area);
void draw_qk_spectrum(const CircuitView& view, Rect area);
void draw_eigenvalues(const CircuitView& view, Rect area);
void draw_alignment(const CircuitView& view, Rect area);
void draw_alignment_by_layer(const CircuitView& view, Rect area);

}  // namespace headroom
