#include "app/window/frame_loop.h"

#include <epoxy/gl.h>
#include <png.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

#include "app/gl/gl_errors.h"
#include "app/gl/gl_handle.h"
#include "app/gl/software_renderer.h"
#include "app/window/trace.h"
#include "core/base/data_folder.h"
#include "core/base/environment.h"

namespace headroom {
namespace {

constexpr std::size_t kKeptTimes = 1024;
constexpr std::int64_t kCompareEvery = 16;

void keep(std::vector<float>& times, double value_us) {
  if (times.size() >= 2 * kKeptTimes) times.erase(times.begin(), times.end() - static_cast<std::ptrdiff_t>(kKeptTimes));
  times.push_back(static_cast<float>(value_us / 1000.0));
}

}  // namespace

// Members die in reverse order: the context's window last.
struct FrameLoop::State {
  std::unique_ptr<GlfwWindow> window;
  std::unique_ptr<GlErrors> errors;
  std::unique_ptr<ImguiPainter> painter;
  Trace* trace = nullptr;
  Color background;
  int width = 1, height = 1;
  double begun_us = 0.0;
  FrameTimes times;
  std::int64_t frames = 0;
  // Where a pixel costs and what was drawn stays in the window's buffer, only what differs is drawn again.
  bool keeps = false;
  float drawn_share = 1.0f;
  double differ = -1.0;

  void begin(Color clear_color, int enlarged) {
    begun_us = Trace::now_us();
    background = clear_color;
    width = std::max(1, window->framebuffer_width()) * enlarged;
    height = std::max(1, window->framebuffer_height()) * enlarged;
    painter->begin_frame(width, height, window->scale() * static_cast<float>(enlarged));
  }

  void draw() {
    glDisable(GL_SCISSOR_TEST);
    glViewport(0, 0, width, height);
    glClearColor(static_cast<float>(background.r) / 255.0f, static_cast<float>(background.g) / 255.0f,
                 static_cast<float>(background.b) / 255.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
    painter->render();
  }

  // Of the bound framebuffer, which is released.
  Result<PixelImage> read_back(bool complete, int wide, int high) {
    PixelImage image{wide, high, {}};
    const std::size_t row = static_cast<std::size_t>(wide) * 3;
    image.rgb.resize(row * static_cast<std::size_t>(high));
    if (complete) {
      glPixelStorei(GL_PACK_ALIGNMENT, 1);
      glReadPixels(0, 0, wide, high, GL_RGB, GL_UNSIGNED_BYTE, image.rgb.data());
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    if (!errors->check("reading the picture back") || !complete)
      return Error(ErrorCode::Device, "the picture could not be read back from OpenGL");
    for (int y = 0; y < high / 2; ++y)
      std::swap_ranges(image.rgb.begin() + static_cast<std::ptrdiff_t>(row * y),
                       image.rgb.begin() + static_cast<std::ptrdiff_t>(row * (y + 1)),
                       image.rgb.begin() + static_cast<std::ptrdiff_t>(row * (high - 1 - y)));
    return image;
  }

  // What differs from the frame that was presented last. False: nothing does.
  bool draw_changes() {
    if (!keeps) {
      draw();
      return true;
    }
    glViewport(0, 0, width, height);
    drawn_share = painter->render_changes(background, window->take_lost());
    return drawn_share > 0.0f;
  }
};

FrameLoop::FrameLoop(std::unique_ptr<State> state) : state_(std::move(state)) {}
FrameLoop::~FrameLoop() = default;

Result<std::unique_ptr<FrameLoop>> FrameLoop::create(const FrameLoopOptions& options, FontLibrary& fonts) {
  const std::string folder = options.shader_folder.empty() ? find_shader_folder() : options.shader_folder;
  if (folder.empty()) {
    Error error(ErrorCode::NotFound, "the folder with the shaders was not found");
    error.wanted("shaders/map.frag beside the program or in a folder above it", "none");
    return error.advise("HEADROOM_SHADERS names the folder");
  }
  auto state = std::make_unique<State>();
  state->trace = options.trace;
  HEADROOM_TRY(state->window, GlfwWindow::create(options.window));
  state->errors = std::make_unique<GlErrors>(options.report);
  HEADROOM_TRY(state->painter, ImguiPainter::create(fonts, folder, options.report));
  GlfwWindow& window = *state->window;
  state->keeps = copies_to_screen() && keeps_what_was_drawn(window.framebuffer_width(), window.framebuffer_height(),
                                                            [&window] { window.swap_buffers(); });
  if (state->keeps) state->painter->keep_frames();
  state->errors->check("starting the painter");
  return std::unique_ptr<FrameLoop>(new FrameLoop(std::move(state)));
}

GlfwWindow& FrameLoop::window() { return *state_->window; }
ImguiPainter& FrameLoop::painter() { return *state_->painter; }
bool FrameLoop::wait(double seconds) { return state_->window->wait(seconds); }

Input FrameLoop::begin_frame(Color background, int times) {
  state_->begin(background, times);
  return state_->window->take_input();
}

void FrameLoop::begin_hidden_frame(Color background, int times) { state_->begin(background, times); }

void FrameLoop::end_frame() {
  State& s = *state_;
  const double built_us = Trace::now_us();
  const bool changed = s.draw_changes();  // else the screen has it already
  s.errors->check("drawing a frame");
  const double drawn_us = Trace::now_us();
  if (changed) s.window->swap_buffers();
  const double end_us = Trace::now_us();
  keep(s.times.build, built_us - s.begun_us);
  keep(s.times.total, end_us - s.begun_us);
  ++s.frames;
  if (s.trace && s.trace->enabled()) {
    s.trace->event("frame", s.begun_us, end_us - s.begun_us);
    s.trace->event("build", s.begun_us, built_us - s.begun_us);
    s.trace->event("draw", built_us, drawn_us - built_us);
    s.trace->event("present", drawn_us, end_us - drawn_us);
  }
}

Result<PixelImage> FrameLoop::capture() {
  State& s = *state_;
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (std::max(s.width, s.height) > largest) {
    Error error(ErrorCode::Device, "the picture is larger than the graphics can draw");
    error.wanted("at most " + std::to_string(largest) + " pixels in each direction",
                 std::to_string(s.width) + " × " + std::to_string(s.height));
    return error.advise("picture.size 1 saves the pixels of the screen");
  }
  // A picture of its own: parts of a window that lie outside the screen or below others have no pixels.
  const auto framebuffer = GlFramebuffer::make();
  const auto colors = GlRenderbuffer::make();
  glBindRenderbuffer(GL_RENDERBUFFER, colors.name());
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, s.width, s.height);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer.name());
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colors.name());
  const bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  if (complete) s.draw();
  return s.read_back(complete, s.width, s.height);
}

Result<PixelImage> FrameLoop::shown(bool anew) {
  State& s = *state_;
  if (!s.keeps) return capture();
  if (anew) (void)s.painter->render_changes(s.background, true);
  Result<PixelImage> image = s.read_back(true, s.width, s.height);
  s.window->swap_buffers();  // the same once more: the buffer that was read keeps its size until it is presented
  return image;
}

bool FrameLoop::keeps_frames() const { return state_->keeps; }
float FrameLoop::drawn_share() const { return state_->drawn_share; }
void FrameLoop::compare_shown() {
  State& s = *state_;
  if (!s.keeps || s.frames % kCompareEvery != 0) return;
  const Result<PixelImage> kept = shown(), whole = shown(true);
  if (kept && whole) s.differ = std::max(s.differ, 0.0) + (kept->rgb != whole->rgb ? 1.0 : 0.0);
}

double FrameLoop::frames_differ() const { return state_->differ; }
const FrameTimes& FrameLoop::times() const { return state_->times; }
std::int64_t FrameLoop::frame_count() const { return state_->frames; }
std::int64_t FrameLoop::gl_error_count() const { return state_->errors->count(); }

bool keeps_what_was_drawn(int width, int height, const std::function<void()>& present) {
  if (width < 2 || height < 2) return false;
  const int half_width = width / 2, half_height = height / 2;
  const auto fill = [](int shade) {
    glClearColor(static_cast<float>(shade) / 255.0f, 0.0f, 0.0f, 1.0f);
    glClear(GL_COLOR_BUFFER_BIT);
  };
  const auto shows = [](int x, int y, int shade) {
    GLubyte pixel[4] = {};
    glReadPixels(x, y, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    return pixel[0] == shade && pixel[1] == 0;
  };
  for (const int shade : {3, 1, 5}) {  // as dark as a window that nothing was drawn into
    glDisable(GL_SCISSOR_TEST);
    fill(shade);
    present();
    glEnable(GL_SCISSOR_TEST);
    glScissor(0, 0, half_width, half_height);
    fill(shade + 1);
    glDisable(GL_SCISSOR_TEST);
    present();
    for (const int x : {0, half_width - 1, half_width, width - 1})
      for (const int y : {0, half_height - 1, half_height, height - 1})
        if (!shows(x, y, x < half_width && y < half_height ? shade + 1 : shade)) return false;
  }
  return true;
}

Result<void> write_png(const std::filesystem::path& path, const PixelImage& image) {
  const std::filesystem::path part = path.string() + ".part";
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  std::error_code failed;
  if (png_image_write_to_file(&header, part.c_str(), 0, image.rgb.data(), image.width * 3, nullptr) == 0) {
    std::filesystem::remove(part, failed);
    return Error(ErrorCode::Io, std::string("the picture could not be written: ") + header.message)
        .in_file(path.string());
  }
  std::filesystem::rename(part, path, failed);
  if (!failed) return {};
  const std::string reason = failed.message();
  std::filesystem::remove(part, failed);
  return Error(ErrorCode::Io, "the picture could not be written: " + reason).in_file(path.string());
}

std::string find_shader_folder() {
  if (std::string named = environment_text("HEADROOM_SHADERS"); !named.empty()) return named;
  return find_data_folder("shaders", "map.frag").string();
}

}  // namespace headroom
