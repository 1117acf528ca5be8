#include "app/gl/gl_errors.h"

#include <epoxy/gl.h>

#include <cstddef>
#include <set>
#include <utility>

#include "core/base/format.h"

namespace headroom {

struct GlErrors::State {
  std::function<void(const std::string&)> report;
  std::set<std::string> seen;
  std::int64_t count = 0;
  std::function<void(const std::string&)> callback;  // given to GL by address
  bool has_debug = false;

  void take(const std::string& line) {
    constexpr std::size_t kMaxLines = 200;
    ++count;
    if (seen.size() < kMaxLines && seen.insert(line).second && report) report(line);
  }
};

namespace {

void GLAPIENTRY debug_message(GLenum, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar* text,
                              const void* user) {
  const bool error = type == GL_DEBUG_TYPE_ERROR || type == GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR;
  if (!error && severity != GL_DEBUG_SEVERITY_HIGH) return;
  try {
    const auto& take = *static_cast<const std::function<void(const std::string&)>*>(user);
    take(format("GL %u: ", id) +
         (length >= 0 ? std::string(text, static_cast<std::size_t>(length)) : std::string(text)));
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory, inside the driver's call, which is C
  }
}

const char* error_name(GLenum error) {
  switch (error) {
    case GL_INVALID_ENUM: return "invalid enum";
    case GL_INVALID_VALUE: return "invalid value";
    case GL_INVALID_OPERATION: return "invalid operation";
    case GL_INVALID_FRAMEBUFFER_OPERATION: return "invalid framebuffer operation";
    case GL_OUT_OF_MEMORY: return "out of memory";
    default: return "unknown error";
  }
}

}  // namespace

GlErrors::GlErrors(std::function<void(const std::string&)> report) : state_(std::make_unique<State>()) {
  state_->report = std::move(report);
  state_->callback = [state = state_.get()](const std::string& line) { state->take(line); };
  state_->has_debug = epoxy_gl_version() >= 43 || epoxy_has_gl_extension("GL_KHR_debug");
  if (!state_->has_debug) return;
  glEnable(GL_DEBUG_OUTPUT);
  glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
  glDebugMessageCallback(debug_message, &state_->callback);
}

GlErrors::~GlErrors() {
  if (state_->has_debug) glDebugMessageCallback(nullptr, nullptr);
}

bool GlErrors::check(const char* where) {
  constexpr int kMostErrors = 16;  // a lost context repeats its error for ever
  bool clean = true;
  for (int i = 0; i < kMostErrors; ++i) {
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR) break;
    clean = false;
    state_->take(format("GL 0x%04x: %s after %s", error, error_name(error), where));
  }
  return clean;
}

std::int64_t GlErrors::count() const { return state_->count; }

}  // namespace headroom
