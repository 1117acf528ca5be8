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
#include "core/text/bpe_tokenizer.h"
#include "core/text/json_fields.h"

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

Result<Vocabulary> read_vocabulary(const nlohmann::json& model) {
  const nlohmann::json& entries = json_field(model, "vocab");
  if (!entries.is_object()) return corrupt("model.vocab", "The vocabulary is not a JSON object");
  Vocabulary vocabulary;
  vocabulary.reserve(entries.size());
  for (const auto& [token, value] : entries.items()) {
    HEADROOM_TRY(const std::int32_t id, json_token_id(value, token));
    HEADROOM_TRY_VOID(vocabulary.add(token, id));
  }
  return vocabulary;
}

// "a b" or ["a", "b"].
Result<std::vector<BpeMerge>> read_merges(const nlohmann::json& model) {
  const nlohmann::json& list = json_field(model, "merges");
  if (!list.is_array()) return corrupt("model.merges", "The merges are not a list");
  std::vector<BpeMerge> merges;
  merges.reserve(list.size());
  for (const nlohmann::json& entry : list) {
    const auto rank = static_cast<std::uint32_t>(merges.size());
    BpeMerge merge{{}, {}, rank};
    if (entry.is_string()) {
      const auto& text = entry.get_ref<const std::string&>();
      if (text.starts_with("#version")) continue;
      const std::size_t space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
        return corrupt("model.merges", format("Merge %u is not two tokens: \"", rank) + text + "\"");
      merge.left = text.substr(0, space);
      merge.right = text.substr(space + 1);
    } else if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
      merge.left = entry[0].get<std::string>();
      merge.right = entry[1].get<std::string>();
    } else {
      return corrupt("model.merges", format("Merge %u is not two tokens", rank));
    }
    merges.push_back(std::move(merge));
  }
  return merges;
}

Result<Bpe> read_model(const nlohmann::json& model, bool byte_level) {
  if (!model.is_object()) return corrupt("model", "tokenizer.json has no model");
  // GPT-2's own file names no type.
  HEADROOM_TRY(const std::string type, json_string(model, "type", json_field(model, "merges").is_array() ? "BPE" : ""));
  if (type != "BPE") return unsupported_component("model", type.empty() ? "a model without type" : type);
  if (const nlohmann::json& dropout = json_field(model, "dropout"); dropout.is_number() && dropout.get<double>() != 0)
    return unsupported_component("model.dropout", dropout.dump());
  for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    HEADROOM_TRY(const std::string text, json_string(model, affix, ""));
    if (!text.empty()) return unsupported_component("model", std::string(affix) + " \"" + text + "\"");
  }
  BpeOptions options;
  options.byte_level = byte_level;
  HEADROOM_TRY(options.ignore_merges, json_bool(model, "ignore_merges", false));
  HEADROOM_TRY(options.byte_fallback, json_bool(model, "byte_fallback", false));
  HEADROOM_TRY(options.fuse_unk, json_bool(model, "fuse_unk", false));
  HEADROOM_TRY(options.unk_token, json_string(model, "unk_token", ""));
  HEADROOM_TRY(Vocabulary vocabulary, read_vocabulary(model));
  HEADROOM_TRY(const auto merges, read_merges(model));
  return Bpe::create(std::move(vocabulary), merges, std::move(options));
}

// "<s>" or {"content": "<s>"}.
std::string bos_content(const nlohmann::json& config) {
  const nlohmann::json& bos = json_field(config, "bos_token");
  const nlohmann::json& content = bos.is_object() ? json_field(bos, "content") : bos;
  return content.is_string() ? content.get<std::string>() : std::string();
}

std::optional<FramingToken> find_bos(const BpeTokenizerParts& parts, const std::string& content) {
  if (content.empty()) {
    if (parts.post_processor.before.empty()) return std::nullopt;
    return parts.post_processor.before.front();
  }
  for (const AddedToken& token : parts.added_tokens)
    if (token.content == content) return FramingToken{token.id, content};
  if (const auto id = parts.model->vocabulary().find(content)) return FramingToken{*id, content};
  return std::nullopt;
}

// tokenizer_config.json has the last word on whether a BOS is put in front.
Result<void> apply_config(const nlohmann::json& config, BpeTokenizerParts& parts) {
  parts.bos = find_bos(parts, bos_content(config));
  if (json_field(config, "add_bos_token").is_null() || !parts.bos) return {};
  HEADROOM_TRY(const bool wanted, json_bool(config, "add_bos_token", false));
  auto& before = parts.post_processor.before;
  const bool there = !before.empty() && before.front().id == parts.bos->id;
  if (wanted && !there) before.insert(before.begin(), *parts.bos);
  if (!wanted && there) before.erase(before.begin());
  return {};
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
  BpeTokenizerParts parts;
  parts.source = "tokenizer.json";
  HEADROOM_TRY(parts.added_tokens, read_added_tokens(json_field(root, "added_tokens")));
  HEADROOM_TRY(parts.normalizer, Normalizer::create(json_field(root, "normalizer")));
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create(json_field(root, "pre_tokenizer")));
  HEADROOM_TRY(parts.model, read_model(json_field(root, "model"), parts.pre_tokenizer.byte_level()));
  HEADROOM_TRY(parts.post_processor, PostProcessor::create(json_field(root, "post_processor")));
  HEADROOM_TRY_VOID(apply_config(tokenizer_config, parts));
  HEADROOM_TRY(parts.decodes_metaspace, decodes_metaspace(json_field(root, "decoder")));
  return BpeTokenizer::create(std::move(parts));
}

}  // namespace headroom
