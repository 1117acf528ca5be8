// What the sections of the head panel are given. Main thread only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/panels/panel.h"
#include "app/panels/parts/run_cache.h"

namespace headroom {

// Everything a section may need of the selected head.
struct HeadPanelView {
  PanelContext& context;
  RunCache& memory;
  const RunSnapshot& run;
  const LayerSnapshot& layer;
  HeadRef head;
  HeadProgram program;
  const HeadSeries& series;
  bool narrow = false, low = false, tall = false;  // a panel that is not wide; one that is not high; one that is
  std::string number_under_pointer{};              // its quantity; written by the section that draws it
  std::string_view section_under_pointer{};        // its name

  [[nodiscard]] bool pair() const { return program.has_first() && program.has_second(); }
  [[nodiscard]] double value(std::string_view name, std::size_t index) const {
    return run.at(name, head.layer, head.head, index);
  }
};

}  // namespace headroom
