// The file that a stopped training goes on from: named arrays and texts in one safetensors file. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/io/safetensors_writer.h"

namespace headroom {

class Checkpoint;

[[nodiscard]] Result<void> write_state_file(const std::filesystem::path& path, std::span<const TensorBytes> arrays,
                                            const std::map<std::string, std::string>& texts);

class StateFile {
 public:
  [[nodiscard]] static Result<StateFile> open(const std::filesystem::path& path);

  [[nodiscard]] std::string text(const std::string& name) const;                         // empty where there is none
  [[nodiscard]] const std::vector<std::int64_t>* shape(const std::string& array) const;  // null where there is none
  // The whole array, which must be there.
  [[nodiscard]] Result<void> read(const std::string& array, std::span<float> out) const;
  [[nodiscard]] Result<void> read(const std::string& array, std::span<double> out) const;

 private:
  explicit StateFile(std::shared_ptr<const Checkpoint> file) : file_(std::move(file)) {}
  std::shared_ptr<const Checkpoint> file_;
};

}  // namespace headroom
