// The window itself: GLFW, its GL context, and what the person does in it, collected as Input. Main thread only, but
// for what waker() returns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/ui/input.h"
#include "core/base/result.h"

namespace headroom {

struct WindowOptions {
  int width = 1440, height = 900;  // logical pixels at UI scale 100 %; the screen's own scale is added
  float ui_scale = 1.0f;           // times the screen's content scale
  std::string title = "Headroom";
  bool resizable = true;  // a script's window keeps the size it asked for
  bool maximised = false;
  bool visible = true;
  bool vertical_sync = true;
  bool debug_context = true;          // the driver says what it thinks is wrong
  bool ignore_content_scale = false;  // `--size` and `--scale` mean device pixels exactly
};

class GlfwWindow {
 public:
  // Device: no display (names the variables that were looked at), no GL 3.3, no context; `found` has the library's
  // words.
  [[nodiscard]] static Result<std::unique_ptr<GlfwWindow>> create(const WindowOptions& options);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  // Waits until something happens, at most `seconds` (0: only looks; infinity: for ever), and handles what happened.
  // True if an event arrived, input is left or the waker was called; false if the time ran out.
  bool wait(double seconds);
  // Ends wait() and makes it return true. Safe from any thread, also when the window is gone.
  [[nodiscard]] std::function<void()> waker() const;
  // What was collected since the last call, up to the point where the order matters: a move after a click, a second
  // click, a letter after Enter are left for the next call.
  [[nodiscard]] Input take_input();
  [[nodiscard]] bool input_left() const;

  [[nodiscard]] bool close_requested() const;
  void request_close(bool close);

  [[nodiscard]] int framebuffer_width() const;
  [[nodiscard]] int framebuffer_height() const;
  [[nodiscard]] bool minimised() const;
  // Device pixels per logical pixel: the screen's content scale times the UI scale.
  [[nodiscard]] float scale() const;
  void set_ui_scale(float ui_scale);
  [[nodiscard]] float ui_scale() const;
  // Logical pixels; asks the window system.
  void set_size(int width, int height);

  void set_title(const std::string& title);
  void set_cursor(Cursor cursor);
  void set_fullscreen(bool fullscreen);
  [[nodiscard]] bool fullscreen() const;
  void set_maximised(bool maximised);
  [[nodiscard]] bool maximised() const;

  [[nodiscard]] std::string clipboard_text() const;
  void set_clipboard_text(const std::string& text);

  void swap_buffers();
  // What was on the screen, or in the buffer behind it, may be gone since this was asked last.
  [[nodiscard]] bool take_lost();
  // "OpenGL 4.5, llvmpipe (…)"; for the about page and the log.
  [[nodiscard]] std::string gl_description() const;

 private:
  struct State;
  explicit GlfwWindow(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom
