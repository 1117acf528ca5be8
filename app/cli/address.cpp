#include "app/cli/address.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/parse_number.h"

namespace headroom {
Result<Address> parse_address(const std::string& text) {
  Address address{text, "", "", 0};
  const std::size_t at = text.rfind("::");
  std::error_code ignored;
  if (at == std::string::npos || std::filesystem::exists(text, ignored)) return address;
  std::string place = text.substr(at + 2);
  const auto refused = [&] {
    Error error(ErrorCode::InvalidArgument,
                "an address is written ::L3 or ::L3.H5 inside a checkpoint, ::S2 or ::S2.L3.H5 inside a capture");
    return error.wanted("", text.substr(at + 2));
  };
  address.path.resize(at);
  if (place.starts_with('S')) {
    const std::size_t end = std::min(place.find('.'), place.size());
    const auto sequence = parse_index(std::string_view(place).substr(1, end - 1));
    if (!sequence) return refused();
    address.sequence = *sequence;
    if (end == place.size()) return address;
    place.erase(0, end + 1);
  }
  const std::size_t dot = place.find(".H");
  if (place.size() < 2 || place.front() != 'L') return refused();
  address.layers = place.substr(1, dot == std::string::npos ? dot : dot - 1);
  if (dot != std::string::npos) address.heads = place.substr(dot + 2);
  return address;
}

Result<std::vector<std::int64_t>> parse_index_list(const std::string& text, const std::string& what,
                                                   std::int64_t limit) {
  std::vector<std::int64_t> values;
  const auto refuse = [&](const std::string& part) {
    Error error(ErrorCode::InvalidArgument, what + " takes a list such as 0,2-5");
    error.wanted("numbers from 0 to " + std::to_string(limit - 1), part);
    return error;
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const auto first = parse_index(part.substr(0, dash)),
               last = dash == std::string_view::npos ? first : parse_index(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= limit) return refuse(std::string(part));
    for (std::int64_t value = *first; value <= *last; ++value) values.push_back(value);
    begin = end + 1;
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace headroom
