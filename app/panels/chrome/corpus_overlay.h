// Which texts are run as a corpus, cut how, and into which file. Main thread only.
#pragma once

#include "app/panels/panel.h"

namespace headroom {

void draw_corpus(PanelContext& context, Rect window);
// While a file is chosen in its place: what was typed is there when it comes back.
void keep_corpus(PanelContext& context);

}  // namespace headroom
