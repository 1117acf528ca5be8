// Tokens and their ids. Ids may have gaps. Immutable after the last add(); then safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/result.h"

namespace headroom {

class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  // Corrupt, naming both tokens, where `id` is taken. The last id of a token that comes twice counts.
  [[nodiscard]] Result<void> add(std::string_view token, std::int32_t id);

  [[nodiscard]] std::optional<std::int32_t> find(std::string_view token) const;
  [[nodiscard]] const std::string* token(std::int32_t id) const;  // null outside the vocabulary
  [[nodiscard]] const std::unordered_map<std::int32_t, std::string>& tokens() const { return tokens_; }
  [[nodiscard]] std::int64_t largest_id() const { return largest_id_; }  // -1 where empty
  void reserve(std::size_t count);

 private:
  std::unordered_map<std::int32_t, std::string> tokens_;  // its strings never move
  std::unordered_map<std::string_view, std::int32_t> ids_;
  std::int64_t largest_id_ = -1;
};

}  // namespace headroom
