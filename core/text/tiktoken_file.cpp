// parts_from_tiktoken.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/format.h"
#include "core/text/base64.h"
#include "core/text/bpe.h"
#include "core/text/byte_level.h"
#include "core/text/json_fields.h"
#include "core/text/known_regexes.h"
#include "core/text/text_lines.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_files.h"

namespace headroom {
namespace {

struct Special {
  std::int32_t id = 0;
  std::string content;
};

// A published vocabulary by the number of its tokens.
struct Published {
  std::size_t token_count = 0;
  std::string_view regex;
  std::vector<Special> specials;
  bool nfc = false;
  bool adds_bos = false;  // the first special token
};

std::vector<Special> llama3_specials() {
  std::vector<std::string> names = {"begin_of_text", "end_of_text"};
  for (int i = 0; i < 4; ++i) names.push_back(format("reserved_special_token_%d", i));
  for (const char* name : {"start_header_id", "end_header_id", "reserved_special_token_4", "eot_id"})
    names.emplace_back(name);
  for (int i = 5; i < 251; ++i) names.push_back(format("reserved_special_token_%d", i));
  std::vector<Special> specials;
  for (const std::string& name : names)
    specials.push_back({128000 + static_cast<std::int32_t>(specials.size()), "<|" + name + "|>"});
  return specials;
}

std::vector<Special> qwen_specials() {
  std::vector<Special> specials = {{151643, "<|endoftext|>"}, {151644, "<|im_start|>"}, {151645, "<|im_end|>"}};
  for (int i = 0; i < 205; ++i) specials.push_back({151646 + i, format("<|extra_%d|>", i)});
  return specials;
}

Result<Published> published_with(std::size_t count) {
  switch (count) {
    case 50256:  // r50k, GPT-2
    case 50280:  // p50k, whose ranks leave 50256 out
      return Published{count, kGpt2Regex, {{50256, "<|endoftext|>"}}};
    case 100256:  // cl100k
      return Published{count,
                       kLlama3Regex,
                       {{100257, "<|endoftext|>"},
                        {100258, "<|fim_prefix|>"},
                        {100259, "<|fim_middle|>"},
                        {100260, "<|fim_suffix|>"},
                        {100276, "<|endofprompt|>"}}};
    case 199998:  // o200k
      return Published{count, kO200kRegex, {{199999, "<|endoftext|>"}, {200018, "<|endofprompt|>"}}};
    case 128000: return Published{count, kLlama3Regex, llama3_specials(), false, true};
    case 151643: return Published{count, kQwen2Regex, qwen_specials(), true};
    case 163584: return Published{count, kKimiRegex, {}};
    default:
      return unsupported_component("tiktoken", format("%zu tokens, as many as no published vocabulary has", count));
  }
}

Error bad_line(std::size_t line, const char* what) {
  return Error(ErrorCode::Corrupt, format("Line %zu of the tiktoken file %s", line, what))
      .wanted("a token in base64, a space and its rank", "");
}

Result<Vocabulary> read_ranks(std::string_view content) {
  Vocabulary vocabulary;
  for (LineReader lines(content); lines.next();) {
    const std::string_view line = lines.line();
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return bad_line(lines.number(), "has no rank");
    const auto bytes = bytes_from_base64(line.substr(0, space));
    if (!bytes || bytes->empty()) return bad_line(lines.number(), "has no token in base64");
    const std::string_view digits = line.substr(space + 1);
    std::int32_t rank = 0;
    const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (code != std::errc() || stop != digits.data() + digits.size() || rank < 0)
      return bad_line(lines.number(), "has a rank that is no number from 0 to 2147483647");
    HEADROOM_TRY_VOID(vocabulary.add(byte_level_from_bytes(*bytes), rank));
  }
  return vocabulary;
}

}  // namespace

bool looks_like_tiktoken(std::string_view content) {
  constexpr std::size_t kLongestLine = 4096;
  const std::string_view line = content.substr(0, std::min(content.find('\n'), kLongestLine));
  const std::size_t space = line.find(' ');
  return space != std::string_view::npos && bytes_from_base64(line.substr(0, space)).has_value();
}

Result<TokenizerParts> parts_from_tiktoken(std::string_view content, const nlohmann::json& config) {
  HEADROOM_TRY(Vocabulary vocabulary, read_ranks(content));
  HEADROOM_TRY(Published published, published_with(vocabulary.tokens().size()));
  std::unordered_map<std::int32_t, double> scores;
  for (const auto& [id, token] : vocabulary.tokens()) scores.emplace(id, -static_cast<double>(id));
  HEADROOM_TRY(const auto merges, merges_from_scores(vocabulary, scores));
  TokenizerParts parts;
  parts.source = "tiktoken";
  if (published.nfc) parts.normalizer = TextNormalizer({UnicodeForm::Nfc});
  HEADROOM_TRY(parts.pre_tokenizer, PreTokenizer::create_split({published.regex}));
  HEADROOM_TRY(parts.model, Bpe::create(std::move(vocabulary), merges, {.byte_level = true, .ignore_merges = true}));
  HEADROOM_TRY_VOID(add_config_tokens(config, parts));
  for (const Special& special : published.specials) {
    const bool known = std::any_of(parts.added_tokens.begin(), parts.added_tokens.end(),
                                   [&](const AddedToken& token) { return token.id == special.id; });
    if (!known) parts.added_tokens.push_back({.id = special.id, .content = special.content, .special = true});
  }
  if (published.adds_bos) {
    const Special& first = published.specials.front();
    parts.bos = FramingToken{first.id, first.content};
    parts.post_processor.before.push_back(*parts.bos);
  }
  HEADROOM_TRY_VOID(apply_framing(config, parts));
  return parts;
}

}  // namespace headroom
