#include "core/model/head_address.h"

#include <algorithm>
#include <cstddef>

#include "core/base/format.h"
#include "core/base/parse_number.h"

namespace headroom {

std::string head_text(HeadRef head) {
  return format("L%lld.H%lld", static_cast<long long>(head.layer), static_cast<long long>(head.head));
}

std::optional<HeadRef> parse_head(std::string_view text) {
  const std::size_t dot = text.find(".H");
  if (!text.starts_with('L') || dot == std::string_view::npos) return {};
  const auto layer = parse_index(text.substr(1, dot - 1)), head = parse_index(text.substr(dot + 2));
  return layer && head ? std::optional(HeadRef{*layer, *head}) : std::nullopt;
}

std::optional<HeadCell> parse_place(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto head = parse_head(text.substr(0, bracket));
  if (!head) return {};
  if (bracket == std::string_view::npos) return HeadCell{*head};
  const std::size_t comma = text.find(',', bracket);
  if (comma == std::string_view::npos || !text.ends_with(']')) return {};
  const auto query = parse_index(text.substr(bracket + 1, comma - bracket - 1)),
             key = parse_index(text.substr(comma + 1, text.size() - comma - 2));
  return query && key ? std::optional(HeadCell{*head, query, key}) : std::nullopt;
}

Result<std::vector<HeadRef>> parse_heads(std::string_view text, char separator, std::string_view option) {
  std::vector<HeadRef> heads;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string_view name = text.substr(begin, end - begin);
    const auto head = parse_head(name);
    if (!head) {
      Error error(ErrorCode::InvalidArgument, "this names no head");
      return error.at_tensor(option).wanted(std::string("names like L3.H5, separated by '") + separator + "'",
                                            "'" + std::string(name) + "'");
    }
    heads.push_back(*head);
    begin = end + 1;
  }
  return heads;
}

std::optional<std::size_t> place_of(std::span<const std::int64_t> layers, std::span<const std::int64_t> heads,
                                    HeadRef head) {
  const auto layer = std::ranges::lower_bound(layers, head.layer);
  const auto at = std::ranges::lower_bound(heads, head.head);
  if (layer == layers.end() || *layer != head.layer || at == heads.end() || *at != head.head) return {};
  return static_cast<std::size_t>(layer - layers.begin()) * heads.size() + static_cast<std::size_t>(at - heads.begin());
}

}  // namespace headroom
