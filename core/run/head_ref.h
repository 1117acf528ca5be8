// A head by its numbers, as it is named: "L17.H4". Plain values; safe from any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headroom {

struct HeadRef {
  std::int64_t layer = 0, head = 0;
  friend auto operator<=>(const HeadRef&, const HeadRef&) = default;
};
[[nodiscard]] std::string head_text(const HeadRef& head);  // "L17.H4"

// Where a head's number stands in [layers, heads], row-major, whose axes ascend; nothing where it is on none of them.
[[nodiscard]] std::optional<std::size_t> place_of(std::span<const std::int64_t> layers,
                                                  std::span<const std::int64_t> heads, const HeadRef& head);
// The head whose number stands there.
[[nodiscard]] inline HeadRef head_at(std::span<const std::int64_t> layers, std::span<const std::int64_t> heads,
                                     std::size_t place) {
  return {layers[place / heads.size()], heads[place % heads.size()]};
}

}  // namespace headroom
