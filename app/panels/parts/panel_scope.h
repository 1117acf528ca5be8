// What every panel opens with and ends with: its name for tests, the ids of its widgets, its clip, its ground. Main
// thread only.
#pragma once

#include <string_view>

#include "app/panels/panel.h"

namespace headroom {

// From its making to its end what is drawn belongs to the panel and stays in `frame`, pointer and keys included.
class PanelScope {
 public:
  PanelScope(PanelContext& context, std::string_view name, Rect frame);
  ~PanelScope();
  PanelScope(const PanelScope&) = delete;
  PanelScope& operator=(const PanelScope&) = delete;

 private:
  PanelContext& context_;
};

}  // namespace headroom
