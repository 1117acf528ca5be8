// Heads and cells of their maps as they are written: "L17.H4", "L17.H4[37,5]", "L0.H0,L1.H2". Pure functions; safe from
// any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace headroom {

struct HeadRef {
  std::int64_t layer = 0, head = 0;
  friend auto operator<=>(const HeadRef&, const HeadRef&) = default;
};
// A head, and a cell of its map where one is named: both or none.
struct HeadCell {
  HeadRef head;
  std::optional<std::int64_t> query{}, key{};
};

[[nodiscard]] std::string head_text(HeadRef head);  // "L17.H4"
[[nodiscard]] std::optional<HeadRef> parse_head(std::string_view text);
[[nodiscard]] std::optional<HeadCell> parse_place(std::string_view text);
// At least one head. InvalidArgument with the first text that names none, at `option` of the command line.
[[nodiscard]] Result<std::vector<HeadRef>> parse_heads(std::string_view text, char separator = ',',
                                                       std::string_view option = {});

// Where a head's number stands in [layers, heads], row-major, whose axes ascend; nothing where it is on none of them.
[[nodiscard]] std::optional<std::size_t> place_of(std::span<const std::int64_t> layers,
                                                  std::span<const std::int64_t> heads, HeadRef head);
// The head whose number stands there.
[[nodiscard]] inline HeadRef head_at(std::span<const std::int64_t> layers, std::span<const std::int64_t> heads,
                                     std::size_t place) {
  return {layers[place / heads.size()], heads[place % heads.size()]};
}

}  // namespace headroom
