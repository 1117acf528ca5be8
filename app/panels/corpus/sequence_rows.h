// The sequences of a corpus in the order that they are asked for: what their table and their thumbnails share. Main
// thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/corpus/corpus_view.h"
#include "app/panels/panel.h"

namespace headroom {

// What follows from the numbers of sequences and is too much for each frame.
struct SequenceRows {
  std::vector<std::int64_t> over;  // by sequence; empty: there is no threshold, or no numbers
  std::vector<std::size_t> order;
  double low = 0.0, high = 1.0;  // of the bars
};
[[nodiscard]] SequenceRows sequence_rows(const CorpusView& view, const CorpusState& wish);

// What a sequence is sorted by, in words; "–" where it has no such number. Of a number in the plan and of a document:
// its loss.
[[nodiscard]] std::string sequence_number_text(const CorpusView& view, const SequenceRows& rows, CorpusSort sort,
                                               std::size_t sequence);
// Whether the selected head is an outlier in it.
[[nodiscard]] bool marks_outlier(const CorpusView& view, std::size_t sequence);

// The pointer on a sequence's place: it is hovered, chosen by a click and opened by a double click.
void act_on_sequence(PanelContext& context, const CorpusView& view, std::size_t sequence, const Interaction& hit);

// The chosen one comes into view when it is another one: `place` is where it lies, `size` pixels for each, in the
// scrolled part of this name.
void scroll_to_chosen(PanelContext& context, const CorpusView& view, std::string_view name, std::size_t columns,
                      const SequenceRows& rows, float size);

// How they are listed, and copies of the table; below either list.
inline constexpr float kSequencesFoot = 24.0f;
void draw_sequences_foot(PanelContext& context, Rect row);

}  // namespace headroom
