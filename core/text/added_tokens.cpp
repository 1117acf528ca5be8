#include "core/text/added_tokens.h"

#include <utf8proc.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

#include "core/base/format.h"
#include "core/base/utf8.h"
#include "core/text/json_fields.h"

namespace headroom {
namespace {

// White_Space of Unicode.
bool is_white_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Letters, marks, decimal digits, letter numbers, connectors and the two joiners: \w of the reference.
bool is_word(char32_t c) {
  if (c == 0x200C || c == 0x200D) return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC: return true;
    default: return c >= 0x24B6 && c <= 0x24E9;  // circled letters are symbols, and Alphabetic
  }
}

// The scalar that ends at the end of non-empty `text`.
Utf8Scalar last_scalar(std::string_view text) {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size) {
    const Utf8Scalar scalar = decode_utf8(text.substr(text.size() - size));
    if (scalar.valid && scalar.size_bytes == size) return scalar;
  }
  return {static_cast<unsigned char>(text.back()), 1, false};
}

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  const Utf8Scalar scalar = last_scalar(text);
  return scalar.valid && is_word(scalar.code_point);
}

bool starts_with_word(std::string_view text) {
  if (text.empty()) return false;
  const Utf8Scalar scalar = decode_utf8(text);
  return scalar.valid && is_word(scalar.code_point);
}

std::size_t trailing_space_begin(std::string_view text) {
  while (!text.empty()) {
    const Utf8Scalar scalar = last_scalar(text);
    if (!scalar.valid || !is_white_space(scalar.code_point)) break;
    text.remove_suffix(scalar.size_bytes);
  }
  return text.size();
}

std::size_t leading_space_size(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty()) {
    const Utf8Scalar scalar = decode_utf8(text);
    if (!scalar.valid || !is_white_space(scalar.code_point)) break;
    text.remove_prefix(scalar.size_bytes);
  }
  return size - text.size();
}

std::uint64_t edge(std::uint32_t node, char byte) {
  return (std::uint64_t{node} << 8) | static_cast<unsigned char>(byte);
}

Result<AddedToken> read_added_token(const nlohmann::json& entry, std::size_t index) {
  AddedToken token;
  if (!entry.is_object())
    return Error(ErrorCode::Corrupt, "An added token is not an object").at_tensor(format("added_tokens[%zu]", index));
  HEADROOM_TRY(token.content, json_string(entry, "content", ""));
  HEADROOM_TRY(token.id, json_token_id(json_field(entry, "id"), format("added_tokens[%zu] ", index) + token.content));
  HEADROOM_TRY(token.single_word, json_bool(entry, "single_word", false));
  HEADROOM_TRY(token.lstrip, json_bool(entry, "lstrip", false));
  HEADROOM_TRY(token.rstrip, json_bool(entry, "rstrip", false));
  HEADROOM_TRY(token.special, json_bool(entry, "special", false));
  HEADROOM_TRY(token.normalized, json_bool(entry, "normalized", !token.special));
  return token;
}

}  // namespace

Result<std::vector<AddedToken>> read_added_tokens(const nlohmann::json& list) {
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  if (!list.is_array())
    return Error(ErrorCode::Corrupt, "A tokenizer field has the wrong type").at_tensor("added_tokens");
  for (std::size_t i = 0; i < list.size(); ++i) {
    HEADROOM_TRY(AddedToken token, read_added_token(list[i], i));
    if (!token.content.empty()) tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<AddedTokenMatcher> AddedTokenMatcher::create(std::vector<AddedToken> tokens) {
  AddedTokenMatcher matcher;
  matcher.tokens_ = std::move(tokens);
  matcher.token_of_node_.push_back(-1);
  for (std::size_t i = 0; i < matcher.tokens_.size(); ++i) {
    const std::string& content = matcher.tokens_[i].content;
    if (content.empty()) continue;
    if (content.size() > kMaxContentBytes)
      return Error(ErrorCode::Unsupported, format("An added token is longer than %zu bytes", kMaxContentBytes))
          .at_tensor(format("id %d", matcher.tokens_[i].id));
    std::uint32_t node = 0;
    for (const char byte : content) {
      const auto [slot, is_new] =
          matcher.next_node_.try_emplace(edge(node, byte), static_cast<std::uint32_t>(matcher.token_of_node_.size()));
      if (is_new) matcher.token_of_node_.push_back(-1);
      node = slot->second;
    }
    matcher.starts_token_[static_cast<unsigned char>(content.front())] = true;
    if (matcher.token_of_node_[node] < 0) matcher.token_of_node_[node] = static_cast<std::int32_t>(i);
  }
  return matcher;
}

const AddedToken* AddedTokenMatcher::longest_at(std::string_view text) const {
  std::uint32_t node = 0;
  std::int32_t best = -1;
  for (const char byte : text) {
    const auto next = next_node_.find(edge(node, byte));
    if (next == next_node_.end()) break;
    node = next->second;
    if (token_of_node_[node] >= 0) best = token_of_node_[node];
  }
  return best < 0 ? nullptr : &tokens_[static_cast<std::size_t>(best)];
}

std::vector<AddedTokenMatcher::Part> AddedTokenMatcher::split(std::string_view text) const {
  std::vector<Part> parts;
  std::size_t done = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const AddedToken* token =
        starts_token_[static_cast<unsigned char>(text[at])] ? longest_at(text.substr(at)) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at;
    std::size_t end = at + token->content.size();
    at = end;  // a match that is refused below still hides what it covers
    if (token->single_word && (ends_with_word(text.substr(0, begin)) || starts_with_word(text.substr(end)))) continue;
    // The white space that a token before took along may hold the start of this one.
    if (begin < done) continue;
    if (token->lstrip) begin = std::max(done, trailing_space_begin(text.substr(0, begin)));
    if (token->rstrip) end += leading_space_size(text.substr(end));
    if (begin > done) parts.push_back({{done, begin}, nullptr});
    parts.push_back({{begin, end}, token});
    done = end;
  }
  if (done < text.size()) parts.push_back({{done, text.size()}, nullptr});
  return parts;
}

}  // namespace headroom
