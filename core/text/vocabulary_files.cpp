// parts_from_merges and parts_from_wordpiece.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/checkpoint/strict_json.h"
#include "core/text/bpe.h"
#include "core/text/json_fields.h"
#include "core/text/known_regexes.h"
#include "core/text/model_json.h"
#include "core/text/text_lines.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_files.h"
#include "core/text/wordpiece.h"

namespace headroom {
namespace {

constexpr std::string_view kWordEnd = "</w>";

Result<std::vector<BpeMerge>> read_merge_lines(std::string_view content) {
  std::vector<BpeMerge> merges;
  for (LineReader lines(content); lines.next();) {
    if (lines.line().empty() || (lines.number() == 1 && lines.line().starts_with("#version"))) continue;
    HEADROOM_TRY(BpeMerge merge, merge_from_text(lines.line(), static_cast<std::uint32_t>(merges.size())));
    merges.push_back(std::move(merge));
  }
  return merges;
}

// What transformers' class of that name does to text; without a name the vocabulary tells.
std::string class_of(const nlohmann::json& config, const Vocabulary& vocabulary) {
  if (std::string name = tokenizer_class(config); !name.empty()) return name;
  for (const auto& [id, token] : vocabulary.tokens())
    if (token.ends_with(kWordEnd) && token.size() > kWordEnd.size())
      return vocabulary.find("<|startoftext|>") ? "CLIPTokenizer" : "OpenAIGPTTokenizer";
  return "GPT2Tokenizer";
}

Result<PreTokenizer> pre_tokenizer_of(const std::string& name, const nlohmann::json& config) {
  if (name == "OpenAIGPTTokenizer") return PreTokenizer::create({{"type", "BertPreTokenizer"}});
  if (name == "Qwen2Tokenizer") return PreTokenizer::create_split({kQwen2Regex});
  if (name == "CLIPTokenizer") {
    constexpr const char* kClipRegex = R"('s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";
    const nlohmann::json split = {
        {"type", "Split"}, {"pattern", {{"Regex", kClipRegex}}}, {"behavior", "Removed"}, {"invert", true}};
    const nlohmann::json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    return PreTokenizer::create({{"type", "Sequence"}, {"pretokenizers", nlohmann::json::array({split, bytes})}});
  }
  HEADROOM_TRY(const bool prefix, json_bool(config, "add_prefix_space", false));
  return PreTokenizer::create({{"type", "ByteLevel"}, {"add_prefix_space", prefix}});
}

Result<TextNormalizer> normalizer_of(const std::string& name) {
  if (name == "OpenAIGPTTokenizer") return TextNormalizer::create({{"type", "BertNormalizer"}});
  if (name == "Qwen2Tokenizer") return TextNormalizer::create({{"type", "NFC"}});
  if (name != "CLIPTokenizer") return TextNormalizer();
  const nlohmann::json spaces = {{"type", "Replace"}, {"pattern", {{"Regex", R"(\s+)"}}}, {"content", " "}};
  return TextNormalizer::create(
      {{"type", "Sequence"},
       {"normalizers", nlohmann::json::array({{{"type", "NFC"}}, spaces, {{"type", "Lowercase"}}})}});
}

// Tokens around one prompt: the contents that the config names, else those of the class.
void add_frame_of(const nlohmann::json& config, const char* first_key, std::string first, const char* last_key,
                  std::string last, TokenizerParts& parts) {
  if (const std::string named = special_content(config, first_key); !named.empty()) first = named;
  if (const std::string named = special_content(config, last_key); !named.empty()) last = named;
  if (const auto token = find_token(parts, first)) parts.post_processor.before.push_back(*token);
  if (const auto token = find_token(parts, last)) parts.post_processor.after.push_back(*token);
}

void add_special(const char* content, TokenizerParts& parts) {
  const auto id = parts.model->vocabulary().find(content);
  const bool known = [&] {
    for (const AddedToken& token : parts.added_tokens)
      if (id && token.id == *id) return true;
    return false;
  }();
  if (id && !known) parts.added_tokens.push_back({.id = *id, .content = content, .special = true});
}

bool is_roberta_like(const std::string& name) {
  for (const char* known : {"RobertaTokenizer", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer", "MvpTokenizer"})
    if (name == known) return true;
  return false;
}

}  // namespace

Result<TokenizerParts> parts_from_merges(std::string_view vocabulary_content, std::string_view merge_content,
                                         const nlohmann::json& config) {
  HEADROOM_TRY(const nlohmann::json entries, parse_json(vocabulary_content, {.size_bytes = std::uint64_t{256} << 20}));
  HEADROOM_TRY(Vocabulary vocabulary, read_vocabulary(entries));
  HEADROOM_TRY(const auto merges, read_merge_lines(merge_content));
  const std::string name = class_of(config, vocabulary);
  TokenizerParts parts;
  parts.source = "vocab.json and merges.txt";
  HEADROOM_TRY(parts.normalizer, normalizer_of(name));
  HEADROOM_TRY(parts.pre_tokenizer, pre_tokenizer_of(name, config));
  BpeOptions options{.byte_level = parts.pre_tokenizer.byte_level()};
  if (name == "CLIPTokenizer" || name == "OpenAIGPTTokenizer") {
    options.end_of_word_suffix = kWordEnd;
    options.unk_token = special_content(config, "unk_token");
    if (options.unk_token.empty() && vocabulary.find("<unk>")) options.unk_token = "<unk>";
  }
  HEADROOM_TRY(parts.model, Bpe::create(std::move(vocabulary), merges, std::move(options)));
  HEADROOM_TRY_VOID(add_config_tokens(config, parts));
  for (const char* content : {"<|endoftext|>", "<|startoftext|>"}) add_special(content, parts);
  if (is_roberta_like(name)) {
    for (const char* content : {"<s>", "</s>", "<pad>", "<unk>", "<mask>"}) add_special(content, parts);
    add_frame_of(config, "bos_token", "<s>", "eos_token", "</s>", parts);
  } else if (name == "CLIPTokenizer") {
    add_frame_of(config, "bos_token", "<|startoftext|>", "eos_token", "<|endoftext|>", parts);
  }
  HEADROOM_TRY_VOID(apply_framing(config, parts));
  return parts;
}

Result<TokenizerParts> parts_from_wordpiece(std::string_view content, const nlohmann::json& config) {
  Vocabulary vocabulary;
  for (LineReader lines(content); lines.next();)
    HEADROOM_TRY_VOID(vocabulary.add(lines.line(), static_cast<std::int32_t>(lines.number() - 1)));
  if (vocabulary.tokens().empty()) return Error(ErrorCode::Corrupt, "vocab.txt has no tokens");
  HEADROOM_TRY(const bool basic, json_bool(config, "do_basic_tokenize", true));
  if (!basic) return unsupported_component("do_basic_tokenize", "false");
  BertNormalization wanted;
  HEADROOM_TRY(wanted.lowercase, json_bool(config, "do_lower_case", true));
  HEADROOM_TRY(wanted.strip_accents, json_bool(config, "strip_accents", wanted.lowercase));
  HEADROOM_TRY(wanted.space_ideographs, json_bool(config, "tokenize_chinese_chars", true));
  WordPieceOptions options;
  if (const std::string unk = special_content(config, "unk_token"); !unk.empty()) options.unk_token = unk;
  TokenizerParts parts;
  parts.source = "vocab.txt";
  parts.normalizer = TextNormalizer({wanted});
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create({{"type", "BertPreTokenizer"}}));
  HEADROOM_TRY(parts.model, WordPiece::create(std::move(vocabulary), std::move(options)));
  HEADROOM_TRY_VOID(add_config_tokens(config, parts));
  for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}) add_special(token, parts);
  add_frame_of(config, "cls_token", "[CLS]", "sep_token", "[SEP]", parts);
  HEADROOM_TRY_VOID(apply_framing(config, parts));
  return parts;
}

}  // namespace headroom
