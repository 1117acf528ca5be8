// Frames of which only what differs is drawn: each pixel is as if all were drawn, whatever comes and goes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

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
    for (int i = 0; i < 48 * 48; ++i) values_->push_back(between(0.0f, 1.0f));
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

}  // namespace

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

CATCH_TEST_CASE("kept frames: what is shown is what drawing all of it gives", "[gl]") {
  for (const float scale : {1.0f, 1.25f}) {
    const auto screen = Screen::open(400, 300, scale);
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

CATCH_TEST_CASE("kept frames: a small change draws a small part, none nothing, and another size all", "[gl]") {
  const auto screen = Screen::open(640, 480);
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
  if (share(100.0f) == 1.0f) return skip("frames are not kept: the renderer is none of software");
  CATCH_CHECK(share(100.0f) == 0.0f);
  CATCH_CHECK((share(104.0f) > 0.0f && share(108.0f) < 0.05f));
  CATCH_CHECK(share(108.0f, Color::hex(0x0000FF)) == 1.0f);
}

}  // namespace headroom::test
