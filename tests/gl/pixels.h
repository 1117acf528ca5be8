// Pictures of what app/gl and the painter draw, for tests. Main thread only.
#pragma once

#include <epoxy/gl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/gl/gl_handle.h"
#include "app/window/frame_loop.h"
#include "tests/gl/display.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace headroom::test {

// RGB of one pixel as 0xRRGGBB.
inline int pixel(const PixelImage& image, int x, int y) {
  const std::uint8_t* p =
      image.rgb.data() + (static_cast<std::size_t>(y) * image.width + static_cast<std::size_t>(x)) * 3;
  return (p[0] << 16) | (p[1] << 8) | p[2];
}
inline int rgb(Color c) { return (c.r << 16) | (c.g << 8) | c.b; }

// A hidden window with its painter; null, and the test skipped, where there is no display. Where there is one, fonts
// and painter must come up: a shader that does not compile is a failure.
struct Screen {
  std::unique_ptr<FontLibrary> fonts;
  std::unique_ptr<FrameLoop> loop;
  std::vector<std::string> reports;

  static std::unique_ptr<Screen> open(int width, int height, float scale = 1.0f) {
    if (const std::string reason = no_display(); !reason.empty()) return skip(reason), nullptr;
    auto screen = std::make_unique<Screen>();
    auto fonts = FontLibrary::create();
    if (!fonts) CATCH_FAIL("the fonts cannot be loaded: " + describe(fonts.error()));
    screen->fonts = std::move(*fonts);
    FrameLoopOptions options;
    options.window.width = width;
    options.window.height = height;
    options.window.ui_scale = scale;
    options.window.ignore_content_scale = true;
    options.window.visible = false;
    options.window.vertical_sync = false;
    options.shader_folder = HEADROOM_SOURCE_SHADERS;
    options.report = [raw = screen.get()](const std::string& line) { raw->reports.push_back(line); };
    auto loop = FrameLoop::create(options, *screen->fonts);
    if (!loop) CATCH_FAIL("the painter cannot be made: " + describe(loop.error()));
    screen->loop = std::move(*loop);
    return screen;
  }

  PixelImage frame(const std::function<void(ImguiPainter&)>& draw, Color background = Color::hex(0x000000)) {
    loop->wait(0.0);
    static_cast<void>(loop->begin_frame(background));
    draw(loop->painter());
    loop->end_frame();
    auto image = loop->capture();
    return image ? std::move(*image) : PixelImage{};
  }
};

// What `draw` leaves in a black picture of its own.
inline PixelImage picture_of(int width, int height, const std::function<void()>& draw) {
  const auto framebuffer = GlFramebuffer::make();
  const auto colors = GlRenderbuffer::make();
  glBindRenderbuffer(GL_RENDERBUFFER, colors.name());
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer.name());
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors.name());
  glDisable(GL_SCISSOR_TEST);
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glViewport(0, 0, width, height);
  glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
  glClear(GL_COLOR_BUFFER_BIT);
  draw();
  PixelImage image{width, height, std::vector<std::uint8_t>(static_cast<std::size_t>(width) * height * 3)};
  std::vector<std::uint8_t> rows(image.rgb.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, rows.data());
  const std::size_t row = static_cast<std::size_t>(width) * 3;
  for (int y = 0; y < height; ++y) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * (height - 1 - y)), row,
                image.rgb.begin() + static_cast<std::ptrdiff_t>(row * y));
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  return image;
}

}  // namespace headroom::test
