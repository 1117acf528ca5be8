// The sections of the head panel: what each is called, whether it applies to this head, how high it is and how it is
// drawn. Main thread only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/panels/heads_memory.h"
#include "app/panels/heads_parts.h"
#include "app/panels/panel.h"

namespace headroom {

// Everything a section may need of the selected head.
struct HeadPanelView {
  PanelContext& context;
  HeadsMemory& memory;
  const RunSnapshot& run;
  const LayerSnapshot& layer;
  HeadRef head;
  HeadProgram program;
  const HeadSeries& series;
  bool narrow = false, low = false, tall = false;  // a panel that is not wide; one that is not high; one that is

  [[nodiscard]] bool pair() const { return program.has_first() && program.has_second(); }
  [[nodiscard]] double value(std::string_view name, std::size_t index) const {
    return run.at(name, head.layer, head.head, index);
  }
};

struct HeadSection {
  const char* name;                                        // of the command head.fold
  std::string title, hint;                                 // the hint stands at the right
  float height = 0.0f;                                     // below the title, at least
  float more = 0.0f;                                       // what it can use beyond that
  float keep_right = 0.0f;                                 // pixels of the title's row that the section draws in itself
  void (*draw)(HeadPanelView& view, Rect area) = nullptr;  // `area` is as high as asked
};

// Those that apply, in the panel's order. `room`: of all of them, so that plots use it.
[[nodiscard]] std::vector<HeadSection> head_sections(const HeadPanelView& view, float room);

// Pieces.
[[nodiscard]] std::vector<std::string> head_numbers(const HeadPanelView& view);  // quantities of "In numbers"
void draw_numbers(HeadPanelView& view, Rect area);
void draw_rms(HeadPanelView& view, Rect area);
[[nodiscard]] float rms_switch_width(const HeadPanelView& view);  // in the title's row
void draw_interval_table(HeadPanelView& view, const RowIntervals& intervals, Rect area);
[[nodiscard]] float interval_table_height(const HeadPanelView& view);
void draw_decomposition(HeadPanelView& view, Rect area);
void draw_cancellation(HeadPanelView& view, Rect area);
void draw_through_norm(HeadPanelView& view, Rect area);
void draw_sinks(HeadPanelView& view, Rect area);
void draw_logits(HeadPanelView& view, Rect area);
void draw_lambda(HeadPanelView& view, Rect area);
void draw_gain(HeadPanelView& view, Rect area);
void draw_gate(HeadPanelView& view, Rect area);

// Width of a column of numbers of this quantity in the panel's mono.
[[nodiscard]] float number_width(const TextMeasure& measure, float size, int digits);
// "below 0.0 %  inside 99.1 %": names in text3, values in mono, from the left; what does not fit is left out.
struct NamedValue {
  std::string name, value;
  Color color;  // of the value; alpha 0: text
};
void draw_named_values(PanelContext& context, Rect row, std::span<const NamedValue> values);

}  // namespace headroom
