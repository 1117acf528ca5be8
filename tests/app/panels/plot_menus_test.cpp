// A right click into a panel offers its plot as a figure, for each panel in nine views of a run; one on a section of
// the head panel exports that section as its own kind.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/panels/chrome/window_layout.h"
#include "tests/app/panels/core_bench.h"
#include "tests/support/catch.h"

namespace headroom {
namespace {

using test::CoreBench;

// In the last frame, where its text stands.
Vec2 place_of(const CoreBench& bench, std::string_view text) {
  const auto found = bench.painter->find(text);
  CATCH_INFO(text);
  CATCH_REQUIRE_FALSE(found.empty());
  return {found.back()->baseline.x + 0.5f * found.back()->width, found.back()->baseline.y - 4.0f};
}

struct View {
  std::vector<std::string> lines;
  std::vector<const char*> slots;  // that are asked
};

CATCH_TEST_CASE("Plot menus: each panel of each view offers its plot as a figure") {
  CoreBench bench("bytes/diff_v2");
  bench.session().run("run");
  bench.session().run("select L1.H0");
  const std::vector<View> views = {
      {{"heads atlas"}, {"heads", "map", "head", "tokens"}},
      {{"heads scatter"}, {"heads", "head"}},
      {{"heads maps"}, {"heads", "map"}},
      {{"heads table"}, {"heads", "head"}},
      {{"heads atlas", "importance", "importance.run off"}, {"heads", "map", "head"}},
      {{"importance.close", "circuit on"}, {"heads", "map", "head"}},
      {{"circuit off", "residual on"}, {"heads", "map", "head"}},
      {{"residual off", "tokens.large on"}, {"map", "head"}},
      {{"tokens.large off", "what-if hide-key=0", "what-if.complete", "compare"}, {"heads", "map", "head"}},
  };
  for (const View& view : views) {
    for (const std::string& line : view.lines) bench.session().run(line);
    bench.frame();
    bench.frame();
    for (const char* name : view.slots) {
      const WindowLayout layout = window_layout(bench.window(), bench.state());
      Rect place;
      for (const PanelSlot* slot : layout.slots())
        if (std::string_view(slot->name) == name && slot->drawn()) place = slot->rect;
      CATCH_INFO(view.lines.back() << ": " << name);
      CATCH_REQUIRE_FALSE(place.empty());
      bench.press({place.centre_x(), place.y0 + 0.62f * place.height()}, kRightButton);
      CATCH_CHECK(bench.painter->shows("as a figure"));
      bench.key("Esc");
    }
  }
  CATCH_CHECK(bench.state().errors.empty());
}

CATCH_TEST_CASE("Plot menus: a section of the head panel is exported as its own kind") {
  CoreBench bench("bytes/diff_v2");
  bench.session().run("run");
  bench.session().run("select L1.H0");
  bench.session().run("panel.maximise head");
  bench.frame();
  for (const auto& [title, kind] : {std::pair{"Logits", "logits"}, {"Sinks", "sinks"}, {"λ over position", "lambda"}}) {
    bench.frame();
    const Vec2 at = place_of(bench, title);
    bench.press({at.x, at.y + 60.0f}, kRightButton);
    bench.press(place_of(bench, "Export this plot as a figure"));
    CATCH_CHECK(bench.state().overlay == Overlay::Figure);
    CATCH_CHECK(bench.state().figure.kind == kind);
    bench.key("Esc");
  }
}

}  // namespace
}  // namespace headroom
