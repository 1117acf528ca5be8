// What the program is made of: names, versions as far as they are known, licences. The list is immutable and safe from
// any thread; drawing on the main thread.
#pragma once

#include <span>
#include <string>

#include "app/panels/panel.h"

namespace headroom {

void draw_about(PanelContext& context, Rect window);

struct AboutPart {
  std::string name, version, licence, use;
};

// The libraries and fonts; versions of those that this part of the program sees, the others from HEADROOM_…_VERSION
// where the build defines them.
[[nodiscard]] std::span<const AboutPart> about_parts();
[[nodiscard]] std::string program_version();  // "" where the build does not say

}  // namespace headroom
