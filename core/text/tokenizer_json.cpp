// Tokenizer::from_tokenizer_json: the parts of a tokenizer.json.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/strict_json.h"
#include "core/text/json_fields.h"
#include "core/text/metaspace.h"
#include "core/text/model_json.h"
#include "core/text/pipeline_tokenizer.h"
#include "core/text/tokenizer_config.h"

namespace headroom {
namespace {

Error corrupt(const char* place, std::string message) {
  return Error(ErrorCode::Corrupt, std::move(message)).at_tensor(place);
}

Result<nlohmann::json> parse(std::string_view content) {
  constexpr JsonLimits kLimits{.size_bytes = std::uint64_t{256} << 20};
  HEADROOM_TRY(nlohmann::json root, parse_json(content, kLimits));
  if (!root.is_object()) return corrupt("tokenizer.json", "tokenizer.json is not a JSON object");
  return root;
}

// Whether decoding turns U+2581 into spaces.
Result<bool> decodes_metaspace(const nlohmann::json& decoder) {
  HEADROOM_TRY(const auto members, json_sequence(decoder, "decoder", "decoders"));
  for (const nlohmann::json& member : members) {
    HEADROOM_TRY(const std::string type, json_type(member, "decoder"));
    if (type == "Metaspace") return true;
    if (type == "Replace" && json_field(json_field(member, "pattern"), "String") == kMetaspaceSign) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_tokenizer_json(std::string_view content,
                                                                  const nlohmann::json& tokenizer_config) {
  HEADROOM_TRY(const nlohmann::json root, parse(content));
  TokenizerParts parts;
  parts.source = "tokenizer.json";
  HEADROOM_TRY(parts.added_tokens, read_added_tokens(json_field(root, "added_tokens")));
  HEADROOM_TRY(parts.normalizer, TextNormalizer::create(json_field(root, "normalizer")));
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create(json_field(root, "pre_tokenizer")));
  HEADROOM_TRY(parts.model, read_token_model(json_field(root, "model"), parts.pre_tokenizer.byte_level()));
  HEADROOM_TRY(parts.post_processor, PostProcessor::create(json_field(root, "post_processor")));
  HEADROOM_TRY_VOID(apply_framing(tokenizer_config, parts));
  HEADROOM_TRY(parts.decodes_metaspace, decodes_metaspace(json_field(root, "decoder")));
  return PipelineTokenizer::create(std::move(parts));
}

}  // namespace headroom
