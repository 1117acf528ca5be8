#include "app/window/glfw_window.h"

#include <epoxy/gl.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/window/input_queue.h"
#include "app/window/key_names.h"
#include "app/window/window_icon.h"
#include "core/base/environment.h"
#include "core/base/format.h"

namespace headroom {
namespace {

constexpr int kCursorCount = 7;
constexpr int kSmallestWidth = 480, kSmallestHeight = 320;  // logical pixels

std::string last_glfw_error() {
  const char* text = nullptr;
  const int code = glfwGetError(&text);
  return code == GLFW_NO_ERROR || !text ? "no reason given" : text;
}

Result<void> start_glfw() {
  const std::string x11 = environment_text("DISPLAY"), wayland = environment_text("WAYLAND_DISPLAY");
  if (x11.empty() && wayland.empty())
    return Error(ErrorCode::Device, "no display: neither DISPLAY nor WAYLAND_DISPLAY is set")
        .advise("run it on a desktop, with ssh -X, or under xvfb-run; headroom analyze needs no display");
#if defined(GLFW_PLATFORM)
  // Left to itself, GLFW 3.4 asks libwayland as well, which writes to standard error where there is no such desktop.
  if (wayland.empty()) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
  if (glfwInit() == GLFW_TRUE) return {};
  const std::string which = wayland.empty() ? "DISPLAY=" + x11 : "WAYLAND_DISPLAY=" + wayland;
  Error error(ErrorCode::Device, "the display cannot be opened (" + which + ")");
  error.wanted("", last_glfw_error());
  return error.advise("headroom analyze needs no display");
}

int glfw_cursor_shape(Cursor cursor) {
  switch (cursor) {
    case Cursor::Arrow: return GLFW_ARROW_CURSOR;
    case Cursor::Hand: return GLFW_HAND_CURSOR;
    case Cursor::Text: return GLFW_IBEAM_CURSOR;
    case Cursor::ResizeHorizontal: return GLFW_HRESIZE_CURSOR;
    case Cursor::ResizeVertical: return GLFW_VRESIZE_CURSOR;
#ifdef GLFW_RESIZE_ALL_CURSOR
    case Cursor::Move: return GLFW_RESIZE_ALL_CURSOR;
#else
    case Cursor::Move: return GLFW_HAND_CURSOR;
#endif
    case Cursor::Crosshair: return GLFW_CROSSHAIR_CURSOR;
  }
  return GLFW_ARROW_CURSOR;
}

// The monitor on which most of the window lies.
GLFWmonitor* monitor_of(GLFWwindow* window) {
  int x = 0, y = 0, width = 0, height = 0, count = 0;
  glfwGetWindowPos(window, &x, &y);
  glfwGetWindowSize(window, &width, &height);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  long most = 0;
  for (int i = 0; i < count; ++i) {
    int mx = 0, my = 0;
    glfwGetMonitorPos(monitors[i], &mx, &my);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (!mode) continue;
    const long w = std::max(0, std::min(x + width, mx + mode->width) - std::max(x, mx));
    const long h = std::max(0, std::min(y + height, my + mode->height) - std::max(y, my));
    if (w * h > most) {
      most = w * h;
      best = monitors[i];
    }
  }
  return best;
}

}  // namespace

struct GlfwWindow::State {
  GLFWwindow* window = nullptr;
  std::array<GLFWcursor*, kCursorCount> cursors{};
  Cursor cursor = Cursor::Arrow;
  InputQueue queue;
  std::shared_ptr<std::atomic<bool>> woken = std::make_shared<std::atomic<bool>>(false);
  bool event_arrived = false, lost = true;
  bool ignore_content_scale = false;
  float ui_scale = 1.0f, content_scale = 1.0f;
  int windowed_x = 0, windowed_y = 0, windowed_width = 0, windowed_height = 0;  // before full screen

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (GLFWcursor* cursor_image : cursors) {
      if (cursor_image) glfwDestroyCursor(cursor_image);
    }
    if (window) glfwDestroyWindow(window);
    glfwTerminate();
  }

  static State& of(GLFWwindow* window) { return *static_cast<State*>(glfwGetWindowUserPointer(window)); }

  float scale() const { return ui_scale * (ignore_content_scale ? 1.0f : content_scale); }

  // Device pixels per unit of GLFW's window coordinates: 1 on X11, the screen's scale elsewhere.
  Vec2 pixels_per_unit() const {
    int width = 0, height = 0, pixel_width = 0, pixel_height = 0;
    glfwGetWindowSize(window, &width, &height);
    glfwGetFramebufferSize(window, &pixel_width, &pixel_height);
    if (width <= 0 || height <= 0 || pixel_width <= 0 || pixel_height <= 0) return {1.0f, 1.0f};
    return {static_cast<float>(pixel_width) / static_cast<float>(width),
            static_cast<float>(pixel_height) / static_cast<float>(height)};
  }

  void read_content_scale() {
    float x = 1.0f, y = 1.0f;
    glfwGetWindowContentScale(window, &x, &y);
    content_scale = x > 0.1f ? x : 1.0f;
  }

  void set_size(int width, int height) {
    const Vec2 unit = pixels_per_unit();
    glfwSetWindowSize(window, static_cast<int>(std::lround(static_cast<float>(width) * scale() / unit.x)),
                      static_cast<int>(std::lround(static_cast<float>(height) * scale() / unit.y)));
  }

  void install_callbacks() {
    glfwSetWindowUserPointer(window, this);
    glfwSetCursorPosCallback(window, [](GLFWwindow* w, double x, double y) {
      State& s = of(w);
      const Vec2 unit = s.pixels_per_unit();
      s.queue.pointer_moved({static_cast<float>(x) * unit.x / s.scale(), static_cast<float>(y) * unit.y / s.scale()});
    });
    glfwSetCursorEnterCallback(window,
                               [](GLFWwindow* w, int inside) { of(w).queue.pointer_inside(inside == GLFW_TRUE); });
    glfwSetMouseButtonCallback(window, [](GLFWwindow* w, int button, int action, int mods) {
      of(w).queue.button(button, action == GLFW_PRESS, modifiers_from_glfw(mods), glfwGetTime());
    });
    glfwSetScrollCallback(window, [](GLFWwindow* w, double x, double y) {
      State& s = of(w);
      s.queue.wheel({static_cast<float>(x), static_cast<float>(y)}, s.held_modifiers());
    });
    glfwSetKeyCallback(window, [](GLFWwindow* w, int key, int scancode, int action, int) {
      State& s = of(w);
      const Key known = key_from_glfw(key, scancode);
      const Modifiers modifiers = s.held_modifiers();
      // "?" comes as a character, wherever the layout has it.
      if (known == Key::Slash && modifiers.shift && !modifiers.ctrl) return;
      s.queue.key(known, action != GLFW_RELEASE, action == GLFW_REPEAT, modifiers);
    });
    glfwSetCharCallback(window, [](GLFWwindow* w, unsigned code_point) {
      State& s = of(w);
      s.queue.character(code_point, {});
    });
    glfwSetDropCallback(window, [](GLFWwindow* w, int count, const char** paths) {
      of(w).queue.dropped(std::vector<std::string>(paths, paths + count));
    });
    glfwSetWindowFocusCallback(window, [](GLFWwindow* w, int focused) { of(w).queue.focused(focused == GLFW_TRUE); });
    glfwSetWindowRefreshCallback(window, [](GLFWwindow* w) { of(w).event_arrived = of(w).lost = true; });
    glfwSetFramebufferSizeCallback(window, [](GLFWwindow* w, int, int) { of(w).event_arrived = of(w).lost = true; });
    glfwSetWindowCloseCallback(window, [](GLFWwindow* w) { of(w).event_arrived = true; });
    glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float, float) {
      of(w).read_content_scale();
      of(w).event_arrived = true;
    });
  }

  // GLFW's own modifiers of a key event lack the key that is being pressed.
  Modifiers held_modifiers() const {
    const auto held = [this](int left, int right) {
      return glfwGetKey(window, left) == GLFW_PRESS || glfwGetKey(window, right) == GLFW_PRESS;
    };
    return {
        .ctrl = held(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL) || held(GLFW_KEY_LEFT_SUPER, GLFW_KEY_RIGHT_SUPER),
        .shift = held(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT),
        .alt = held(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT)};
  }
};

GlfwWindow::GlfwWindow(std::unique_ptr<State> state) : state_(std::move(state)) {}
GlfwWindow::~GlfwWindow() = default;

Result<std::unique_ptr<GlfwWindow>> GlfwWindow::create(const WindowOptions& options) {
  HEADROOM_TRY_VOID(start_glfw());
  auto state = std::make_unique<State>();
  state->ui_scale = options.ui_scale;
  state->ignore_content_scale = options.ignore_content_scale;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, options.debug_context ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHint(GLFW_RESIZABLE, options.resizable ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "headroom");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "headroom");
  const auto units = [&](int logical) {
    return std::max(1, static_cast<int>(std::lround(static_cast<float>(logical) * options.ui_scale)));
  };
  state->window =
      glfwCreateWindow(units(options.width), units(options.height), options.title.c_str(), nullptr, nullptr);
  if (!state->window) {
    Error error(ErrorCode::Device, "the window needs OpenGL 3.3 or newer, and this display does not give it");
    error.wanted("OpenGL 3.3", last_glfw_error());
    return error.advise("LIBGL_ALWAYS_SOFTWARE=1 draws without a graphics card (Mesa's package libgl1-mesa-dri)");
  }
  glfwMakeContextCurrent(state->window);
  if (const int version = epoxy_gl_version(); version < 33) {
    Error error(ErrorCode::Device, "the window needs OpenGL 3.3 or newer");
    error.wanted("OpenGL 3.3", format("OpenGL %d.%d", version / 10, version % 10));
    return error.advise("LIBGL_ALWAYS_SOFTWARE=1 draws without a graphics card (Mesa's package libgl1-mesa-dri)");
  }
  glfwSwapInterval(options.vertical_sync ? 1 : 0);
  state->read_content_scale();
  state->install_callbacks();
  if (state->scale() != options.ui_scale) state->set_size(options.width, options.height);
  if (options.resizable) {
    const Vec2 unit = state->pixels_per_unit();
    glfwSetWindowSizeLimits(state->window, static_cast<int>(kSmallestWidth * state->scale() / unit.x),
                            static_cast<int>(kSmallestHeight * state->scale() / unit.y), GLFW_DONT_CARE,
                            GLFW_DONT_CARE);
  }
  set_window_icon(state->window);
  if (options.maximised) glfwMaximizeWindow(state->window);
  if (options.visible) glfwShowWindow(state->window);
  return std::unique_ptr<GlfwWindow>(new GlfwWindow(std::move(state)));
}

bool GlfwWindow::wait(double seconds) {
  State& s = *state_;
  const auto happened = [&s] { return s.woken->exchange(false) || s.event_arrived || s.queue.left(); };
  s.event_arrived = false;
  glfwPollEvents();
  const double until = glfwGetTime() + seconds;
  // GLFW also returns for events that mean nothing to a window.
  while (!happened()) {
    const double left = until - glfwGetTime();
    if (!(left > 0.0)) return false;
    if (std::isfinite(left)) {
      glfwWaitEventsTimeout(left);
    } else {
      glfwWaitEvents();
    }
  }
  return true;
}

std::function<void()> GlfwWindow::waker() const {
  return [woken = state_->woken] {
    if (!woken->exchange(true)) glfwPostEmptyEvent();
  };
}

Input GlfwWindow::take_input() {
  Input input = state_->queue.take();
  input.time = glfwGetTime();
  input.window = {0.0f, 0.0f, static_cast<float>(framebuffer_width()) / scale(),
                  static_cast<float>(framebuffer_height()) / scale()};
  return input;
}

bool GlfwWindow::input_left() const { return state_->queue.left(); }

bool GlfwWindow::close_requested() const { return glfwWindowShouldClose(state_->window) == GLFW_TRUE; }
void GlfwWindow::request_close(bool close) { glfwSetWindowShouldClose(state_->window, close ? GLFW_TRUE : GLFW_FALSE); }

int GlfwWindow::framebuffer_width() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->window, &width, &height);
  return width;
}

int GlfwWindow::framebuffer_height() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(state_->window, &width, &height);
  return height;
}

bool GlfwWindow::minimised() const {
  return glfwGetWindowAttrib(state_->window, GLFW_ICONIFIED) == GLFW_TRUE || framebuffer_width() == 0 ||
         framebuffer_height() == 0;
}

float GlfwWindow::scale() const { return state_->scale(); }
float GlfwWindow::ui_scale() const { return state_->ui_scale; }
void GlfwWindow::set_ui_scale(float ui_scale) { state_->ui_scale = ui_scale; }
void GlfwWindow::set_size(int width, int height) { state_->set_size(width, height); }
void GlfwWindow::set_title(const std::string& title) { glfwSetWindowTitle(state_->window, title.c_str()); }

void GlfwWindow::set_cursor(Cursor cursor) {
  if (cursor == state_->cursor) return;
  state_->cursor = cursor;
  GLFWcursor*& image = state_->cursors[static_cast<std::size_t>(cursor)];
  if (!image) image = glfwCreateStandardCursor(glfw_cursor_shape(cursor));
  glfwSetCursor(state_->window, image);
}

void GlfwWindow::set_fullscreen(bool on) {
  State& s = *state_;
  if (on == fullscreen()) return;
  if (!on) {
    glfwSetWindowMonitor(s.window, nullptr, s.windowed_x, s.windowed_y, s.windowed_width, s.windowed_height,
                         GLFW_DONT_CARE);
    return;
  }
  GLFWmonitor* monitor = monitor_of(s.window);
  const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
  if (!mode) return;
  glfwGetWindowPos(s.window, &s.windowed_x, &s.windowed_y);
  glfwGetWindowSize(s.window, &s.windowed_width, &s.windowed_height);
  glfwSetWindowMonitor(s.window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

bool GlfwWindow::fullscreen() const { return glfwGetWindowMonitor(state_->window) != nullptr; }

void GlfwWindow::set_maximised(bool on) { on ? glfwMaximizeWindow(state_->window) : glfwRestoreWindow(state_->window); }
bool GlfwWindow::maximised() const { return glfwGetWindowAttrib(state_->window, GLFW_MAXIMIZED) == GLFW_TRUE; }

std::string GlfwWindow::clipboard_text() const {
  const char* text = glfwGetClipboardString(state_->window);
  return text ? text : "";
}

void GlfwWindow::set_clipboard_text(const std::string& text) { glfwSetClipboardString(state_->window, text.c_str()); }
bool GlfwWindow::take_lost() { return std::exchange(state_->lost, false); }
void GlfwWindow::swap_buffers() { glfwSwapBuffers(state_->window); }

std::string GlfwWindow::gl_description() const {
  const auto text = [](GLenum name) {
    const GLubyte* value = glGetString(name);
    return value ? std::string(reinterpret_cast<const char*>(value)) : std::string("?");
  };
  return "OpenGL " + text(GL_VERSION) + ", " + text(GL_RENDERER);
}

}  // namespace headroom
