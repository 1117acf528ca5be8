// The sequences of a corpus as small atlases: in each all heads by the quantity that is looked at. Main thread only.
#pragma once

#include <cstddef>

#include "app/panels/corpus/sequence_rows.h"

namespace headroom {

// Where the thumbnails lie, logical pixels; one is [layers, heads] cells, its name and its number below it. As large as
// leaves all of them in view, or of the usual size where not all can be.
struct SequenceTiles {
  float cell = 0.0f, width = 0.0f, height = 0.0f;  // of a head, and of all
  float across = 0.0f, down = 0.0f;                // from a thumbnail to the next
  std::size_t columns = 0, rows = 0;               // that there is room for; 0: none
};
[[nodiscard]] SequenceTiles lay_out_sequences(Rect body, std::size_t layers, std::size_t heads, std::size_t sequences);

// There is a quantity.
void draw_sequence_thumbnails(PanelContext& context, const CorpusView& view, const SequenceRows& rows, Rect body);

}  // namespace headroom
