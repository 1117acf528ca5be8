#include "core/checkpoint/checkpoint_warnings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/format.h"
#include "core/checkpoint/similar_names.h"

namespace headroom {
namespace {

// Downloads of one model lie hours apart at most.
constexpr std::int64_t kOneDayNs = std::int64_t{86'400} * 1'000'000'000;

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_integer_dtype(DType dtype) { return dtype >= DType::I64 && dtype <= DType::BOOL; }

bool is_float8(DType dtype) { return dtype >= DType::F8_E4M3 && dtype <= DType::F8_E5M2FNUZ; }

// Counts what one sentence is about and keeps the first name.
struct Tally {
  std::size_t count = 0;
  std::string first;
  void add(const std::string& name) {
    if (count++ == 0) first = escape_for_terminal(name);
  }
  [[nodiscard]] std::string text() const {
    return count == 1 ? first : format("%s and %zu more", first.c_str(), count - 1);
  }
};

bool has_tensor(std::span<const TensorInfo> tensors, std::string_view name) {
  const auto before = [](const TensorInfo& tensor, std::string_view wanted) { return tensor.name < wanted; };
  const auto found = std::lower_bound(tensors.begin(), tensors.end(), name, before);
  return found != tensors.end() && found->name == name;
}

// The scale of quantised weights is a tensor beside them; its name varies with the exporter.
bool has_scale(std::span<const TensorInfo> tensors, const std::string& name) {
  const std::string stem = name.ends_with(".weight") ? name.substr(0, name.size() - 7) : name;
  const std::array candidates = {name + "_scale",        name + "_scale_inv",        name + ".scale",
                                 stem + ".weight_scale", stem + ".weight_scale_inv", stem + ".scale",
                                 stem + ".scales",       stem + ".scale_weight"};
  return std::any_of(candidates.begin(), candidates.end(), [&](const auto& each) { return has_tensor(tensors, each); });
}

void warn_of_similar_names(std::span<const TensorInfo> tensors, std::vector<std::string>& warnings) {
  const bool all_ascii = std::all_of(tensors.begin(), tensors.end(), [](const auto& t) { return is_ascii(t.name); });
  if (all_ascii) return;
  std::unordered_map<std::string, const std::string*> by_skeleton;
  Tally pairs;
  std::string other;
  for (const TensorInfo& tensor : tensors) {
    const auto [place, inserted] = by_skeleton.emplace(name_skeleton(tensor.name), &tensor.name);
    if (inserted) continue;
    if (pairs.count == 0) other = escape_for_terminal(*place->second);
    pairs.add(tensor.name);
  }
  if (pairs.count > 0) warnings.push_back("tensor names look alike but differ: " + other + " and " + pairs.text());
}

// "model.layers.#.mlp.up_proj.weight": tensors of one kind in different layers.
std::string kind_of(std::string_view name) {
  std::string kind;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      kind += c;
    else if (kind.empty() || kind.back() != '#')
      kind += '#';
  }
  return kind;
}

}  // namespace

std::vector<std::string> tensor_warnings(std::span<const TensorInfo> tensors) {
  std::vector<std::string> warnings;
  Tally integers;
  Tally unscaled;
  Tally unsupported;
  std::set<std::string> unsupported_names;
  for (const TensorInfo& tensor : tensors) {
    const bool parameter = tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias");
    if (tensor.name.empty()) warnings.push_back("a tensor has an empty name");
    if (parameter && is_integer_dtype(tensor.dtype)) integers.add(tensor.name);
    if (is_float8(tensor.dtype) && !has_scale(tensors, tensor.name)) unscaled.add(tensor.name);
    if (tensor.dtype != DType::Unsupported) continue;
    unsupported.add(tensor.name);
    if (unsupported_names.size() < 8) unsupported_names.insert(escape_for_terminal(tensor.dtype_name));
  }
  if (integers.count > 0) warnings.push_back("weights have an integer dtype, which is odd: " + integers.text());
  if (unscaled.count > 0) warnings.push_back("8-bit float weights without a scale beside them: " + unscaled.text());
  if (unsupported.count > 0) {
    std::string names;
    for (const std::string& name : unsupported_names) names += (names.empty() ? "" : ", ") + name;
    warnings.push_back("unsupported dtype (" + names + "): " + unsupported.text());
  }
  warn_of_similar_names(tensors, warnings);
  return warnings;
}

std::vector<std::string> shard_warnings(std::span<const TensorInfo> tensors, const std::vector<InputFile>& files,
                                        std::span<const nlohmann::json> metadata) {
  std::vector<std::string> warnings;
  const auto file_name = [&](std::size_t i) { return escape_for_terminal(files[i].path().filename().string()); };
  for (std::size_t i = 1; i < files.size(); ++i) {
    if (metadata[i] == metadata[0]) continue;
    warnings.push_back("the shards may come from different checkpoints: __metadata__ of " + file_name(0) + " and " +
                       file_name(i) + " differ");
    break;
  }
  const auto older = [](const InputFile& a, const InputFile& b) { return a.modified_ns() < b.modified_ns(); };
  const auto [oldest, newest] = std::minmax_element(files.begin(), files.end(), older);
  if (oldest != files.end() && newest->modified_ns() - oldest->modified_ns() > kOneDayNs) {
    const auto index = [&](auto place) { return static_cast<std::size_t>(place - files.begin()); };
    warnings.push_back("the shards may come from different checkpoints: " + file_name(index(oldest)) + " and " +
                       file_name(index(newest)) + " were written more than a day apart");
  }
  std::map<std::string, const TensorInfo*> first_of_kind;
  for (const TensorInfo& tensor : tensors) {
    const auto [place, inserted] = first_of_kind.emplace(kind_of(tensor.name), &tensor);
    const TensorInfo& first = *place->second;
    if (inserted || first.file == tensor.file || first.dtype_name == tensor.dtype_name) continue;
    warnings.push_back("the shards may come from different checkpoints: " + escape_for_terminal(first.name) + " is " +
                       escape_for_terminal(first.dtype_name) + " and " + escape_for_terminal(tensor.name) + " is " +
                       escape_for_terminal(tensor.dtype_name));
    break;
  }
  return warnings;
}

}  // namespace headroom
