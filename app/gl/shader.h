// A GL program from two files below shaders/, loaded again when one of them (or a file they include) changes. Main
// thread only.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/gl/gl_handle.h"
#include "core/base/result.h"

namespace headroom {

// `path` with its lines #include "FILE" replaced by that file of the same folder, each once. `files`: all that were
// read, in the order of their numbers in #line. NotFound or Io if one cannot be read.
[[nodiscard]] Result<std::string> load_shader_source(const std::filesystem::path& path,
                                                     std::vector<std::filesystem::path>& files);

class ShaderProgram {
 public:
  // Corrupt, with the compiler's words, if the files do not make a program.
  [[nodiscard]] static Result<ShaderProgram> load(const std::filesystem::path& folder, const std::string& vertex_file,
                                                  const std::string& fragment_file);

  // Looks at the files' times at most twice a second. A program that does not compile goes to `report`, and the old one
  // stays.
  void reload_if_changed(const std::function<void(const std::string&)>& report);

  void use() const { glUseProgram(program_.name()); }
  // Of a uniform; −1, which GL ignores, if the program has none of that name.
  [[nodiscard]] GLint location(const char* uniform);

 private:
  ShaderProgram() = default;
  using Clock = std::chrono::steady_clock;
  using FileTimes = std::vector<std::filesystem::file_time_type>;
  [[nodiscard]] FileTimes file_times() const;

  std::filesystem::path folder_;
  std::string vertex_file_, fragment_file_;
  GlProgram program_;
  std::unordered_map<std::string, GLint> locations_;
  std::vector<std::filesystem::path> files_;
  FileTimes times_;
  Clock::time_point checked_;
};

}  // namespace headroom
