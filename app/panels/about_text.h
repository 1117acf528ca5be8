// What the program is made of: names, versions as far as they are known, licences. Immutable; safe from any thread.
#pragma once

#include <span>
#include <string>

namespace headroom {

struct AboutPart {
  std::string name, version, licence, use;
};

// The libraries and fonts; versions of those that this part of the program sees, the others from HEADROOM_…_VERSION
// where the build defines them.
[[nodiscard]] std::span<const AboutPart> about_parts();
[[nodiscard]] std::string program_version();  // "" where the build does not say

}  // namespace headroom
