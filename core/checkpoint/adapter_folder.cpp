#include "core/checkpoint/adapter_folder.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "core/base/input_file.h"

namespace headroom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kWeights[] = {"adapter_model.safetensors", "adapter_model.bin"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// A folder, or that of one of the files.
fs::path folder_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return path;
  for (const char* name : kWeights)
    if (path.filename() == name) return path.has_parent_path() ? path.parent_path() : fs::path(".");
  return {};
}

}  // namespace

Result<bool> is_adapter(const fs::path& path) {
  const fs::path folder = folder_of(path);
  if (folder.empty() || !is_there(folder / kConfig)) return false;
  for (const char* name : kWeights)
    if (is_there(folder / name)) return true;
  // A merged model may keep the config of the adapter that went into it.
  if (is_there(folder / "config.json")) return false;
  Error error(ErrorCode::Corrupt, "The folder has an adapter_config.json but no weights of an adapter");
  return error.in_file(folder.string()).wanted("adapter_model.safetensors or adapter_model.bin", "neither");
}

AdapterFolder adapter_files(const fs::path& path) {
  const fs::path folder = folder_of(path);
  if (folder != path) return {folder / kConfig, path};
  return {folder / kConfig, folder / (is_there(folder / kWeights[0]) ? kWeights[0] : kWeights[1])};
}

Result<fs::path> find_base(const nlohmann::json& config, const fs::path& config_path, const fs::path& given) {
  if (!given.empty()) {
    std::error_code code;
    const fs::file_status status = fs::status(given, code);
    if (code) return path_error(given, code.value());
    if (status.type() == fs::file_type::not_found) return path_error(given, ENOENT);
    return given;
  }
  const auto named = config.find("base_model_name_or_path");
  const std::string name = named != config.end() && named->is_string() ? named->get<std::string>() : "";
  if (!name.empty() && name.find('\0') == std::string::npos)
    for (const fs::path& place : {config_path.parent_path() / name, fs::path(name)})
      if (is_there(place)) return place.lexically_normal();
  Error error(ErrorCode::NotFound, "This is an adapter, and the model that it changes is not here");
  error.in_file(config_path.string()).at_tensor("base_model_name_or_path");
  error.wanted("a path on this disk", name.empty() ? "nothing" : name);
  return error.advise("give the folder or file of that model: --base PATH, in the window: open ADAPTER PATH");
}

}  // namespace headroom
