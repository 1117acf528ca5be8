// The checkpoints of a series: which one is shown, and the curves of heads over all of them. Main thread only.
#pragma once

#include "app/panels/corpus/corpus_view.h"

namespace headroom {

// Draws both into the upper part of `body`; returns what is left.
[[nodiscard]] Rect draw_corpus_steps(PanelContext& context, const CorpusView& view, Rect body);

}  // namespace headroom
