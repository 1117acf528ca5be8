// A screen for the tests that draw: an Xvfb of this program's own, or else the display that is there. Main thread only.
#pragma once

#include <string>

namespace headroom::test {

// Why nothing can be drawn here; empty where DISPLAY names a screen, made in the first call and kept to the program's
// end. Only this is a reason to skip: with a display, whatever fails is a failure.
[[nodiscard]] std::string no_display();

}  // namespace headroom::test
