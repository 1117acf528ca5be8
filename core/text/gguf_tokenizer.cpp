// Tokenizer::from_gguf: the parts that the keys tokenizer.ggml.* describe.
#include <algorithm>
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
#include "core/text/bpe.h"
#include "core/text/gguf_pre_tokenizers.h"
#include "core/text/json_fields.h"
#include "core/text/metaspace.h"
#include "core/text/pipeline_tokenizer.h"
#include "core/text/sentencepiece_tokenizer.h"
#include "core/text/wordpiece.h"

namespace headroom {
namespace {

enum TokenType : std::int64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6 };

struct GgufVocabulary {
  Vocabulary tokens;
  std::vector<AddedToken> added;
  std::string unknown;
};

Result<GgufVocabulary> read_gguf_vocabulary(const nlohmann::json& metadata) {
  const nlohmann::json& list = json_field(metadata, "tokenizer.ggml.tokens");
  const nlohmann::json& types = json_field(metadata, "tokenizer.ggml.token_type");
  const auto corrupt = [](const char* key, std::string message) {
    return Error(ErrorCode::Corrupt, std::move(message)).at_tensor(key);
  };
  if (!list.is_array() || list.empty())
    return corrupt("tokenizer.ggml.tokens", "The vocabulary is not a list of tokens");
  if (!types.is_null() && (!types.is_array() || types.size() != list.size()))
    return corrupt("tokenizer.ggml.token_type", "The token types are not one for each token");
  GgufVocabulary vocabulary;
  vocabulary.tokens.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!list[i].is_string()) return corrupt("tokenizer.ggml.tokens", format("Token %d is not a string", id));
    const auto& token = list[i].get_ref<const std::string&>();
    HEADROOM_TRY_VOID(vocabulary.tokens.add(token, id));
    const bool typed = types.is_array() && types[i].is_number_integer();
    const std::int64_t type = typed ? types[i].get<std::int64_t>() : std::int64_t{kNormal};
    if (type == kUnknown) vocabulary.unknown = token;
    if ((type != kControl && type != kUserDefined && type != kUnknown) || token.empty()) continue;
    vocabulary.added.push_back({.id = id, .content = token, .special = type != kUserDefined});
  }
  return vocabulary;
}

// A merge is "left right"; the left part may itself begin with a space.
Result<std::vector<BpeMerge>> read_gguf_merges(const nlohmann::json& metadata) {
  const nlohmann::json& list = json_field(metadata, "tokenizer.ggml.merges");
  const auto corrupt = [](std::string message) {
    return Error(ErrorCode::Corrupt, std::move(message)).at_tensor("tokenizer.ggml.merges");
  };
  if (!list.is_array()) return corrupt("The merges are not a list");
  std::vector<BpeMerge> merges;
  merges.reserve(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_string()) return corrupt(format("Merge %zu is not a string", i));
    const auto& text = list[i].get_ref<const std::string&>();
    const std::size_t space = text.find(' ', 1);
    if (space == std::string::npos) return corrupt(format("Merge %zu is not two tokens: \"", i) + text + "\"");
    merges.push_back({text.substr(0, space), text.substr(space + 1), static_cast<std::uint32_t>(i)});
  }
  return merges;
}

Result<std::optional<FramingToken>> framing_token(const nlohmann::json& metadata, const char* key,
                                                  const Vocabulary& vocabulary) {
  const nlohmann::json& value = json_field(metadata, key);
  if (value.is_null()) return std::optional<FramingToken>();
  HEADROOM_TRY(const std::int32_t id, json_token_id(value, key));
  const std::string* token = vocabulary.token(id);
  if (token == nullptr) return Error(ErrorCode::Corrupt, format("The vocabulary has no token %d", id)).at_tensor(key);
  return std::optional(FramingToken{id, *token});
}

// Which tokens stand around a prompt where the keys add_…_token are absent.
struct FrameDefaults {
  bool bos = false;
  bool eos = false;
  bool sep = false;
};

Result<void> add_frame(const nlohmann::json& metadata, FrameDefaults defaults, const Vocabulary& vocabulary,
                       TokenizerParts& parts) {
  HEADROOM_TRY(parts.bos, framing_token(metadata, "tokenizer.ggml.bos_token_id", vocabulary));
  HEADROOM_TRY(const auto eos, framing_token(metadata, "tokenizer.ggml.eos_token_id", vocabulary));
  HEADROOM_TRY(const auto sep, framing_token(metadata, "tokenizer.ggml.seperator_token_id", vocabulary));
  if (!parts.bos) {  // older files of encoders
    HEADROOM_TRY(parts.bos, framing_token(metadata, "tokenizer.ggml.cls_token_id", vocabulary));
  }
  HEADROOM_TRY(const bool adds_bos, json_bool(metadata, "tokenizer.ggml.add_bos_token", defaults.bos));
  HEADROOM_TRY(const bool adds_eos, json_bool(metadata, "tokenizer.ggml.add_eos_token", defaults.eos));
  HEADROOM_TRY(const bool adds_sep, json_bool(metadata, "tokenizer.ggml.add_sep_token", defaults.sep));
  if (adds_bos && parts.bos) parts.post_processor.before.push_back(*parts.bos);
  if (adds_eos && eos) parts.post_processor.after.push_back(*eos);
  if (adds_sep && !adds_eos && sep) parts.post_processor.after.push_back(*sep);
  return {};
}

Result<TokenizerParts> read_gpt2(const nlohmann::json& metadata, const std::string& pre) {
  HEADROOM_TRY(const GgufPreTokenizer spec, gguf_pre_tokenizer(pre));
  HEADROOM_TRY(GgufVocabulary vocabulary, read_gguf_vocabulary(metadata));
  HEADROOM_TRY(const auto merges, read_gguf_merges(metadata));
  TokenizerParts parts;
  parts.source = "GGUF (" + pre + ")";
  parts.added_tokens = std::move(vocabulary.added);
  if (spec.nfc) parts.normalizer = TextNormalizer({UnicodeForm::Nfc});
  BpeOptions options{.byte_level = spec.byte_level, .ignore_merges = spec.ignore_merges};
  options.byte_fallback = !spec.byte_level;
  if (!spec.byte_level && spec.escapes_spaces) {
    HEADROOM_TRY(Regex space, Regex::compile_literal(" "));
    parts.normalizer = TextNormalizer({TextNormalizer::Replace{std::move(space), std::string(kMetaspaceSign)}});
    parts.decodes_metaspace = true;
    options.unk_token = vocabulary.unknown;
  }
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create_split(spec.regexes, spec.byte_level));
  HEADROOM_TRY_VOID(add_frame(metadata, {.bos = spec.adds_bos, .sep = spec.adds_sep}, vocabulary.tokens, parts));
  HEADROOM_TRY(parts.model, Bpe::create(std::move(vocabulary.tokens), merges, std::move(options)));
  return parts;
}

// WordPiece, whose tokens that begin a word begin with U+2581 here, and the others with nothing.
Result<TokenizerParts> read_bert(const nlohmann::json& metadata) {
  HEADROOM_TRY(GgufVocabulary vocabulary, read_gguf_vocabulary(metadata));
  BertNormalization wanted;
  HEADROOM_TRY(wanted.lowercase, json_bool(metadata, "tokenizer.ggml.normalizer.lowercase", true));
  HEADROOM_TRY(wanted.strip_accents, json_bool(metadata, "tokenizer.ggml.normalizer.strip_accents", wanted.lowercase));
  TokenizerParts parts;
  parts.source = "GGUF (bert)";
  parts.added_tokens = std::move(vocabulary.added);
  parts.normalizer = TextNormalizer({wanted});
  parts.decodes_metaspace = true;
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create({{"type", "BertPreTokenizer"}}));
  HEADROOM_TRY_VOID(add_frame(metadata, {.bos = true, .sep = true}, vocabulary.tokens, parts));
  WordPieceOptions options{.first_prefix = std::string(kMetaspaceSign), .continuing_prefix = ""};
  options.unk_token = vocabulary.unknown.empty() ? "[UNK]" : vocabulary.unknown;
  HEADROOM_TRY(parts.model, WordPiece::create(std::move(vocabulary.tokens), std::move(options)));
  return parts;
}

// "precompiled_charsmap": an array of bytes, signed or not.
Result<std::string> read_charsmap(const nlohmann::json& metadata) {
  constexpr const char* kKey = "tokenizer.ggml.precompiled_charsmap";
  const nlohmann::json& list = json_field(metadata, kKey);
  std::string bytes;
  if (list.is_null()) return bytes;
  if (!list.is_array())
    return Error(ErrorCode::Corrupt, "The normalisation rules are not a list of bytes").at_tensor(kKey);
  bytes.reserve(list.size());
  for (const nlohmann::json& value : list) {
    const std::int64_t byte = value.is_number_integer() ? value.get<std::int64_t>() : 256;
    if (byte < -128 || byte > 255)
      return Error(ErrorCode::Corrupt, "The normalisation rules are not a list of bytes")
          .at_tensor(kKey)
          .wanted("-128 to 255", value.dump());
    bytes += static_cast<char>(static_cast<unsigned char>(byte & 0xFF));
  }
  return bytes;
}

// The pieces of a SentencePiece model: tokens, scores and types by id.
Result<std::vector<SentencePiece>> read_pieces(const nlohmann::json& metadata) {
  HEADROOM_TRY(const GgufVocabulary vocabulary, read_gguf_vocabulary(metadata));
  const nlohmann::json& scores = json_field(metadata, "tokenizer.ggml.scores");
  const nlohmann::json& types = json_field(metadata, "tokenizer.ggml.token_type");
  const auto is_number = [](const nlohmann::json& value) { return value.is_number(); };
  if (!scores.is_array() || scores.size() != vocabulary.tokens.tokens().size() ||
      !std::all_of(scores.begin(), scores.end(), is_number))
    return Error(ErrorCode::Corrupt, "The scores are not one number for each token").at_tensor("tokenizer.ggml.scores");
  std::vector<SentencePiece> pieces;
  pieces.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::int64_t type = types.is_array() && types[i].is_number_integer() ? types[i].get<std::int64_t>() : 1;
    const bool known = type >= kNormal && type <= kByte;
    pieces.push_back({*vocabulary.tokens.token(static_cast<std::int32_t>(i)), scores[i].get<float>(),
                      known ? static_cast<SentencePiece::Kind>(type) : SentencePiece::Kind::Normal});
  }
  return pieces;
}

bool is_spaces(std::string_view text) {
  while (text.starts_with(kMetaspaceSign)) text.remove_prefix(kMetaspaceSign.size());
  return text.empty();
}

// SentencePiece: "llama" is BPE by scores with byte fallback, "t5" Unigram.
Result<TokenizerParts> read_sentencepiece(const nlohmann::json& metadata, const std::string& model) {
  const bool is_bpe = model == "llama";
  SentencePieceModel source;
  source.algorithm = is_bpe ? SentencePieceModel::Algorithm::Bpe : SentencePieceModel::Algorithm::Unigram;
  HEADROOM_TRY(source.pieces, read_pieces(metadata));
  HEADROOM_TRY(source.charsmap, read_charsmap(metadata));
  HEADROOM_TRY(source.adds_prefix, json_bool(metadata, "tokenizer.ggml.add_space_prefix", true));
  HEADROOM_TRY(source.removes_extra_spaces, json_bool(metadata, "tokenizer.ggml.remove_extra_whitespaces", !is_bpe));
  source.byte_fallback = is_bpe || std::any_of(source.pieces.begin(), source.pieces.end(), [](const SentencePiece& p) {
                           return p.kind == SentencePiece::Kind::Byte;
                         });
  HEADROOM_TRY(TokenizerParts parts, sentencepiece_parts(source));
  parts.source = "GGUF (" + model + ")";
  // Converters call added tokens user-defined too: those are found in the prompt itself, runs of spaces are not.
  std::erase_if(parts.symbols, [](const AddedToken& symbol) { return !is_spaces(symbol.content); });
  for (std::size_t i = 0; i < source.pieces.size(); ++i) {
    const SentencePiece& piece = source.pieces[i];
    if (piece.kind == SentencePiece::Kind::UserDefined && !piece.text.empty() && !is_spaces(piece.text))
      parts.added_tokens.push_back({.id = static_cast<std::int32_t>(i), .content = piece.text});
  }
  HEADROOM_TRY_VOID(add_frame(metadata, {.bos = is_bpe, .eos = !is_bpe}, parts.model->vocabulary(), parts));
  return parts;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_gguf(const nlohmann::json& metadata) {
  HEADROOM_TRY(const std::string model, json_string(metadata, "tokenizer.ggml.model", ""));
  if (model.empty() || model == "none")
    return Error(ErrorCode::NotFound, "The GGUF file has no tokenizer").at_tensor("tokenizer.ggml.model");
  Result<TokenizerParts> parts = unsupported_component("tokenizer.ggml.model", model);
  if (model == "gpt2" || model == "gemma4") {
    HEADROOM_TRY(const std::string pre,
                 json_string(metadata, "tokenizer.ggml.pre", model == "gpt2" ? "default" : "gemma4"));
    parts = read_gpt2(metadata, model == "gpt2" ? pre : "gemma4");
  } else if (model == "llama" || model == "t5") {
    parts = read_sentencepiece(metadata, model);
  } else if (model == "bert") {
    parts = read_bert(metadata);
  }
  if (!parts) return std::move(parts.error());
  return PipelineTokenizer::create(std::move(parts).value());
}

}  // namespace headroom
