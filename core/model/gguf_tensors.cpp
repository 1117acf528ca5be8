#include "core/model/gguf_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

// What a name has in place of '#', and behind the pattern.
struct Match {
  std::string_view layer, ending;
};

std::optional<Match> match_name(std::string_view pattern, std::string_view name) {
  Match match;
  const std::size_t mark = pattern.find('#');
  if (mark != std::string_view::npos) {
    if (!name.starts_with(pattern.substr(0, mark))) return std::nullopt;
    name.remove_prefix(mark);
    pattern.remove_prefix(mark + 1);
    match.layer = name.substr(0, std::min(name.find_first_not_of("0123456789"), name.size()));
    if (match.layer.empty()) return std::nullopt;
    name.remove_prefix(match.layer.size());
  }
  if (!name.starts_with(pattern)) return std::nullopt;
  match.ending = name.substr(pattern.size());
  const bool whole_part =
      match.ending.empty() || (match.ending[0] == '.' && match.ending.find('.', 1) == std::string_view::npos);
  return whole_part ? std::optional(match) : std::nullopt;
}

std::string replaced(std::string text, char mark, std::string_view value) {
  const std::size_t place = text.find(mark);
  return place == std::string::npos ? text : text.replace(place, 1, value);
}

// Rows [begin, begin + count) of a tensor; nothing where it does not have them.
std::optional<SourceTensor> rows_of(const TensorInfo& info, std::int64_t begin, std::int64_t count, std::int64_t all) {
  if (info.shape.empty() || info.shape[0] != all || count < 1) return std::nullopt;
  SourceTensor part = SourceTensor::whole(info);
  part.shape[0] = count;
  part.first = begin * (info.element_count() / all);
  return part;
}

class Translator {
 public:
  explicit Translator(const GgufMetadata& metadata)
      : heads_(metadata.heads()), kv_heads_(metadata.kv_heads()), head_dim_(metadata.head_dim()) {}

  // Whether the tensor goes by that name.
  bool add(const TensorInfo& info, const std::string& name, GgufRows rows) {
    if (name.find('*') != std::string::npos) return add_experts(info, name);
    const auto part = arranged(info, rows);
    return part && tensors_.emplace(name, *part).second;
  }

  void keep(const TensorInfo& info) { tensors_.emplace(info.name, SourceTensor::whole(info)); }
  SourceTensors take() { return std::move(tensors_); }

 private:
  bool add_experts(const TensorInfo& info, const std::string& name) {
    constexpr std::int64_t kMostParts = 65536;
    if (info.shape.size() < 2 || info.shape[0] < 1 || info.shape[0] > kMostParts) return false;
    SourceTensor expert = SourceTensor::whole(info);
    expert.shape.erase(expert.shape.begin());
    for (std::int64_t e = 0; e < info.shape[0]; ++e) {
      expert.first = e * (info.element_count() / info.shape[0]);
      tensors_.emplace(replaced(name, '*', std::to_string(e)), expert);
    }
    return true;
  }

  [[nodiscard]] std::optional<SourceTensor> arranged(const TensorInfo& info, GgufRows rows) const {
    const std::int64_t q = heads_ * head_dim_, kv = kv_heads_ * head_dim_;
    SourceTensor tensor = SourceTensor::whole(info);
    switch (rows) {
      case GgufRows::AsStored: break;
      case GgufRows::QueryPairs: tensor.order = {RowOrder::Pairs, heads_}; break;
      case GgufRows::KeyPairs: tensor.order = {RowOrder::Pairs, kv_heads_}; break;
      case GgufRows::PartsOfGroups:
        tensor.order = {RowOrder::PartsOfGroups, kv_heads_, kv_heads_ > 0 ? heads_ / kv_heads_ : 1};
        break;
      case GgufRows::Queries: return rows_of(info, 0, q, q + 2 * kv);
      case GgufRows::Keys: return rows_of(info, q, kv, q + 2 * kv);
      case GgufRows::Values: return rows_of(info, q + kv, kv, q + 2 * kv);
      case GgufRows::OneRow:
        if (tensor.shape.size() == 1) tensor.shape.insert(tensor.shape.begin(), 1);
        break;
      case GgufRows::Kernels:
        if (tensor.shape.size() == 2) tensor.shape.insert(tensor.shape.begin() + 1, 1);
        break;
      case GgufRows::RowsOfHeads:
        if (info.shape.size() != 3) return std::nullopt;
        tensor.shape = {info.shape[0] * info.shape[1], info.shape[2]};
        break;
      case GgufRows::TurnedHeads:
        if (info.shape.size() != 3) return std::nullopt;
        tensor.shape = {info.shape[0] * info.shape[2], info.shape[1]};
        tensor.order = {RowOrder::TurnedHeads, info.shape[0]};
        break;
    }
    return tensor;
  }

  std::int64_t heads_, kv_heads_, head_dim_;
  SourceTensors tensors_;
};

}  // namespace

SourceTensors gguf_tensors(const GgufMetadata& metadata, const GgufNames& names) {
  Translator translator(metadata);
  for (const TensorInfo& info : metadata.checkpoint.tensors()) {
    bool named = false;
    // Every entry of a fused matrix, of the first table that has it.
    for (const std::span<const GgufTensor> table : {names.tensors, names.common_tensors}) {
      if (named) break;
      for (const GgufTensor& entry : table) {
        const auto match = match_name(entry.gguf, info.name);
        if (!match) continue;
        const std::string name = replaced(std::string(entry.hugging_face), '#', match->layer);
        named |= name.empty() || translator.add(info, name + std::string(match->ending), entry.rows);
      }
    }
    if (!named) translator.keep(info);
  }
  return translator.take();
}

}  // namespace headroom
