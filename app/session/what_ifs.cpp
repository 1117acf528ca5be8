#include "app/session/what_ifs.h"

namespace headroom {

std::string scoped(const std::string& change, const std::string& scope, HeadRef head) {
  if (scope == "head") return head_text(head) + ":" + change;
  if (scope == "layer") return "L" + std::to_string(head.layer) + ":" + change;
  return change;
}

Result<std::vector<WhatIf>> parsed_what_ifs(const std::vector<std::string>& texts) {
  std::vector<WhatIf> what_ifs;
  for (const std::string& text : texts) {
    HEADROOM_TRY(what_ifs.emplace_back(), parse_what_if(text));
  }
  return what_ifs;
}

std::vector<std::string> shown_what_ifs(const State& state) {
  const RunEntry* run = state.shown();
  if (!run || run->model < 0 || run->model != state.model) return {};
  std::vector<std::string> all = run->what_ifs;
  const ViewState& view = state.view;
  if (view.centre == CentreView::WhatIf && view.selection.head)
    for (const std::string& change : view.what_if.changes)
      all.push_back(scoped(change, view.what_if.scope, *view.selection.head));
  return all;
}

}  // namespace headroom
