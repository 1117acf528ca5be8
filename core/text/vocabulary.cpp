#include "core/text/vocabulary.h"

#include <algorithm>
#include <cstddef>

#include "core/base/format.h"

namespace headroom {

Result<void> Vocabulary::add(std::string_view token, std::int32_t id) {
  const auto [slot, is_new] = tokens_.try_emplace(id, token);
  if (!is_new) {
    return Error(ErrorCode::Corrupt, format("The vocabulary gives the id %d twice", id))
        .at_tensor(token)
        .wanted("", "also \"" + slot->second + "\"");
  }
  ids_[slot->second] = id;
  largest_id_ = std::max<std::int64_t>(largest_id_, id);
  return {};
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* Vocabulary::token(std::int32_t id) const {
  const auto found = tokens_.find(id);
  return found == tokens_.end() ? nullptr : &found->second;
}

void Vocabulary::reserve(std::size_t count) {
  tokens_.reserve(count);
  ids_.reserve(count);
}

}  // namespace headroom
