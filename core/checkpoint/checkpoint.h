// A checkpoint on disk, opened by content and never by extension: one safetensors, GGUF or PyTorch file, the parts of
// a GGUF model by any of them, a folder with shards and config.json, or an adapter over one of these. Opening reads
// headers only; weights are read tensor by tensor. Immutable after open(); reads are pread and safe from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/input_file.h"
#include "core/base/result.h"
#include "core/checkpoint/tensor_info.h"

namespace headroom {

struct Adapter;  // core/checkpoint/adapter_folder.h

enum class ContainerFormat { Safetensors, Gguf, Torch, Numpy };

struct CheckpointOptions {
  bool lenient = false;          // accept holes and trailing bytes of safetensors, with a warning
  std::filesystem::path config;  // --config FILE: used in place of the folder's config.json
  std::filesystem::path base;    // --base PATH: the checkpoint that an adapter changes
  std::int64_t sequence = 0;     // of a capture's batch, PATH::S3
};

class Checkpoint {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const Checkpoint>> open(const std::filesystem::path& path,
                                                                      const CheckpointOptions& options = {});

  [[nodiscard]] const std::filesystem::path& path() const;
  [[nodiscard]] std::string name() const;  // see checkpoint_name()
  [[nodiscard]] ContainerFormat format() const;
  [[nodiscard]] std::string_view format_name() const;  // "safetensors", "gguf v3", "PyTorch (zip)"

  // The files that hold tensors, in the order of TensorInfo::file; those of an adapter behind those of its base.
  [[nodiscard]] const std::vector<InputFile>& files() const;

  // Sorted by name. A partial checkpoint (missing shards) lists what is there; see missing_tensors().
  [[nodiscard]] std::span<const TensorInfo> tensors() const;
  [[nodiscard]] const TensorInfo* find(std::string_view name) const;
  [[nodiscard]] std::span<const std::string> missing_tensors() const;

  // config.json as found (null where there is none; always null for GGUF).
  [[nodiscard]] const nlohmann::json& config() const;
  // The file that describes the model: config() comes from it, or a GGUF's metadata; path() where there is neither.
  [[nodiscard]] const std::filesystem::path& config_path() const;
  // GGUF metadata: key → value, arrays as JSON arrays (null for safetensors).
  // safetensors: the `__metadata__` object, or null. PyTorch: numbers and texts beside the state dict, or null.
  [[nodiscard]] const nlohmann::json& metadata() const;

  // Of an adapter everything here is the base's, but for path(), name() and what stands in adapter(); null: a whole
  // model.
  [[nodiscard]] const Adapter* adapter() const;

  // Where tokenizers and other siblings are looked for, in this order: the checkpoint's folder, or an adapter's and
  // then that of its base.
  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const;
  // Text of a sibling file such as "tokenizer.json" in the first of them that has it; NotFound where it is absent.
  // Limited to 256 MiB.
  [[nodiscard]] Result<std::string> read_sibling(std::string_view file_name) const;

  // Sentences for a person: total_size disagreements, look-alike names, odd dtypes.
  [[nodiscard]] std::span<const std::string> warnings() const;

  // Elements [first, first + count) of the row-major tensor, decoded to float or double (blocks dequantised; for
  // block types `first` and `count` are multiples of 32 or end at the tensor's end).
  // out.size() == count. Errors name the tensor and the file; Unsupported for dtypes that are only listed.
  [[nodiscard]] Result<void> read(const TensorInfo& tensor, std::int64_t first, std::span<float> out) const;
  [[nodiscard]] Result<void> read(const TensorInfo& tensor, std::int64_t first, std::span<double> out) const;

  // SHA-256 of each file's content in lower-case hex, in the order of files(). Reads everything; Cancelled once `stop`
  // answers true.
  [[nodiscard]] Result<std::vector<std::string>> file_hashes(const std::function<bool()>& stop = {}) const;

 private:
  struct State;
  explicit Checkpoint(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace headroom
