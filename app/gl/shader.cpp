#include "app/gl/shader.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::chrono::milliseconds kCheckEvery{500};

Result<void> append_source(const std::filesystem::path& path, std::vector<std::filesystem::path>& files,
                           std::string& out) {
  if (std::find(files.begin(), files.end(), path) != files.end()) return {};
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Error(ErrorCode::NotFound, "a shader could not be read").in_file(path.string());
  files.push_back(path);
  const std::size_t number = files.size() - 1;
  std::string line;
  for (int i = 1; std::getline(stream, line); ++i) {
    constexpr std::string_view kInclude = "#include \"";
    if (line.starts_with(kInclude)) {
      const std::string name = line.substr(kInclude.size(), line.find('"', kInclude.size()) - kInclude.size());
      HEADROOM_TRY_VOID(append_source(path.parent_path() / name, files, out));
      out += format("#line %d %zu\n", i + 1, number);
    } else {
      out += line + "\n";
      if (line.starts_with("#version")) out += format("#line %d %zu\n", i + 1, number);
    }
  }
  if (stream.bad()) return Error(ErrorCode::Io, "a shader could not be read").in_file(path.string());
  return {};
}

std::string info_log(GLuint name, bool program) {
  GLint length = 0;
  program ? glGetProgramiv(name, GL_INFO_LOG_LENGTH, &length) : glGetShaderiv(name, GL_INFO_LOG_LENGTH, &length);
  std::string text(static_cast<std::size_t>(std::max(length, 1)), '\0');
  GLsizei written = 0;
  program ? glGetProgramInfoLog(name, length, &written, text.data())
          : glGetShaderInfoLog(name, length, &written, text.data());
  text.resize(static_cast<std::size_t>(std::max(written, 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// The compiler names files by their numbers in #line.
std::string with_file_names(std::string log, const std::vector<std::filesystem::path>& files) {
  if (files.size() > 1) {
    log += " (files:";
    for (std::size_t i = 0; i < files.size(); ++i) log += format(" %zu ", i) + files[i].filename().string();
    log += ")";
  }
  return log;
}

template <typename Traits>
Result<UniqueHandle<Traits>> compile(const std::filesystem::path& path, std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> own;
  auto source = load_shader_source(path, own);
  for (const auto& file : own) {
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  if (!source) return std::move(source.error());
  auto shader = UniqueHandle<Traits>::make();
  const char* text = source->c_str();
  glShaderSource(shader.name(), 1, &text, nullptr);
  glCompileShader(shader.name());
  GLint compiled = 0;
  glGetShaderiv(shader.name(), GL_COMPILE_STATUS, &compiled);
  if (compiled == GL_TRUE) return shader;
  Error error(ErrorCode::Corrupt, "a shader does not compile: " + with_file_names(info_log(shader.name(), false), own));
  return error.in_file(path.string());
}

Result<GlProgram> link(const std::filesystem::path& vertex, const std::filesystem::path& fragment,
                       std::vector<std::filesystem::path>& files) {
  auto vertex_shader = compile<VertexShaderTraits>(vertex, files);
  auto fragment_shader = compile<FragmentShaderTraits>(fragment, files);
  if (!vertex_shader) return std::move(vertex_shader.error());
  if (!fragment_shader) return std::move(fragment_shader.error());
  auto program = GlProgram::make();
  glAttachShader(program.name(), vertex_shader->name());
  glAttachShader(program.name(), fragment_shader->name());
  glLinkProgram(program.name());
  GLint linked = 0;
  glGetProgramiv(program.name(), GL_LINK_STATUS, &linked);
  if (linked == GL_TRUE) return program;
  return Error(ErrorCode::Corrupt, "shaders do not link: " + info_log(program.name(), true)).in_file(fragment.string());
}

}  // namespace

Result<std::string> load_shader_source(const std::filesystem::path& path, std::vector<std::filesystem::path>& files) {
  std::string text;
  HEADROOM_TRY_VOID(append_source(path, files, text));
  return text;
}

Result<ShaderProgram> ShaderProgram::load(const std::filesystem::path& folder, const std::string& vertex_file,
                                          const std::string& fragment_file) {
  ShaderProgram shader;
  shader.folder_ = folder;
  shader.vertex_file_ = vertex_file;
  shader.fragment_file_ = fragment_file;
  HEADROOM_TRY(shader.program_, link(folder / vertex_file, folder / fragment_file, shader.files_));
  shader.times_ = shader.file_times();
  shader.checked_ = Clock::now();
  return shader;
}

ShaderProgram::FileTimes ShaderProgram::file_times() const {
  FileTimes times;
  for (const auto& file : files_) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(file, missing);
    times.push_back(missing ? std::filesystem::file_time_type::min() : time);
  }
  return times;
}

void ShaderProgram::reload_if_changed(const std::function<void(const std::string&)>& report) {
  const auto now = Clock::now();
  if (now - checked_ < kCheckEvery) return;
  checked_ = now;
  const FileTimes times = file_times();
  if (times == times_) return;
  std::vector<std::filesystem::path> files;
  auto program = link(folder_ / vertex_file_, folder_ / fragment_file_, files);
  if (program) {
    program_ = std::move(*program);
    files_ = std::move(files);
    locations_.clear();
    if (report) report("loaded " + vertex_file_ + " and " + fragment_file_ + " again");
  } else if (report) {
    report(describe(program.error()));
  }
  times_ = file_times();
}

GLint ShaderProgram::location(const char* uniform) {
  const auto found = locations_.find(uniform);
  if (found != locations_.end()) return found->second;
  return locations_[uniform] = glGetUniformLocation(program_.name(), uniform);
}

}  // namespace headroom
