#include "core/checkpoint/torch_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/byte_reader.h"
#include "core/checkpoint/pickle.h"
#include "core/checkpoint/zip_directory.h"

namespace headroom {
namespace {

using namespace std::string_view_literals;
using Index = Pickle::Index;

constexpr std::uint64_t kMostPickleBytes = std::uint64_t{64} << 20, kMostRecordBytes = 4096;
constexpr int kMostDepth = 64, kMostAxes = 16, kMostWrappers = 4;
constexpr std::int64_t kMostExpanded = std::int64_t{1} << 36;
constexpr std::size_t kMostVisits = 8'000'000, kMostNameBytes = 4096, kMostShown = 8, kMostMetadata = 1000;

struct StorageType {
  std::string_view name;  // of the class or dtype in torch
  DType dtype = DType::Unsupported;
  std::int64_t bytes = 1;
  std::string_view shown;
};

constexpr std::array kStorageTypes = {
    StorageType{"FloatStorage", DType::F32, 4, "F32"},
    StorageType{"DoubleStorage", DType::F64, 8, "F64"},
    StorageType{"HalfStorage", DType::F16, 2, "F16"},
    StorageType{"BFloat16Storage", DType::BF16, 2, "BF16"},
    StorageType{"LongStorage", DType::I64, 8, "I64"},
    StorageType{"IntStorage", DType::I32, 4, "I32"},
    StorageType{"ShortStorage", DType::I16, 2, "I16"},
    StorageType{"CharStorage", DType::I8, 1, "I8"},
    StorageType{"ByteStorage", DType::U8, 1, "U8"},
    StorageType{"BoolStorage", DType::BOOL, 1, "BOOL"},
    StorageType{"ComplexFloatStorage", DType::Unsupported, 8, "C64"},
    StorageType{"ComplexDoubleStorage", DType::Unsupported, 16, "C128"},
    StorageType{"UntypedStorage", DType::U8, 1, "U8"},
    // dtypes that _rebuild_tensor_v3 names
    StorageType{"float32", DType::F32, 4, "F32"},
    StorageType{"float64", DType::F64, 8, "F64"},
    StorageType{"float16", DType::F16, 2, "F16"},
    StorageType{"bfloat16", DType::BF16, 2, "BF16"},
    StorageType{"int64", DType::I64, 8, "I64"},
    StorageType{"int32", DType::I32, 4, "I32"},
    StorageType{"int16", DType::I16, 2, "I16"},
    StorageType{"int8", DType::I8, 1, "I8"},
    StorageType{"uint8", DType::U8, 1, "U8"},
    StorageType{"uint16", DType::U16, 2, "U16"},
    StorageType{"uint32", DType::U32, 4, "U32"},
    StorageType{"uint64", DType::U64, 8, "U64"},
    StorageType{"bool", DType::BOOL, 1, "BOOL"},
    StorageType{"float8_e4m3fn", DType::F8_E4M3, 1, "F8_E4M3"},
    StorageType{"float8_e5m2", DType::F8_E5M2, 1, "F8_E5M2"},
    StorageType{"float8_e4m3fnuz", DType::F8_E4M3FNUZ, 1, "F8_E4M3FNUZ"},
    StorageType{"float8_e5m2fnuz", DType::F8_E5M2FNUZ, 1, "F8_E5M2FNUZ"},
    StorageType{"float8_e8m0fnu", DType::F8_E8M0, 1, "F8_E8M0"},
};

// "torch.FloatStorage", "torch.storage.UntypedStorage", "torch.float8_e4m3fn"
const StorageType* find_type(std::string_view global) {
  const std::size_t dot = global.rfind('.');
  if (!global.starts_with("torch.") || dot == std::string_view::npos) return nullptr;
  const auto found = std::ranges::find(kStorageTypes, global.substr(dot + 1), &StorageType::name);
  return found != kStorageTypes.end() ? &*found : nullptr;
}

Error corrupt_torch(const std::string& message) { return Error(ErrorCode::Corrupt, message); }

// Where a storage's bytes are.
struct Storage {
  std::uint64_t offset = 0, size_bytes = 0;
};
using Storages = std::map<std::string, Storage, std::less<>>;

// What a tensor of the pickle is made from.
struct TensorParts {
  Index storage = 0, offset = 0, size = 0, stride = 0;
  std::optional<Index> dtype;
};

// Finds the tensors of a pickle: what is reached by dicts, lists, tuples and the states of objects.
class TensorFinder {
 public:
  using Kind = Pickle::Kind;

  TensorFinder(const Pickle& pickle, const Storages& storages, ContainerContent& content)
      : pickle_(pickle), storages_(storages), content_(content) {}

  Result<void> find() {
    HEADROOM_TRY(const Index state_dict, choose(pickle_.root()));
    HEADROOM_TRY_VOID(walk(state_dict, "", 0));
    tell_rest(state_dict);
    strip_wrappers();
    std::sort(content_.tensors.begin(), content_.tensors.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    const auto twice = std::adjacent_find(content_.tensors.begin(), content_.tensors.end(),
                                          [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; });
    if (twice != content_.tensors.end()) return corrupt_torch("Two tensors have the same name").at_tensor(twice->name);
    if (content_.tensors.empty()) {
      return corrupt_torch("The file holds no tensors").wanted("a state dict", describe_root());
    }
    return {};
  }

 private:
  static bool is_rebuild(std::string_view name) {
    return name.starts_with("torch._utils._rebuild_") || name == "torch._tensor._rebuild_from_type_v2" ||
           name == "torch.tensor._rebuild_from_type_v2" || name == "torch._tensor._rebuild_from_type";
  }
  [[nodiscard]] bool is_tensor(Index value) const { return is_rebuild(pickle_.callable(value)); }

  // Any tensor below, without looking far: what may be a state dict.
  [[nodiscard]] bool holds_tensors(Index value, int depth) const {
    if (is_tensor(value)) return true;
    if (depth == 0) return false;
    const Kind kind = pickle_.kind(value);
    if (kind != Kind::Dict && kind != Kind::Object) return false;
    constexpr std::size_t kLookedAt = 64;
    const std::span<const Index> items = pickle_.items(value);
    for (std::size_t i = 1; i < std::min(items.size(), kLookedAt); i += 2)
      if (holds_tensors(items[i], depth - 1)) return true;
    return false;
  }

  // The dict that is the model, where the file holds other things beside it: the names of a state dict have dots, and
  // what is under them are tensors.
  Result<Index> choose(Index root) {
    constexpr std::array kWrappers = {"state_dict"sv, "model_state_dict"sv, "model"sv, "module"sv,
                                      "net"sv,        "network"sv};
    Index chosen = root;
    for (int level = 0; level < kMostWrappers; ++level) {
      if (pickle_.kind(chosen) != Kind::Dict) return chosen;
      const Index* next = nullptr;
      for (const std::string_view key : kWrappers) {
        next = pickle_.find(chosen, key);
        if (next && !is_tensor(*next) && holds_tensors(*next, 3)) {
          chosen_path_ += (chosen_path_.empty() ? "" : ".") + std::string(key);
          break;
        }
        next = nullptr;
      }
      if (!next) return chosen;
      chosen = *next;
    }
    return chosen;
  }

  Result<void> walk(Index value, const std::string& name, int depth) {
    if (++visits_ > kMostVisits || depth > kMostDepth) {
      return Error(ErrorCode::OutOfMemory, "The values of the pickle are nested too deeply, or too many times")
          .wanted("at most " + std::to_string(kMostDepth) + " levels",
                  depth > kMostDepth ? "more" : std::to_string(visits_) + " values");
    }
    if (is_tensor(value)) return add_tensor(value, name);
    const std::span<const Index> items = pickle_.items(value);
    const auto child = [&](std::string_view key, Index item) -> Result<void> {
      const std::string path = name.empty() ? std::string(key) : key.empty() ? name : name + "." + std::string(key);
      if (path.size() > kMostNameBytes) return corrupt_torch("The name of a tensor is too long");
      return walk(item, path, depth + 1);
    };
    switch (pickle_.kind(value)) {
      case Kind::Dict:
        for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
          if (pickle_.kind(items[i]) == Kind::Int) {
            HEADROOM_TRY_VOID(child(std::to_string(pickle_.integer(items[i])), items[i + 1]));
          } else if (pickle_.kind(items[i]) == Kind::Text) {
            // A module that was saved whole holds its tensors under these.
            const std::string_view key = pickle_.text(items[i]);
            const bool inner = key == "_parameters" || key == "_buffers" || key == "_modules";
            HEADROOM_TRY_VOID(child(inner ? "" : key, items[i + 1]));
          }
        }
        return {};
      case Kind::List:
      case Kind::Tuple:
        for (std::size_t i = 0; i < items.size(); ++i) {
          HEADROOM_TRY_VOID(child(std::to_string(i), items[i]));
        }
        return {};
      case Kind::Object:
        ++objects_[std::string(pickle_.callable(value))];
        for (std::size_t i = 3; i < items.size(); i += 2) {
          HEADROOM_TRY_VOID(
              child(pickle_.kind(items[i - 1]) == Kind::Text ? pickle_.text(items[i - 1]) : ""sv, items[i]));
        }
        return {};
      default: return {};
    }
  }

  // The arguments of the function that makes a tensor; Parameters and tensors of other classes hold one.
  Result<void> add_tensor(Index value, const std::string& name) {
    const auto located = [&](Error error) { return error.at_tensor(name); };
    for (int wrapped = 0; wrapped < kMostWrappers; ++wrapped) {
      const std::string_view function = pickle_.callable(value);
      const std::span<const Index> whole = pickle_.items(value);
      const std::span<const Index> arguments = whole.size() > 1 ? pickle_.items(whole[1]) : std::span<const Index>();
      const auto too_few = [&] { return located(corrupt_torch("A tensor of the pickle has too few arguments")); };
      if (function == "torch._utils._rebuild_parameter" || function == "torch._utils._rebuild_parameter_with_state") {
        if (arguments.empty() || !is_tensor(arguments[0])) return too_few();
        value = arguments[0];
        continue;
      }
      if (function.ends_with("._rebuild_from_type_v2") || function.ends_with("._rebuild_from_type")) {
        // (function, type, arguments, state)
        if (arguments.size() < 3 || pickle_.kind(arguments[2]) != Kind::Tuple) return too_few();
        return add_plain(pickle_.text(arguments[0]), pickle_.items(arguments[2]), name);
      }
      return add_plain(function, arguments, name);
    }
    return located(corrupt_torch("A tensor of the pickle is wrapped too many times"));
  }

  Result<void> add_plain(std::string_view function, std::span<const Index> arguments, const std::string& name) {
    const auto located = [&](Error error) { return error.at_tensor(name); };
    const bool plain = function == "torch._utils._rebuild_tensor" || function == "torch._utils._rebuild_tensor_v2";
    const bool typed = function == "torch._utils._rebuild_tensor_v3";
    if (!plain && !typed) {
      // Quantised, sparse, nested and meta tensors.
      TensorInfo tensor;
      tensor.name = name;
      tensor.dtype_name = function.substr(function.rfind('.') + 1);
      for (const std::string_view part : {"_rebuild_"sv, "_tensor"sv})
        if (const std::size_t at = tensor.dtype_name.find(part); at != std::string::npos)
          tensor.dtype_name.erase(at, part.size());
      content_.tensors.push_back(std::move(tensor));
      return {};
    }
    if (arguments.size() < (typed ? 7U : 4U))
      return located(corrupt_torch("A tensor of the pickle has too few arguments"));
    TensorParts parts{arguments[0], arguments[1], arguments[2], arguments[3], {}};
    if (typed) parts.dtype = arguments[6];
    auto tensor = describe_tensor(parts);
    if (!tensor) return located(tensor.error());
    tensor->name = name;
    content_.tensors.push_back(std::move(*tensor));
    return {};
  }

  Result<std::vector<std::int64_t>> extents(Index tuple, const char* what) const {
    const std::span<const Index> items = pickle_.items(tuple);
    std::vector<std::int64_t> out;
    if (items.size() > kMostAxes)
      return corrupt_torch(std::string("The ") + what + " of a tensor has too many axes")
          .wanted("at most " + std::to_string(kMostAxes), std::to_string(items.size()));
    for (const Index item : items) {
      if (pickle_.kind(item) != Kind::Int || pickle_.integer(item) < 0)
        return corrupt_torch(std::string("The ") + what + " of a tensor is negative or no number")
            .wanted("", std::to_string(pickle_.integer(item)));
      out.push_back(pickle_.integer(item));
    }
    return out;
  }

  Result<TensorInfo> describe_tensor(const TensorParts& parts) const {
    // ('storage', class, key, place, number of elements)
    if (pickle_.kind(parts.storage) != Kind::Persistent) return corrupt_torch("A tensor of the pickle has no storage");
    const std::span<const Index> id = pickle_.items(pickle_.items(parts.storage)[0]);
    if (id.size() < 5 || pickle_.text(id[0]) != "storage" || pickle_.kind(id[4]) != Kind::Int)
      return corrupt_torch("A storage of the pickle is described in an unknown way");
    if (id.size() > 5 && pickle_.kind(id[5]) != Kind::None)
      return Error(ErrorCode::Unsupported,
                   "A storage is a view of another one, as very old versions of torch wrote it");
    const StorageType* type = find_type(pickle_.text(parts.dtype ? *parts.dtype : id[1]));
    const std::string_view type_name = pickle_.text(parts.dtype ? *parts.dtype : id[1]);
    TensorInfo tensor;
    HEADROOM_TRY(tensor.shape, extents(parts.size, "shape"));
    HEADROOM_TRY(const std::vector<std::int64_t> strides, extents(parts.stride, "stride"));
    if (strides.size() != tensor.shape.size())
      return corrupt_torch("The shape and the strides of a tensor have different lengths")
          .wanted(std::to_string(tensor.shape.size()), std::to_string(strides.size()));
    std::int64_t count = 1;
    for (auto extent = tensor.shape.rbegin(); extent != tensor.shape.rend(); ++extent)
      if (__builtin_mul_overflow(count, *extent, &count))
        return corrupt_torch("The product of the shape does not fit 64 bits");
    if (!type) {
      tensor.dtype_name = type_name.substr(type_name.rfind('.') + 1);
      return tensor;
    }
    tensor.dtype = type->dtype;
    tensor.dtype_name = type->shown;
    const std::string key =
        pickle_.kind(id[2]) == Kind::Int ? std::to_string(pickle_.integer(id[2])) : std::string(pickle_.text(id[2]));
    const auto storage = storages_.find(key);
    if (storage == storages_.end())
      return corrupt_torch("The storage of a tensor is not in the file").wanted("data/" + key, "nothing");
    if (pickle_.kind(parts.offset) != Kind::Int || pickle_.integer(parts.offset) < 0)
      return corrupt_torch("The beginning of a tensor in its storage is negative or no number");
    // The last element that the strides reach.
    const std::int64_t begin = pickle_.integer(parts.offset);
    std::int64_t reach = 0;
    bool overflow = false;
    for (std::size_t axis = 0; axis < strides.size() && count > 0; ++axis) {
      std::int64_t step = 0;
      overflow |= __builtin_mul_overflow(strides[axis], tensor.shape[axis] - 1, &step);
      overflow |= __builtin_add_overflow(reach, step, &reach);
    }
    std::int64_t end = count > 0 ? 1 : 0;
    overflow |= __builtin_add_overflow(end, begin, &end) || __builtin_add_overflow(end, reach, &end);
    const auto stored = static_cast<std::int64_t>(storage->second.size_bytes / static_cast<std::uint64_t>(type->bytes));
    if (overflow || end > stored) {
      return corrupt_torch("A tensor reaches beyond its storage")
          .wanted("at most " + std::to_string(stored) + " elements in storage " + key,
                  overflow ? "more than 2^63" : std::to_string(end));
    }
    // Strides of 0 make many elements of one; so many are no weights, and sums over tensors stay within 64 bits.
    if (count > stored && count > kMostExpanded) {
      return corrupt_torch("A tensor repeats its storage too many times")
          .wanted("at most " + std::to_string(kMostExpanded) + " elements", std::to_string(count));
    }
    tensor.offset = storage->second.offset + static_cast<std::uint64_t>(begin * type->bytes);
    tensor.size_bytes = static_cast<std::uint64_t>((count > 0 ? reach + 1 : 0) * type->bytes);
    // Row-major tensors need no strides; those of axes of one element mean nothing.
    if (count == 0) return tensor;
    std::int64_t dense = 1;
    bool row_major = true;
    for (std::size_t axis = strides.size(); axis-- > 0; dense *= tensor.shape[axis])
      row_major &= tensor.shape[axis] == 1 || strides[axis] == dense;
    if (!row_major) tensor.strides = strides;
    return tensor;
  }

  // What lies beside the state dict: numbers and texts are metadata, the rest is named.
  void tell_rest(Index state_dict) {
    const Index root = pickle_.root();
    if (!chosen_path_.empty()) content_.warnings.push_back("the tensors are those of '" + chosen_path_ + "'");
    content_.metadata = nullptr;
    std::vector<std::string> left;
    if (pickle_.kind(root) == Kind::Dict) {
      const std::span<const Index> items = pickle_.items(root);
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        const Index value = items[i + 1];
        const std::string key(pickle_.text(items[i]));
        if (root == state_dict && holds_tensors(value, 3)) continue;
        if (key.empty() || chosen_path_ == key || chosen_path_.starts_with(key + ".")) continue;
        if (const auto scalar = scalar_of(value)) {
          if (content_.metadata.size() < kMostMetadata) content_.metadata[key] = *scalar;
        } else if (root != state_dict) {
          left.push_back(key);
        }
      }
    }
    if (!left.empty()) {
      std::string text = "left out: ";
      for (std::size_t i = 0; i < std::min(left.size(), kMostShown); ++i) text += (i > 0 ? ", " : "") + left[i];
      if (left.size() > kMostShown) text += format(" and %zu more", left.size() - kMostShown);
      content_.warnings.push_back(std::move(text));
    }
    for (const auto& [name, count] : objects_)
      content_.warnings.push_back(
          format("%zu × %s: kept as it is written, never called", count, name.empty() ? "an object" : name.c_str()));
  }

  [[nodiscard]] std::optional<nlohmann::json> scalar_of(Index value) const {
    switch (pickle_.kind(value)) {
      case Kind::Bool: return nlohmann::json(pickle_.integer(value) != 0);
      case Kind::Int: return nlohmann::json(pickle_.integer(value));
      case Kind::Float: return nlohmann::json(pickle_.real(value));
      case Kind::Text: return nlohmann::json(std::string(pickle_.text(value).substr(0, kMostNameBytes)));
      case Kind::None: return nlohmann::json(nullptr);
      default: return std::nullopt;
    }
  }

  [[nodiscard]] std::string describe_root() const {
    switch (pickle_.kind(pickle_.root())) {
      case Kind::Dict: return "a dict";
      case Kind::List: return "a list";
      case Kind::Tuple: return "a tuple";
      case Kind::Object: return std::string(pickle_.callable(pickle_.root()));
      default: return "a single value";
    }
  }

  // DistributedDataParallel and torch.compile add a level to every name.
  void strip_wrappers() {
    std::vector<TensorInfo>& tensors = content_.tensors;
    for (const std::string_view prefix : {"_orig_mod."sv, "module."sv, "_orig_mod."sv}) {
      const bool all = !tensors.empty() && std::ranges::all_of(tensors, [&](const TensorInfo& tensor) {
        return tensor.name.starts_with(prefix) && tensor.name.size() > prefix.size();
      });
      if (!all) continue;
      for (TensorInfo& tensor : tensors) tensor.name.erase(0, prefix.size());
      content_.warnings.push_back("names are without their prefix '" + std::string(prefix) + "'");
    }
    bool inner = false;
    for (TensorInfo& tensor : tensors)
      for (std::size_t at; (at = tensor.name.find("._orig_mod.")) != std::string::npos; inner = true)
        tensor.name.erase(at, "_orig_mod."sv.size());
    if (inner) content_.warnings.emplace_back("names are without '_orig_mod.', which torch.compile adds");
  }

  const Pickle& pickle_;
  const Storages& storages_;
  ContainerContent& content_;
  std::string chosen_path_;
  std::map<std::string, std::size_t> objects_;
  std::size_t visits_ = 0;
};

Result<ContainerContent> read_zip_form(const InputFile& file) {
  HEADROOM_TRY(const ZipDirectory directory, read_zip_directory(file));
  const ZipEntry* pickled = nullptr;
  for (const ZipEntry& entry : directory.entries) {
    if (entry.name != "data.pkl" && !entry.name.ends_with("/data.pkl")) continue;
    if (pickled)
      return corrupt_torch("The archive holds two pickles").wanted("one data.pkl", pickled->name + ", " + entry.name);
    pickled = &entry;
  }
  if (!pickled) return corrupt_torch("The archive holds no model").wanted("an entry data.pkl", "none");
  const std::string folder = pickled->name.substr(0, pickled->name.size() - "data.pkl"sv.size());
  const bool script = std::ranges::any_of(directory.entries, [&](const ZipEntry& entry) {
    return entry.name == folder + "constants.pkl" || entry.name.starts_with(folder + "code/");
  });
  if (script) {
    return Error(ErrorCode::Unsupported, "This is a TorchScript archive: a program, and not weights alone")
        .advise("save the weights of it: torch.save(torch.jit.load('IN').state_dict(), 'OUT.pt')");
  }
  if (const ZipEntry* order = directory.find(folder + "byteorder")) {
    HEADROOM_TRY(const std::string text, read_zip_entry(file, *order, kMostRecordBytes));
    if (text != "little")
      return Error(ErrorCode::Unsupported, "The numbers of the file are stored with their highest byte first")
          .wanted("byteorder little", text.substr(0, 16));
  }
  HEADROOM_TRY(const std::string bytes, read_zip_entry(file, *pickled, kMostPickleBytes));
  ByteReader reader(std::as_bytes(std::span(bytes)));
  auto pickle = Pickle::read(reader);
  if (!pickle) {
    if (pickle.error().offset) *pickle.error().offset += pickled->offset;
    return pickle.error();
  }
  Storages storages;
  const std::string data = folder + "data/";
  for (const ZipEntry& entry : directory.entries) {
    if (!entry.name.starts_with(data)) continue;
    HEADROOM_TRY_VOID(require_stored(file, entry));
    storages[entry.name.substr(data.size())] = {entry.offset, entry.size_bytes};
  }
  ContainerContent content;
  content.format_name = "PyTorch (zip)";
  HEADROOM_TRY_VOID(TensorFinder(*pickle, storages, content).find());
  return content;
}

// Magic number, protocol, facts about the system, the object, the keys of its storages, then each: the number of its
// elements and its bytes. Which class a storage has stands where the object mentions it.
Result<ContainerContent> read_old_form(const InputFile& file) {
  constexpr std::int64_t kProtocol = 1001;
  ByteReader reader(file);
  HEADROOM_TRY_VOID(Pickle::read(reader));
  HEADROOM_TRY(const Pickle protocol, Pickle::read(reader));
  if (protocol.kind(protocol.root()) != Pickle::Kind::Int || protocol.integer(protocol.root()) != kProtocol)
    return corrupt_torch("The protocol of the file is unknown").wanted("1001", "another");
  HEADROOM_TRY(const Pickle system, Pickle::read(reader));
  const Index* little = system.find(system.root(), "little_endian");
  if (little && system.integer(*little) == 0)
    return Error(ErrorCode::Unsupported, "The numbers of the file are stored with their highest byte first");
  HEADROOM_TRY(const Pickle pickle, Pickle::read(reader));
  HEADROOM_TRY(const Pickle keys, Pickle::read(reader));
  std::map<std::string, std::int64_t, std::less<>> element_bytes;
  for (Index value = 0; value < pickle.size(); ++value) {
    if (pickle.kind(value) != Pickle::Kind::Persistent) continue;
    const std::span<const Index> id = pickle.items(pickle.items(value)[0]);
    if (id.size() < 5 || pickle.text(id[0]) != "storage")
      return corrupt_torch("A storage of the pickle is described in an unknown way");
    if (const StorageType* type = find_type(pickle.text(id[1])))
      element_bytes[std::string(pickle.text(id[2]))] = type->bytes;
  }
  Storages storages;
  if (keys.kind(keys.root()) != Pickle::Kind::List) return corrupt_torch("The file has no list of its storages");
  std::uint64_t offset = reader.position();
  for (const Index item : keys.items(keys.root())) {
    const std::string key(keys.text(item));
    const auto bytes = element_bytes.find(key);
    if (bytes == element_bytes.end())
      return Error(ErrorCode::Unsupported, "A storage of the file is of an unknown type")
          .wanted("", key)
          .at_offset(offset);
    std::int64_t count = 0;
    if (file.size_bytes() - offset < sizeof(count))
      return corrupt_torch("The file ends before its last storage").at_offset(offset);
    HEADROOM_TRY_VOID(file.read_at(offset, std::as_writable_bytes(std::span(&count, 1))));
    offset += sizeof(count);
    const std::uint64_t left = (file.size_bytes() - offset) / static_cast<std::uint64_t>(bytes->second);
    if (count < 0 || static_cast<std::uint64_t>(count) > left) {
      return corrupt_torch("The file ends inside a storage")
          .at_offset(offset)
          .wanted(std::to_string(count) + " elements of storage " + key, std::to_string(left));
    }
    const std::uint64_t size = static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(bytes->second);
    storages[key] = {offset, size};
    offset += size;
  }
  ContainerContent content;
  content.format_name = "PyTorch (before 1.6)";
  if (offset < file.size_bytes())
    content.warnings.push_back(format("%llu unused bytes after the last storage",
                                      static_cast<unsigned long long>(file.size_bytes() - offset)));
  HEADROOM_TRY_VOID(TensorFinder(pickle, storages, content).find());
  return content;
}

}  // namespace

Result<ContainerContent> read_torch_file(const InputFile& file) {
  std::array<std::byte, 2> head{};
  if (file.size_bytes() < head.size()) return corrupt_torch("The file is too short").in_file(file.path().string());
  HEADROOM_TRY_VOID(file.read_at(0, head));
  const bool zip = head[0] == std::byte{'P'} && head[1] == std::byte{'K'};
  auto content = zip ? read_zip_form(file) : read_old_form(file);
  if (!content) content.error().in_file(file.path().string());
  return content;
}

}  // namespace headroom
