// The contents of a folder for the file chooser: folders first, names in natural order, what each file is. Reads the
// disk; no state. Safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

enum class FileKind : std::uint8_t {
  Folder,
  ModelFolder,
  TrainingFolder,
  Checkpoint,
  Run,
  Training,
  Session,
  Text,
  Other
};
[[nodiscard]] const char* file_kind_text(FileKind kind);  // "model folder", "checkpoint", "run", …; folders: ""

struct FileItem {
  std::string name;  // bytes of the file system
  FileKind kind = FileKind::Other;
  std::uint64_t size_bytes = 0;  // 0 for folders
  std::int64_t modified_unix = 0;
  [[nodiscard]] bool folder() const {
    return kind == FileKind::Folder || kind == FileKind::ModelFolder || kind == FileKind::TrainingFolder;
  }
  [[nodiscard]] bool opens() const {
    return kind != FileKind::Folder && kind != FileKind::Text && kind != FileKind::Other;
  }
};

// Names of checkpoints that are read end in one of these.
inline constexpr std::array<std::string_view, 7> kCheckpointEndings = {".safetensors", ".gguf", ".pt", ".pth",
                                                                       ".bin",         ".ckpt", ".npz"};
inline constexpr std::string_view kSessionEnding = ".headroom";
// By name alone; .h5 and .hdf5 are runs of this program, training.h5 the history of a training, .headroom sessions.
[[nodiscard]] FileKind kind_of_name(std::string_view name);
// A folder with config.json, or that of an adapter, beside weights.
[[nodiscard]] bool is_model_folder(const std::filesystem::path& folder);
// A folder that was trained into and is no model itself: with training.h5, the state of a training (Hugging Face's
// too), or step checkpoints (step_N, checkpoint-N).
[[nodiscard]] bool is_training_folder(const std::filesystem::path& folder);

struct FileListOptions {
  bool hidden = false;  // names that begin with a dot
  std::size_t most = 20000;
};
struct FileList {
  std::vector<FileItem> items;
  std::size_t left_out = 0;  // beyond `most`
  bool model = false;        // the folder itself is a model folder or that of a training
};
// NotFound, InvalidArgument (no folder) or Io (no permission). Entries that vanish or cannot be looked at are Other,
// size 0.
[[nodiscard]] Result<FileList> list_folder(const std::filesystem::path& folder, const FileListOptions& options = {});

// "file2" before "file10", without regard to case; equal names by their bytes.
[[nodiscard]] bool natural_less(std::string_view a, std::string_view b);
// ASCII case does not count.
[[nodiscard]] bool begins_with(std::string_view name, std::string_view beginning);
// The first item at or after `from`, going round, whose name begins with `typed`; −1: none.
[[nodiscard]] int find_typed(const std::vector<FileItem>& items, std::string_view typed, int from);
// The ways a typed path can go on: names in its folder that begin with its last part, folders with a slash; at most
// 100.
[[nodiscard]] std::vector<std::string> complete_path(std::string_view typed);
// "~/x" with the home folder; "" for "".
[[nodiscard]] std::string expand_home(std::string_view path);

}  // namespace headroom
