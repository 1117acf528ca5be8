#include "core/text/prompt_ids.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/format.h"

namespace headroom {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool ends_an_id(char c) { return is_space(c) || c == ','; }

Error bad_ids(std::string message, std::size_t index, std::string_view found) {
  Error error(ErrorCode::InvalidArgument, std::move(message) + format(" at position %zu of the token ids", index + 1));
  constexpr std::size_t kShown = 32;
  error.wanted("an id from 0 to 2147483647",
               found.size() > kShown ? std::string(found.substr(0, kShown)) + "…" : found);
  return error;
}

}  // namespace

Result<std::vector<std::int32_t>> parse_ids(std::string_view text) {
  std::vector<std::int32_t> ids;
  bool id_expected = true;  // at the start and after a comma
  std::size_t index = 0;
  while (index < text.size()) {
    if (is_space(text[index])) {
      ++index;
      continue;
    }
    if (text[index] == ',') {
      if (id_expected) return bad_ids("An id is missing", index, ",");
      id_expected = true;
      ++index;
      continue;
    }
    std::size_t end = index;
    while (end < text.size() && !ends_an_id(text[end])) ++end;
    const std::string_view word = text.substr(index, end - index);
    std::int32_t id = 0;
    const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (code == std::errc::result_out_of_range) return bad_ids("The id is out of range", index, word);
    if (code != std::errc() || stop != word.data() + word.size()) return bad_ids("Not a number", index, word);
    if (id < 0) return bad_ids("The id is negative", index, word);
    ids.push_back(id);
    id_expected = false;
    index = end;
  }
  if (id_expected) return bad_ids("An id is missing", text.size(), "the end of the text");
  return ids;
}

std::string ids_text(std::span<const std::int32_t> ids) {
  std::string text;
  for (const std::int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

}  // namespace headroom
