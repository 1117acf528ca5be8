#include "app/panels/parts/panel_scope.h"

#include <string_view>

#include "app/panels/panel.h"

namespace headroom {

PanelScope::PanelScope(PanelContext& context, std::string_view name, Rect frame) : context_(context) {
  context.painter().begin_panel(name, frame);
  context.ui.push_id(name);
  context.ui.push_clip(frame);
  context.painter().fill_rect(frame, context.theme().panel);
}

PanelScope::~PanelScope() {
  context_.ui.pop_clip();
  context_.ui.pop_id();
  context_.painter().end_panel();
}

}  // namespace headroom
