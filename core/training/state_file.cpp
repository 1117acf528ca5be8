#include "core/training/state_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/check.h"
#include "core/checkpoint/checkpoint.h"

namespace headroom {
namespace {

template <typename Real>
Result<void> read_whole(const Checkpoint& file, const std::string& array, std::span<Real> out) {
  const TensorInfo* info = file.find(array);
  HEADROOM_CHECK(info != nullptr, "no array of this name");
  return file.read(*info, 0, out);
}

}  // namespace

Result<void> write_state_file(const std::filesystem::path& path, std::span<const TensorBytes> arrays,
                              const std::map<std::string, std::string>& texts) {
  return write_safetensors(path, arrays, texts);
}

Result<StateFile> StateFile::open(const std::filesystem::path& path) {
  HEADROOM_TRY(std::shared_ptr<const Checkpoint> file, Checkpoint::open(path));
  return StateFile(std::move(file));
}

std::string StateFile::text(const std::string& name) const {
  const nlohmann::json& texts = file_->metadata();
  return texts.is_object() ? texts.value(name, std::string()) : std::string();
}

const std::vector<std::int64_t>* StateFile::shape(const std::string& array) const {
  const TensorInfo* info = file_->find(array);
  return info ? &info->shape : nullptr;
}

Result<void> StateFile::read(const std::string& array, std::span<float> out) const {
  return read_whole(*file_, array, out);
}

Result<void> StateFile::read(const std::string& array, std::span<double> out) const {
  return read_whole(*file_, array, out);
}

}  // namespace headroom
