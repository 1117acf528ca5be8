// Frames of which only what differs is drawn: each pixel is as if all were drawn, whatever comes and goes.
#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/gl/software_renderer.h"
#include "app/plot/theme.h"
#include "app/window/frame_tiles.h"
#include "tests/gl/pixels.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr Color kGround = Color::hex(0x102030);

float area_of(const std::vector<Rect>& parts) {
  float sum = 0.0f;
  for (const Rect& part : parts) sum += part.width() * part.height();
  return sum;
}

// A scene of things that come, go and move; each draws itself.
class Scene {
 public:
  Scene(unsigned seed, float width, float height) : random_(seed), width_(width), height_(height) {
    values_ = std::make_shared<std::vector<float>>();
    for (int i = 0; i < 48 * 48; ++i) values_->push_back(i % 7 == 0 ? std::nanf("") : between(0.0f, 1.0f));
  }
  void change() {
    if (things_.size() > 12 || (!things_.empty() && below(3) == 0))
      things_.erase(things_.begin() + below(static_cast<int>(things_.size())));
    else
      things_.insert(things_.begin() + below(static_cast<int>(things_.size()) + 1), thing());
  }
  void draw(ImguiPainter& p) const {
    for (const auto& draw : things_) draw(p);
  }

 private:
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(below(10001)) / 10000.0f; }
  Color color() {
    return Color{static_cast<std::uint8_t>(below(256)), static_cast<std::uint8_t>(below(256)),
                 static_cast<std::uint8_t>(below(256)), static_cast<std::uint8_t>(below(2) == 0 ? 255 : below(256))};
  }
  Rect rect(float most) {
    return Rect::sized(between(-20.0f, width_), between(-20.0f, height_), between(1.0f, most), between(1.0f, most));
  }
  std::function<void(ImguiPainter&)> thing() {
    const Color c = color();
    const Rect r = rect(below(5) == 0 ? 500.0f : 90.0f);
    const float size = between(8.0f, 20.0f), width = between(1.0f, 4.0f);
    switch (below(10)) {
      case 0: return [=](ImguiPainter& p) { p.fill_rect(r, c); };
      case 1: return [=](ImguiPainter& p) { p.fill_rect(r, c, 6.0f); };
      case 2: return [=](ImguiPainter& p) { p.stroke_rect(r, c, width, 4.0f); };
      case 3: return [=](ImguiPainter& p) { p.line({r.x0, r.y0}, {r.x1, r.y1}, c, width); };
      case 4: return [=](ImguiPainter& p) { p.disc(r.centre(), size, c); };
      case 5:
        return [=](ImguiPainter& p) { p.text({r.x0, r.y1}, "Größe ρ " + std::to_string(c.r), {Face::Sans, size, c}); };
      case 6: return [=](ImguiPainter& p) { p.text(r.centre(), "turned", {Face::Mono, size, c}, width); };
      case 7: {
        MapImage image;
        image.id = 7, image.generation = static_cast<std::uint64_t>(1 + below(2));
        image.width = image.height = 48, image.values = values_;
        MapShading shading;
        shading.scale.high = below(2) == 0 ? 1.0f : 0.5f;
        return [=](ImguiPainter& p) { p.map(r, image, {0.0f, 0.0f, 48.0f, 20.0f + 4.0f * width}, shading); };
      }
      case 8: {
        RgbPicture picture;
        picture.id = 3, picture.generation = static_cast<std::uint64_t>(below(4)), picture.width = picture.height = 8;
        picture.rgb = std::make_shared<const std::vector<std::uint8_t>>(
            8 * 8 * 3, static_cast<std::uint8_t>(60 * picture.generation));
        return [=](ImguiPainter& p) { p.picture(r, picture); };
      }
      default: {
        std::vector<Vec2> many;
        for (int i = 0; i < 3500; ++i) many.push_back({between(r.x0, r.x1), between(r.y0, r.y1)});
        return [=](ImguiPainter& p) {
          p.push_clip(r);
          p.points(many, c, width);
          p.set_layer(Layer::Overlay);
          p.fill_rect(r.inset(5.0f), c.faded(0.4f));
          p.set_layer(Layer::Base);
          p.pop_clip();
        };
      }
    }
  }

  std::mt19937 random_;
  float width_, height_;
  std::shared_ptr<std::vector<float>> values_;
  std::vector<std::function<void(ImguiPainter&)>> things_;
};

// A window whose frames are kept; null, with the reason said, where there is no display or the renderer is of another
// kind. Where it is of that kind, all of them must be.
std::unique_ptr<Screen> keeping_screen(int width, int height, float scale = 1.0f) {
  auto screen = Screen::open(width, height, scale);
  if (!screen) return nullptr;
  if (!copies_to_screen()) {
    skip("frames are kept where the renderer copies them to the screen itself: " +
         screen->loop->window().gl_description());
    return nullptr;
  }
  CATCH_REQUIRE(screen->loop->keeps_frames());
  return screen;
}

// Waits until the window system has done it.
void resize(FrameLoop& loop, int width, int height) {
  const float scale = loop.window().scale();
  const int wide = static_cast<int>(std::lround(static_cast<float>(width) * scale)),
            high = static_cast<int>(std::lround(static_cast<float>(height) * scale));
  loop.window().set_size(width, height);
  for (int i = 0; i < 100 && (loop.window().framebuffer_width() != wide || loop.window().framebuffer_height() != high);
       ++i)
    loop.wait(0.05);
  CATCH_REQUIRE((loop.window().framebuffer_width() == wide && loop.window().framebuffer_height() == high));
}

}  // namespace

CATCH_TEST_CASE("kept frames: only renderers that copy what they drew themselves are tried", "[gl]") {
  CATCH_CHECK(copies_to_screen("llvmpipe (LLVM 15.0.6, 256 bits)"));
  CATCH_CHECK(copies_to_screen("softpipe"));
  for (const char* name : {"zink Vulkan 1.3(llvmpipe (LLVM 15.0.6, 256 bits))", "", "NVIDIA GeForce RTX 3070/PCIe/SSE2",
                           "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)"})
    CATCH_CHECK_FALSE(copies_to_screen(name));
}

CATCH_TEST_CASE("kept frames: what loses a part of what was drawn, shows two buffers in turn or nothing is told apart",
                "[gl]") {
  const auto screen = Screen::open(64, 48);
  if (!screen) return;
  std::array<GlFramebuffer, 2> framebuffers{GlFramebuffer::make(), GlFramebuffer::make()};
  std::array<GlRenderbuffer, 2> colors{GlRenderbuffer::make(), GlRenderbuffer::make()};
  for (std::size_t i = 0; i < 2; ++i) {
    glBindRenderbuffer(GL_RENDERBUFFER, colors[i].name());
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 64, 48);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[i].name());
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors[i].name());
    glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  const auto clear = [](int x, int y, int wide, int high) {
    glEnable(GL_SCISSOR_TEST);
    glScissor(x, y, wide, high);
    glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
  };
  int presented = 0;
  const auto tried = [&](const std::function<void()>& present) {
    presented = 0;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0].name());
    return keeps_what_was_drawn(64, 48, [&] { ++presented, present(); });
  };
  CATCH_CHECK(tried([] {}));
  CATCH_CHECK(presented == 6);  // three times all and a corner
  CATCH_CHECK_FALSE(tried([&] { clear(0, 0, 64, 48); }));
  // Only after a corner was drawn alone: the rest, or one of its edges.
  CATCH_CHECK_FALSE(tried([&] { presented % 2 == 0 ? clear(32, 0, 32, 48) : void(); }));
  CATCH_CHECK_FALSE(tried([&] { presented % 2 == 0 ? clear(0, 24, 32, 1) : void(); }));
  CATCH_CHECK_FALSE(tried([&] { presented == 6 ? clear(0, 47, 64, 1) : void(); }));
  CATCH_CHECK_FALSE(
      tried([&] { glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[static_cast<std::size_t>(presented % 2)].name()); }));
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  CATCH_CHECK(screen->loop->gl_error_count() == 0);
}

CATCH_TEST_CASE("kept frames: tiles say where two frames differ, and no two parts overlap", "[gl]") {
  FrameTiles before, after;
  before.begin(200, 100, 1), after.begin(200, 100, 1);
  CATCH_CHECK(after.differences(before).empty());
  after.add({40.0f, 10.0f, 41.0f, 11.0f}, 5);
  CATCH_CHECK(after.differences(before) == std::vector<Rect>{{32.0f, 0.0f, 64.0f, 32.0f}});
  // Up to the edge of a tile and of the frame, not beyond.
  before.begin(200, 100, 1), after.begin(200, 100, 1);
  after.add({190.0f, 64.0f, 300.0f, 96.0f}, 5);
  CATCH_CHECK(after.differences(before) == std::vector<Rect>{{160.0f, 64.0f, 200.0f, 96.0f}});
  after.begin(200, 100, 2);
  CATCH_CHECK(after.differences(before) == std::vector<Rect>{{0.0f, 0.0f, 200.0f, 100.0f}});
  after.begin(201, 100, 1);
  CATCH_CHECK(after.differences(before) == std::vector<Rect>{{0.0f, 0.0f, 201.0f, 100.0f}});
  // The same things in another order lie upon each other otherwise.
  before.begin(200, 100, 1), after.begin(200, 100, 1);
  before.add({0, 0, 9, 9}, 3), before.add({0, 0, 9, 9}, 4);
  after.add({0, 0, 9, 9}, 4), after.add({0, 0, 9, 9}, 3);
  CATCH_CHECK(after.differences(before).size() == 1);

  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    before.begin(1440, 900, 1), after.begin(1440, 900, 1);
    std::vector<Vec2> changed;
    for (unsigned i = 0; i < 1 + random() % 60; ++i) {
      const Vec2 at{static_cast<float>(random() % 1440), static_cast<float>(random() % 900)};
      after.add({at.x, at.y, at.x + 1.0f, at.y + 1.0f}, random());
      changed.push_back(at);
    }
    const std::vector<Rect> parts = after.differences(before);
    CATCH_CHECK(parts.size() <= 16);
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::size_t k = i + 1; k < parts.size(); ++k) CATCH_REQUIRE_FALSE(parts[i].overlaps(parts[k]));
    for (const Vec2 at : changed) {
      const auto holds = [&](const Rect& part) { return part.contains(at); };
      CATCH_REQUIRE(std::ranges::any_of(parts, holds));
    }
    CATCH_CHECK(area_of(parts) <= 1440.0f * 900.0f);
  }
}

CATCH_TEST_CASE("kept frames: changes all over a large frame are found in a few steps", "[gl]") {
  FrameTiles before, after;
  before.begin(7680, 4320, 1), after.begin(7680, 4320, 1);
  for (int y = 0; y < 4320; y += 32)
    for (int x = y % 64; x < 7680; x += 64) {
      const auto left = static_cast<float>(x), top = static_cast<float>(y);
      after.add({left, top, left + 1.0f, top + 1.0f}, 5);
    }
  // 16,200 runs of one tile, of which each pair would be looked at once for each that is joined.
  CATCH_CHECK(after.differences(before) == std::vector<Rect>{{0.0f, 0.0f, 7680.0f, 4320.0f}});
  // A few of them far apart stay apart.
  before.begin(7680, 4320, 1), after.begin(7680, 4320, 1);
  for (int y = 0; y < 1024; y += 32)
    for (int x = y % 64; x < 512; x += 64) {
      const auto left = static_cast<float>(x), top = static_cast<float>(y);
      after.add({left, top, left + 1.0f, top + 1.0f}, 5),
          after.add({left + 7000.0f, top, left + 7001.0f, top + 1.0f}, 5);
    }
  const std::vector<Rect> parts = after.differences(before);
  CATCH_CHECK(parts.size() == 2);
  CATCH_CHECK(area_of(parts) < 1.2f * 2.0f * 512.0f * 1024.0f);
}

CATCH_TEST_CASE("kept frames: what is shown is what drawing all of it gives", "[gl]") {
  for (const float scale : {1.0f, 1.25f}) {
    const auto screen = keeping_screen(400, 300, scale);
    if (!screen) return;
    Scene scene(11, 400.0f, 300.0f);
    int differ = 0, some = 0;
    PixelImage last;
    for (int frame = 0; frame < 300; ++frame) {
      if (frame % 3 != 0) scene.change();  // else nothing changes
      const Color ground = frame > 200 ? Color::hex(0x203040) : Color::hex(0x000000);
      screen->loop->wait(0.0);
      static_cast<void>(screen->loop->begin_frame(ground));
      scene.draw(screen->loop->painter());
      screen->loop->end_frame();
      const auto shown = screen->loop->shown(), whole = screen->loop->shown(/*anew=*/true);
      CATCH_REQUIRE((shown.has_value() && whole.has_value()));
      if (shown->rgb != whole->rgb) ++differ;
      if (whole->rgb != last.rgb) ++some;
      last = *whole;
    }
    CATCH_CHECK(differ == 0);
    CATCH_CHECK(some > 100);  // the scene did change
    CATCH_CHECK(screen->loop->gl_error_count() == 0);
  }
}

CATCH_TEST_CASE("kept frames: also where the window becomes larger or smaller, the scale or the theme another one",
                "[gl]") {
  const auto screen = keeping_screen(400, 300);
  if (!screen) return;
  FrameLoop& loop = *screen->loop;
  std::mt19937 random(23);
  const auto below = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  Scene scene(12, 400.0f, 300.0f);
  int differ = 0, sizes = 0, scales = 0, themes = 0, there_and_back = 0;
  const Theme* theme = &dark_theme();
  for (int frame = 0; frame < 400; ++frame) {
    if (below(3) != 0) scene.change();
    const int event = below(12);
    if (event == 0) resize(loop, 200 + below(400), 150 + below(300)), ++sizes;
    if (event == 1) loop.window().set_ui_scale(0.75f + 0.25f * static_cast<float>(below(5))), ++scales;
    if (event == 2) theme = theme == &dark_theme() ? &light_theme() : &dark_theme(), ++themes;
    if (event == 3) {  // before a frame is drawn
      const float scale = loop.window().scale();
      const int wide = static_cast<int>(std::lround(static_cast<float>(loop.window().framebuffer_width()) / scale)),
                high = static_cast<int>(std::lround(static_cast<float>(loop.window().framebuffer_height()) / scale));
      resize(loop, wide, high);
      resize(loop, wide / 2, high / 2), resize(loop, wide, high), ++there_and_back;
    }
    loop.wait(0.0);
    loop.painter().set_theme(*theme);
    static_cast<void>(loop.begin_frame(theme->bg));
    scene.draw(loop.painter());
    loop.end_frame();
    const auto shown = loop.shown(), whole = loop.shown(/*anew=*/true);
    CATCH_REQUIRE((shown.has_value() && whole.has_value()));
    if (shown->width != whole->width || shown->rgb != whole->rgb) ++differ;
    // The screen lost what it showed, also where the size is what it was.
    if (event == 0 || event == 3) CATCH_CHECK(loop.drawn_share() == 1.0f);
  }
  CATCH_CHECK(differ == 0);
  CATCH_CHECK(std::min({sizes, scales, themes, there_and_back}) > 10);
  CATCH_CHECK(loop.gl_error_count() == 0);
}

CATCH_TEST_CASE("kept frames: a small change draws a small part, none nothing, and another size all", "[gl]") {
  const auto screen = keeping_screen(640, 480);
  if (!screen) return;
  const auto share = [&](float x, Color ground = Color::hex(0x000000)) {
    screen->loop->wait(0.0);
    static_cast<void>(screen->loop->begin_frame(ground));
    screen->loop->painter().fill_rect({0, 0, 640, 480}, kGround);
    screen->loop->painter().text({20, 20}, "something that stays", {Face::Sans, 12.0f, Color::hex(0xFFFFFF)});
    screen->loop->painter().disc({x, 200}, 6.0f, Color::hex(0xFF0000));
    screen->loop->end_frame();
    return screen->loop->drawn_share();
  };
  CATCH_CHECK(share(100.0f) == 1.0f);
  CATCH_CHECK(share(100.0f) == 0.0f);
  CATCH_CHECK((share(104.0f) > 0.0f && share(108.0f) < 0.05f));
  CATCH_CHECK(share(108.0f, Color::hex(0x0000FF)) == 1.0f);
}

}  // namespace headroom::test
