// Owners of GL names: move-only. Main thread only, while the context that made the name is current.
#pragma once

#include <epoxy/gl.h>

#include <utility>

namespace headroom {

template <typename Traits>
class UniqueHandle {
 public:
  UniqueHandle() = default;
  explicit UniqueHandle(GLuint name) : name_(name) {}
  UniqueHandle(UniqueHandle&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() {
    if (name_ != 0) Traits::destroy(name_);
  }

  [[nodiscard]] static UniqueHandle make() { return UniqueHandle(Traits::create()); }
  [[nodiscard]] GLuint name() const { return name_; }
  explicit operator bool() const { return name_ != 0; }

 private:
  GLuint name_ = 0;
};

struct TextureTraits {
  static GLuint create() {
    GLuint name = 0;
    glGenTextures(1, &name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteTextures(1, &name); }
};

struct BufferTraits {
  static GLuint create() {
    GLuint name = 0;
    glGenBuffers(1, &name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
};

struct VertexArrayTraits {
  static GLuint create() {
    GLuint name = 0;
    glGenVertexArrays(1, &name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteVertexArrays(1, &name); }
};

struct FramebufferTraits {
  static GLuint create() {
    GLuint name = 0;
    glGenFramebuffers(1, &name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteFramebuffers(1, &name); }
};

struct RenderbufferTraits {
  static GLuint create() {
    GLuint name = 0;
    glGenRenderbuffers(1, &name);
    return name;
  }
  static void destroy(GLuint name) { glDeleteRenderbuffers(1, &name); }
};

struct ProgramTraits {
  static GLuint create() { return glCreateProgram(); }
  static void destroy(GLuint name) { glDeleteProgram(name); }
};

struct VertexShaderTraits {
  static GLuint create() { return glCreateShader(GL_VERTEX_SHADER); }
  static void destroy(GLuint name) { glDeleteShader(name); }
};

struct FragmentShaderTraits {
  static GLuint create() { return glCreateShader(GL_FRAGMENT_SHADER); }
  static void destroy(GLuint name) { glDeleteShader(name); }
};

using GlTexture = UniqueHandle<TextureTraits>;
using GlBuffer = UniqueHandle<BufferTraits>;
using GlVertexArray = UniqueHandle<VertexArrayTraits>;
using GlFramebuffer = UniqueHandle<FramebufferTraits>;
using GlRenderbuffer = UniqueHandle<RenderbufferTraits>;
using GlProgram = UniqueHandle<ProgramTraits>;

}  // namespace headroom
