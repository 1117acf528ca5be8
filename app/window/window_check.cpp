#include "app/window/window_check.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/text/font_files.h"
#include "app/text/font_library.h"
#include "app/window/frame_loop.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/result.h"

namespace headroom {
namespace {

std::string display_text() {
  std::string text;
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"})
    if (const std::string value = environment_text(name); !value.empty())
      text += (text.empty() ? "" : ", ") + std::string(name) + "=" + value;
  return text.empty() ? "none: neither DISPLAY nor WAYLAND_DISPLAY is set" : text;
}

std::string font_text() {
  constexpr std::array kShown = {std::pair{Face::Sans, "sans"}, std::pair{Face::Mono, "mono"}};
  std::string text;
  for (const auto& [face, name] : kShown) {
    const std::vector<FontFile> files = find_face_files(face);
    text += (text.empty() ? "" : ", ") + std::string(name) + " " + (files.empty() ? "none" : files.front().path);
  }
  return text;
}

// What `opengl` says goes into `gl`; shaders that do not compile are errors of the painter.
Result<void> open_hidden(std::string& gl) {
  HEADROOM_TRY(const std::unique_ptr<FontLibrary> fonts, FontLibrary::create());
  FrameLoopOptions options;
  options.window.visible = false;
  std::string reports;
  options.report = [&](const std::string& line) { reports += (reports.empty() ? "" : "; ") + line; };
  HEADROOM_TRY(const std::unique_ptr<FrameLoop> loop, FrameLoop::create(options, *fonts));
  gl = loop->window().gl_description();
  if (!reports.empty()) return Error(ErrorCode::Device, reports);
  return {};
}

}  // namespace

std::vector<WindowFact> examine_window() {
  std::string gl = "not asked: no window";
  const Result<void> opened = open_hidden(gl);
  return {{"window", opened ? "works" : describe(opened.error())},
          {"display", display_text()},
          {"opengl", gl},
          {"fonts", font_text()}};
}

}  // namespace headroom
