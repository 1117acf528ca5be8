#include "core/checkpoint/checkpoint.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/base/check.h"
#include "core/checkpoint/adapter_folder.h"
#include "core/checkpoint/checkpoint_folder.h"
#include "core/checkpoint/checkpoint_name.h"
#include "core/checkpoint/checkpoint_warnings.h"
#include "core/checkpoint/container.h"
#include "core/checkpoint/dequantize.h"
#include "core/checkpoint/detect.h"
#include "core/checkpoint/gguf.h"
#include "core/checkpoint/gguf_parts.h"
#include "core/checkpoint/numpy_file.h"
#include "core/checkpoint/safetensors.h"
#include "core/checkpoint/sha256.h"
#include "core/checkpoint/shard_index.h"
#include "core/checkpoint/strict_json.h"
#include "core/checkpoint/torch_file.h"

namespace headroom {

struct Checkpoint::State {
  std::filesystem::path path;
  std::filesystem::path folder;  // of config.json and the tokenizer
  std::vector<std::filesystem::path> folders;
  ContainerFormat format = ContainerFormat::Safetensors;
  std::string format_name;
  std::vector<InputFile> files;
  std::vector<TensorInfo> tensors;
  std::vector<std::string> missing_tensors;
  nlohmann::json config;
  std::filesystem::path config_path;
  nlohmann::json metadata;
  std::vector<std::string> warnings;
  std::optional<Adapter> adapter;

  Result<void> open_path(const CheckpointOptions& options);
  Result<void> open_adapter(const CheckpointOptions& options);
  Result<void> open_file(const std::filesystem::path& file, bool lenient);
  Result<void> open_shards(const std::filesystem::path& index_file, bool lenient);
  Result<void> open_parts(const std::filesystem::path& file, const nlohmann::json& described);
  Result<void> open_config(const std::filesystem::path& given);

  void warn(std::vector<std::string> texts) { std::move(texts.begin(), texts.end(), std::back_inserter(warnings)); }
};

namespace {

constexpr std::uint64_t kSiblingLimit = std::uint64_t{256} << 20;
constexpr JsonLimits kConfigLimits{std::uint64_t{64} << 20, 64};
constexpr std::size_t kReadElements = std::size_t{1} << 16;  // a multiple of every block; decoded while in the cache
constexpr std::size_t kHashBytes = std::size_t{1} << 20;

Result<nlohmann::json> read_config(const std::filesystem::path& path) {
  HEADROOM_TRY(const InputFile file, InputFile::open(path));
  if (file.size_bytes() > kConfigLimits.size_bytes) {
    Error error(ErrorCode::Corrupt, "The config is too large");
    error.in_file(path.string()).at_offset(kConfigLimits.size_bytes);
    return error.wanted("at most " + std::to_string(kConfigLimits.size_bytes) + " bytes",
                        std::to_string(file.size_bytes()));
  }
  HEADROOM_TRY(const std::string text, read_text_file(path, kConfigLimits.size_bytes));
  auto config = parse_json(text, kConfigLimits);
  if (!config) return config.error().in_file(path.string());
  if (!config->is_object()) {
    Error error(ErrorCode::Corrupt, "The config is not a JSON object");
    return error.in_file(path.string()).at_offset(0);
  }
  return config;
}

Result<ContainerContent> read_container(const InputFile& file, ContainerFormat format, bool lenient) {
  switch (format) {
    case ContainerFormat::Gguf: return read_gguf(file);
    case ContainerFormat::Torch: return read_torch_file(file);
    case ContainerFormat::Numpy: return read_numpy_file(file);
    default: return read_safetensors(file, lenient);
  }
}

// Elements [first, first + out.size()) of a tensor with strides, in row-major order. One read from the first byte to
// the last where the elements lie close together, else one for each element.
template <typename T>
Result<void> read_strided(const InputFile& file, const TensorInfo& tensor, std::int64_t element_bytes,
                          std::int64_t first, std::span<T> out) {
  constexpr std::uint64_t kCloseBytes = std::uint64_t{64} << 20, kCloseRatio = 16;
  const std::size_t axes = tensor.shape.size();
  const auto place_of = [&](std::int64_t element) {
    std::int64_t place = 0;
    for (std::size_t axis = axes; axis-- > 0; element /= tensor.shape[axis])
      place += element % tensor.shape[axis] * tensor.strides[axis];
    return place;
  };
  // Of the axes within the first only the last elements bound what is read.
  const std::int64_t row = tensor.element_count() / tensor.shape[0];
  const std::int64_t last = first + static_cast<std::int64_t>(out.size()) - 1;
  std::int64_t begin = first / row * tensor.strides[0], end = last / row * tensor.strides[0] + 1;
  for (std::size_t axis = 1; axis < axes; ++axis) end += (tensor.shape[axis] - 1) * tensor.strides[axis];
  const auto span_bytes = static_cast<std::uint64_t>((end - begin) * element_bytes);
  std::vector<std::byte> gathered(out.size() * static_cast<std::size_t>(element_bytes));
  const auto size = static_cast<std::size_t>(element_bytes);
  if (span_bytes <= kCloseBytes || span_bytes / kCloseRatio <= gathered.size()) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(span_bytes));
    HEADROOM_TRY_VOID(file.read_at(tensor.offset + static_cast<std::uint64_t>(begin * element_bytes), bytes));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto from =
          static_cast<std::size_t>((place_of(first + static_cast<std::int64_t>(i)) - begin) * element_bytes);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), size,
                  gathered.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t place = place_of(first + static_cast<std::int64_t>(i));
      HEADROOM_TRY_VOID(file.read_at(tensor.offset + static_cast<std::uint64_t>(place * element_bytes),
                                     std::span(gathered).subspan(i * size, size)));
    }
  }
  dequantize(tensor.dtype, gathered, out);
  return {};
}

template <typename T>
Result<void> read_elements(const InputFile& file, const TensorInfo& tensor, std::int64_t first, std::span<T> out) {
  const BlockLayout layout = block_layout(tensor.dtype);
  if (layout.elements == 0) {
    Error error(ErrorCode::Unsupported, "The dtype " + tensor.dtype_name + " is not supported");
    error.at_tensor(tensor.name).in_file(file.path().string());
    return error.advise("use a copy of the model in F32, F16, BF16, Q8_0, Q4_0 … Q5_1 or Q2_K … Q6_K");
  }
  const auto count = static_cast<std::int64_t>(out.size());
  HEADROOM_CHECK(first >= 0 && count <= tensor.element_count() - first, "elements outside of the tensor");
  HEADROOM_CHECK(first % layout.elements == 0 && count % layout.elements == 0, "a part of a block");
  const auto bytes_of = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements / layout.elements * layout.size_bytes);
  };
  std::uint64_t offset = tensor.offset + bytes_of(first);
  const auto located = [&](Error error) { return error.at_tensor(tensor.name); };
  if (!tensor.strides.empty() && !out.empty()) {
    if (auto result = read_strided(file, tensor, layout.size_bytes, first, out); !result)
      return located(result.error());
    return {};
  }
  const bool as_stored = (std::is_same_v<T, float> && tensor.dtype == DType::F32) ||
                         (std::is_same_v<T, double> && tensor.dtype == DType::F64);
  if (as_stored) {
    if (auto result = file.read_at(offset, std::as_writable_bytes(out)); !result) return located(result.error());
    return {};
  }
  const std::size_t buffer_bytes = bytes_of(static_cast<std::int64_t>(std::min(out.size(), kReadElements)));
  const auto buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
  while (!out.empty()) {
    const std::span<T> part = out.first(std::min(out.size(), kReadElements));
    const std::span<std::byte> bytes(buffer.get(), bytes_of(static_cast<std::int64_t>(part.size())));
    if (auto result = file.read_at(offset, bytes); !result) return located(result.error());
    dequantize(tensor.dtype, bytes, part);
    offset += bytes.size();
    out = out.subspan(part.size());
  }
  return {};
}

}  // namespace

Result<void> Checkpoint::State::open_file(const std::filesystem::path& file_path, bool lenient) {
  HEADROOM_TRY(InputFile file, InputFile::open(file_path));
  HEADROOM_TRY(format, detect_format(file));
  HEADROOM_TRY(ContainerContent content, read_container(file, format, lenient));
  if (format == ContainerFormat::Gguf && gguf_part_count(content.metadata) > 1)
    return open_parts(file_path, content.metadata);
  format_name = std::move(content.format_name);
  tensors = std::move(content.tensors);
  metadata = std::move(content.metadata);
  warn(std::move(content.warnings));
  files.push_back(std::move(file));
  return {};
}

Result<void> Checkpoint::State::open_shards(const std::filesystem::path& index_file, bool lenient) {
  HEADROOM_TRY(const ShardIndex index, read_shard_index(index_file));
  std::vector<std::uint32_t> shard_of_file;
  std::vector<bool> present(index.shards.size());
  std::vector<nlohmann::json> metadata_of_file;
  for (std::uint32_t shard = 0; shard < index.shards.size(); ++shard) {
    auto opened = InputFile::open(folder / index.shards[shard]);
    if (!opened && opened.error().code == ErrorCode::NotFound) continue;
    if (!opened) return opened.error();
    HEADROOM_TRY(const ContainerFormat found, detect_format(*opened));
    if (files.empty()) format = found;
    if (found != format || (found != ContainerFormat::Safetensors && found != ContainerFormat::Torch)) {
      constexpr std::array kNames = {"safetensors", "GGUF", "PyTorch", "NumPy"};  // as ContainerFormat counts
      Error error(ErrorCode::Corrupt, "A shard is of another format");
      return error.in_file(opened->path().string())
          .wanted(files.empty() ? "safetensors or PyTorch" : format_name, kNames[static_cast<std::size_t>(found)]);
    }
    HEADROOM_TRY(ContainerContent content, read_container(*opened, found, lenient));
    format_name = std::move(content.format_name);
    for (TensorInfo& tensor : content.tensors) tensor.file = static_cast<std::uint32_t>(files.size());
    std::move(content.tensors.begin(), content.tensors.end(), std::back_inserter(tensors));
    warn(std::move(content.warnings));
    metadata_of_file.push_back(std::move(content.metadata));
    files.push_back(std::move(*opened));
    shard_of_file.push_back(shard);
    present[shard] = true;
  }
  if (files.empty()) {
    Error error(ErrorCode::Corrupt, "None of the shards that the index names is there");
    error.in_file(index_file.string()).wanted(std::to_string(index.shards.size()) + " shards", "none");
    return error.advise("download the missing files of the model into this folder");
  }
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  auto check = check_shards(index, tensors, shard_of_file, present);
  if (!check) return check.error().in_file(index_file.string());
  missing_tensors = std::move(check->missing_tensors);
  warn(std::move(check->warnings));
  warn(shard_warnings(tensors, files, metadata_of_file));
  metadata = std::move(metadata_of_file.front());
  return {};
}

Result<void> Checkpoint::State::open_parts(const std::filesystem::path& file, const nlohmann::json& described) {
  HEADROOM_TRY(const GgufPartName name, check_gguf_part(file, described));
  for (std::uint32_t part = 1; part <= name.count; ++part) {
    const std::string part_name = name.file_name(part);
    HEADROOM_TRY_VOID(check_shard_link(folder, part_name));
    auto opened = InputFile::open(folder / part_name);
    if (!opened && opened.error().code == ErrorCode::NotFound) {
      Error error(ErrorCode::Corrupt, "A part of a GGUF model is missing");
      error.in_file((folder / part_name).string());
      return error.advise("download all parts of the model into one folder");
    }
    if (!opened) return opened.error();
    HEADROOM_TRY(ContainerContent content, read_gguf(*opened));
    HEADROOM_TRY_VOID(check_gguf_part(opened->path(), content.metadata));
    for (TensorInfo& tensor : content.tensors) tensor.file = part - 1;
    std::move(content.tensors.begin(), content.tensors.end(), std::back_inserter(tensors));
    warn(std::move(content.warnings));
    // The first part describes the model.
    if (part == 1) {
      format_name = std::move(content.format_name);
      metadata = std::move(content.metadata);
    }
    files.push_back(std::move(*opened));
  }
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  if (auto checked = check_gguf_tensors(name, tensors, metadata); !checked)
    return checked.error().in_file(file.string());
  return {};
}

Result<void> Checkpoint::State::open_config(const std::filesystem::path& given) {
  if (format == ContainerFormat::Gguf) {
    if (!given.empty()) warnings.emplace_back("the config file is not used: a GGUF file describes the model itself");
    return {};
  }
  const std::filesystem::path file = given.empty() ? folder / "config.json" : given;
  auto parsed = read_config(file);
  if (parsed) {
    config = std::move(*parsed);
    config_path = file;
  } else if (!given.empty() || parsed.error().code != ErrorCode::NotFound) {
    return parsed.error();
  }
  return {};
}

// The base as it is, with the adapter's tensors and files behind its own.
Result<void> Checkpoint::State::open_adapter(const CheckpointOptions& options) {
  const AdapterFolder files_of_adapter = adapter_files(path);
  Adapter opened;
  opened.config_path = files_of_adapter.config;
  HEADROOM_TRY(opened.config, read_config(opened.config_path));
  HEADROOM_TRY(opened.base, find_base(opened.config, opened.config_path, options.base));
  HEADROOM_TRY(const bool nested, is_adapter(opened.base));
  if (nested) {
    Error error(ErrorCode::Unsupported, "The base of an adapter is an adapter itself");
    error.in_file(path.string()).wanted("a whole model", opened.base.string());
    return error.advise(
        "merge the first one into its base with peft: model.merge_and_unload().save_pretrained(FOLDER)");
  }
  HEADROOM_TRY(InputFile file, InputFile::open(files_of_adapter.weights));
  HEADROOM_TRY(const ContainerFormat found, detect_format(file));
  if (found != ContainerFormat::Safetensors && found != ContainerFormat::Torch) {
    Error error(ErrorCode::Unsupported, "The weights of an adapter are of another format");
    return error.in_file(file.path().string()).wanted("safetensors or PyTorch", "GGUF or NumPy");
  }
  HEADROOM_TRY(ContainerContent content, read_container(file, found, options.lenient));

  State base;
  base.path = opened.base;
  CheckpointOptions of_base = options;
  of_base.base.clear();
  HEADROOM_TRY_VOID(base.open_path(of_base));
  base.path = path;
  base.folders.insert(base.folders.begin(), files_of_adapter.config.parent_path());
  if (base.config_path.empty()) base.config_path = opened.base;
  for (TensorInfo& tensor : content.tensors) tensor.file = static_cast<std::uint32_t>(base.files.size());
  opened.tensors = std::move(content.tensors);
  base.files.push_back(std::move(file));
  base.warn(std::move(content.warnings));
  base.adapter = std::move(opened);
  *this = std::move(base);
  return {};
}

Result<void> Checkpoint::State::open_path(const CheckpointOptions& options) {
  HEADROOM_TRY(const bool adapts, is_adapter(path));
  if (adapts) return open_adapter(options);
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (code) return path_error(path, code.value());
  if (!options.base.empty()) {
    Error error(ErrorCode::InvalidArgument, "a base is given, and this is no adapter");
    return error.in_file(path.string()).wanted("a folder with adapter_config.json", "another checkpoint");
  }
  if (status.type() == std::filesystem::file_type::directory) {
    folder = path;
    HEADROOM_TRY(const FolderWeights weights, find_weights(path));
    HEADROOM_TRY_VOID(weights.index.empty() ? open_file(weights.file, options.lenient)
                                            : open_shards(weights.index, options.lenient));
  } else {
    folder = path.parent_path();
    HEADROOM_TRY_VOID(open_file(path, options.lenient));
  }
  folders = {folder};
  warn(tensor_warnings(tensors));
  return open_config(options.config);
}

Checkpoint::Checkpoint(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<std::shared_ptr<const Checkpoint>> Checkpoint::open(const std::filesystem::path& path,
                                                           const CheckpointOptions& options) {
  try {
    auto state = std::make_shared<State>();
    state->path = path;
    HEADROOM_TRY_VOID(state->open_path(options));
    return std::shared_ptr<const Checkpoint>(new Checkpoint(std::move(state)));
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "Not enough memory to open the checkpoint").in_file(path.string());
  }
}

const std::filesystem::path& Checkpoint::path() const { return state_->path; }
std::string Checkpoint::name() const { return checkpoint_name(state_->path); }
ContainerFormat Checkpoint::format() const { return state_->format; }
std::string_view Checkpoint::format_name() const { return state_->format_name; }
const std::vector<InputFile>& Checkpoint::files() const { return state_->files; }
std::span<const TensorInfo> Checkpoint::tensors() const { return state_->tensors; }
std::span<const std::string> Checkpoint::missing_tensors() const { return state_->missing_tensors; }
const nlohmann::json& Checkpoint::config() const { return state_->config; }
const std::filesystem::path& Checkpoint::config_path() const {
  return state_->config_path.empty() ? state_->path : state_->config_path;
}
const nlohmann::json& Checkpoint::metadata() const { return state_->metadata; }
std::span<const std::string> Checkpoint::warnings() const { return state_->warnings; }

const TensorInfo* Checkpoint::find(std::string_view name) const {
  const auto before = [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; };
  const auto found = std::lower_bound(state_->tensors.begin(), state_->tensors.end(), name, before);
  return found != state_->tensors.end() && found->name == name ? &*found : nullptr;
}

Result<std::string> Checkpoint::read_sibling(std::string_view file_name) const {
  HEADROOM_CHECK(std::filesystem::path(file_name).filename() == std::filesystem::path(file_name),
                 "a file name without folders");
  for (const std::filesystem::path& folder : state_->folders) {
    auto text = read_text_file(folder / file_name, kSiblingLimit);
    if (text || text.error().code != ErrorCode::NotFound || &folder == &state_->folders.back()) return text;
  }
  return path_error(state_->folder / file_name, ENOENT);
}

const Adapter* Checkpoint::adapter() const { return state_->adapter ? &*state_->adapter : nullptr; }
const std::vector<std::filesystem::path>& Checkpoint::folders() const { return state_->folders; }

Result<void> Checkpoint::read(const TensorInfo& tensor, std::int64_t first, std::span<float> out) const {
  HEADROOM_CHECK(tensor.file < state_->files.size(), "a tensor of another checkpoint");
  return read_elements(state_->files[tensor.file], tensor, first, out);
}

Result<void> Checkpoint::read(const TensorInfo& tensor, std::int64_t first, std::span<double> out) const {
  HEADROOM_CHECK(tensor.file < state_->files.size(), "a tensor of another checkpoint");
  return read_elements(state_->files[tensor.file], tensor, first, out);
}

Result<std::vector<std::string>> Checkpoint::file_hashes(const std::function<bool()>& stop) const {
  std::vector<std::string> hashes;
  std::vector<std::byte> buffer(kHashBytes);
  for (const InputFile& file : state_->files) {
    Sha256 hash;
    for (std::uint64_t offset = 0; offset < file.size_bytes();) {
      if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kHashBytes, file.size_bytes() - offset));
      const std::span part = std::span(buffer).first(size);
      HEADROOM_TRY_VOID(file.read_at(offset, part));
      hash.update(part);
      offset += size;
    }
    hashes.push_back(hash.finish_hex());
  }
  return hashes;
}

}  // namespace headroom
