// One frame after the other: waits for something to happen, hands out what the person did and a painter, shows the
// result. Owns the window, its painter and the trace's frame events. Main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/text/font_library.h"
#include "app/ui/input.h"
#include "app/window/glfw_window.h"
#include "app/window/imgui_painter.h"
#include "core/base/result.h"

namespace headroom {

class Trace;

// RGB, top row first, 3 bytes a pixel, no padding.
struct PixelImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

// Io if it cannot be written; the file appears whole or not at all.
[[nodiscard]] Result<void> write_png(const std::filesystem::path& path, const PixelImage& image);

struct FrameLoopOptions {
  WindowOptions window;
  std::string shader_folder;                       // empty: find_shader_folder()
  std::function<void(const std::string&)> report;  // one line per shader or GL error
  Trace* trace = nullptr;                          // outlives the loop
};

struct FrameTimes {          // milliseconds, of the last 1,024 frames or more, in order
  std::vector<float> build;  // begin_frame() to end_frame()
  std::vector<float> total;  // with rendering and presenting
};

class FrameLoop {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FrameLoop>> create(const FrameLoopOptions& options, FontLibrary& fonts);
  ~FrameLoop();
  FrameLoop(const FrameLoop&) = delete;
  FrameLoop& operator=(const FrameLoop&) = delete;

  [[nodiscard]] GlfwWindow& window();
  [[nodiscard]] ImguiPainter& painter();

  // Waits at most `seconds` for an event or the window's waker. True: draw a frame; false: nothing happened, draw only
  // if something is due.
  bool wait(double seconds);

  // Makes the painter ready and returns the input since the last frame. The pointer is in logical pixels. `times`: a
  // frame of so many times the window's pixels, which is captured and not shown: end_frame() does not follow.
  Input begin_frame(Color background, int times = 1);
  // For a frame that is captured and not shown, and to which the person's events do not belong.
  void begin_hidden_frame(Color background, int times);
  // Renders and presents; waits for the screen where vertical sync is on.
  void end_frame();

  // Pixels of the last frame, before the next begin_frame(): renders it, again if it was shown, and reads it back.
  // Device if GL reports an error, and where the graphics have no room for so many pixels.
  [[nodiscard]] Result<PixelImage> capture();
  // Pixels of the window as end_frame() left it, or, `anew`, with all of that frame drawn again, before the next
  // begin_frame(): they are the same. capture() where no frames are kept.
  [[nodiscard]] Result<PixelImage> shown(bool anew = false);
  // Of every 16th frame whether these differ, for tests; how many did so far, −1: none was asked, or no frames are
  // kept.
  void compare_shown();
  [[nodiscard]] double frames_differ() const;

  // Only what differs from the frame before is drawn.
  [[nodiscard]] bool keeps_frames() const;

  [[nodiscard]] const FrameTimes& times() const;
  // Of the frame that end_frame() drew last: the share of its pixels that were drawn anew.
  [[nodiscard]] float drawn_share() const;
  [[nodiscard]] std::int64_t frame_count() const;
  // GL errors and warnings of the driver so far (KHR_debug and glGetError).
  [[nodiscard]] std::int64_t gl_error_count() const;

 private:
  struct State;
  explicit FrameLoop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Whether the bound framebuffer still has all that was drawn into it once it is presented, also where a corner alone
// was drawn since: nobody promises that, so it is tried, with what is there now painted over. Leaves no scissor.
[[nodiscard]] bool keeps_what_was_drawn(int width, int height, const std::function<void()>& present);

// The folder with the shaders: $HEADROOM_SHADERS, else find_data_folder(). Empty if there is none.
[[nodiscard]] std::string find_shader_folder();

}  // namespace headroom
