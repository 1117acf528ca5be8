// The sections of the head panel: what each is called, whether it applies to this head, how high it is and how it is
// drawn. Main thread only.
#pragma once

#include <string>
#include <vector>

#include "app/panels/head/head_view.h"
#include "app/panels/panel.h"

namespace headroom {

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

}  // namespace headroom
