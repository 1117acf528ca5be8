#include "core/io/safetensors_writer.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "core/io/atomic_file.h"

namespace headroom {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors holds little-endian numbers");

constexpr std::size_t kHeaderAlignment = 8;

}  // namespace

Result<void> write_safetensors(const std::filesystem::path& path, std::span<const TensorBytes> given,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<TensorBytes> tensors(given.begin(), given.end());
  std::ranges::sort(tensors, {}, &TensorBytes::name);
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const TensorBytes& tensor : tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');

  HEADROOM_TRY(AtomicFile file, AtomicFile::create(path, true, {}));
  const std::uint64_t size = text.size();
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(&size, 1)), path));
  HEADROOM_TRY_VOID(write_all(file.descriptor(), std::as_bytes(std::span(text.data(), text.size())), path));
  for (const TensorBytes& tensor : tensors) HEADROOM_TRY_VOID(write_all(file.descriptor(), tensor.bytes, path));
  return file.commit();
}

}  // namespace headroom
