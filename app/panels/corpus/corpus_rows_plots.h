// The rows of a corpus' selected head: how many lie where, and what they do as they see more keys. Main thread only.
#pragma once

#include "app/panels/corpus/corpus_view.h"

namespace headroom {

// One of the two, as the view says. The head is chosen, and there is a quantity.
void draw_corpus_rows(PanelContext& context, const CorpusView& view, Rect body);

}  // namespace headroom
