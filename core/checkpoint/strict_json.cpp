#include "core/checkpoint/strict_json.h"

#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/checkpoint/json_tokens.h"

namespace headroom {
namespace {

using nlohmann::json;

json scalar(JsonToken token, const JsonTokens& tokens) {
  switch (token) {
    case JsonToken::ObjectBegin: return json::object();
    case JsonToken::ArrayBegin: return json::array();
    case JsonToken::String: return std::string(tokens.text());
    case JsonToken::Unsigned: return tokens.unsigned_value();
    case JsonToken::Negative: return tokens.negative_value();
    case JsonToken::Real: return tokens.real_value();
    case JsonToken::True: return true;
    case JsonToken::False: return false;
    default: return nullptr;
  }
}

Result<json> build(JsonTokens& tokens) {
  json root;
  json* slot = &root;       // where the next value goes, inside an object
  std::vector<json*> open;  // containers under construction; their addresses stay while they are the innermost
  while (true) {
    HEADROOM_TRY(const JsonToken token, tokens.next());
    if (token == JsonToken::End) return root;
    if (token == JsonToken::Key) {
      const auto [place, inserted] = open.back()->emplace(std::string(tokens.text()), nullptr);
      if (!inserted) return tokens.error_here("JSON: the key \"" + std::string(tokens.text()) + "\" appears twice");
      slot = &*place;
      continue;
    }
    if (token == JsonToken::ObjectEnd || token == JsonToken::ArrayEnd) {
      open.pop_back();
      continue;
    }
    if (!open.empty() && open.back()->is_array()) {
      open.back()->push_back(scalar(token, tokens));
      slot = &open.back()->back();
    } else {
      *slot = scalar(token, tokens);
    }
    if (token == JsonToken::ObjectBegin || token == JsonToken::ArrayBegin) open.push_back(slot);
  }
}

}  // namespace

Result<json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.size_bytes) {
    Error error(ErrorCode::Corrupt, "JSON: the text is above the size limit");
    error.at_offset(limits.size_bytes);
    return error.wanted("at most " + std::to_string(limits.size_bytes) + " bytes", std::to_string(text.size()));
  }
  try {
    JsonTokens tokens(text, limits.depth, 0);
    return build(tokens);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::OutOfMemory, "JSON: not enough memory for the tree");
  }
}

}  // namespace headroom
