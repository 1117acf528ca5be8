#include "core/text/bpe_tokenizer.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <system_error>

#include "core/base/check.h"
#include "core/base/format.h"
#include "core/text/byte_level.h"

namespace headroom {
namespace {

// The byte that "<0xNN>" names.
std::optional<char> byte_of_fallback_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [stop, code] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (code != std::errc() || stop != token.data() + 5) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(value));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> BpeTokenizer::create(BpeTokenizerParts parts) {
  HEADROOM_CHECK(parts.model.has_value(), "a tokenizer needs its model");
  std::unique_ptr<BpeTokenizer> tokenizer(new BpeTokenizer(std::move(parts)));
  const BpeTokenizerParts& own = tokenizer->parts_;
  const Vocabulary& vocabulary = own.model->vocabulary();
  std::int64_t largest_id = vocabulary.largest_id();
  tokenizer->token_count_ = static_cast<std::int64_t>(vocabulary.tokens().size());

  std::vector<AddedToken> literal;
  std::vector<AddedToken> normalized;
  for (const AddedToken& token : own.added_tokens) {
    largest_id = std::max<std::int64_t>(largest_id, token.id);
    if (vocabulary.token(token.id) == nullptr && !tokenizer->added_.contains(token.id)) ++tokenizer->token_count_;
    tokenizer->added_.try_emplace(token.id, token);
    if (!token.normalized) {
      literal.push_back(token);
      continue;
    }
    RegexSession session(token.content.size());
    HEADROOM_TRY(const AlignedText content, own.normalizer.apply(AlignedText(token.content), session));
    normalized.push_back(token);
    normalized.back().content = content.text();
  }
  tokenizer->vocab_size_ = largest_id + 1;
  HEADROOM_TRY(tokenizer->literal_, AddedTokenMatcher::create(std::move(literal)));
  HEADROOM_TRY(tokenizer->normalized_, AddedTokenMatcher::create(std::move(normalized)));
  return std::unique_ptr<Tokenizer>(std::move(tokenizer));
}

void BpeTokenizer::append(Encoding& out, std::int32_t id, std::string_view text) const {
  out.ids.push_back(id);
  out.texts.emplace_back(text);
  out.is_special.push_back(is_special(id) ? 1 : 0);
}

Result<Encoding> BpeTokenizer::encode(std::string_view text, BosMode bos) const {
  RegexSession session(text.size());
  Encoding out;
  for (const AddedTokenMatcher::Part& part : literal_.split(text)) {
    if (part.token != nullptr)
      append(out, part.token->id, text.substr(part.range.begin, part.range.end - part.range.begin));
    else
      HEADROOM_TRY_VOID(encode_text(text, part.range, session, out));
  }
  return add_frame(std::move(out), bos);
}

Result<void> BpeTokenizer::encode_text(std::string_view prompt, ByteRange range, RegexSession& session,
                                       Encoding& out) const {
  const std::string_view piece = prompt.substr(range.begin, range.end - range.begin);
  HEADROOM_TRY(const AlignedText text, parts_.normalizer.apply(AlignedText(piece, range.begin), session));
  for (const AddedTokenMatcher::Part& part : normalized_.split(text.text())) {
    if (part.token != nullptr) {
      const std::size_t begin = text.origin(part.range.begin);
      append(out, part.token->id, prompt.substr(begin, text.origin(part.range.end) - begin));
      continue;
    }
    AlignedTextBuilder builder(text);
    builder.keep(part.range);
    HEADROOM_TRY_VOID(encode_normalized(prompt, builder.take(), session, out));
  }
  return {};
}

Result<void> BpeTokenizer::encode_normalized(std::string_view prompt, AlignedText text, RegexSession& session,
                                             Encoding& out) const {
  const std::size_t size = text.text().size();
  HEADROOM_TRY(const Words words, parts_.pre_tokenizer.apply(Words{std::move(text), {{0, size}}}, session));
  std::vector<BpeToken> tokens;
  for (const ByteRange& word : words.ranges) {
    tokens.clear();
    parts_.model->encode(std::string_view(words.text.text()).substr(word.begin, word.end - word.begin), tokens);
    for (const BpeToken& token : tokens) {
      const std::size_t begin = words.text.origin(word.begin + token.begin);
      const std::size_t end = words.text.origin(word.begin + token.end);
      append(out, token.id, prompt.substr(begin, end - begin));
    }
  }
  return {};
}

Result<Encoding> BpeTokenizer::add_frame(Encoding encoding, BosMode mode) const {
  std::vector<FramingToken> before = parts_.post_processor.before;
  const auto is_bos = [&](std::int32_t id) { return parts_.bos && parts_.bos->id == id; };
  if (mode == BosMode::Never)
    while (!before.empty() && is_bos(before.front().id)) before.erase(before.begin());
  if (mode == BosMode::Always && (before.empty() || !is_bos(before.front().id))) {
    if (!parts_.bos)
      return Error(ErrorCode::InvalidArgument, "A BOS token is asked for, and the tokenizer names none")
          .advise("Leave the BOS out, or give the prompt as token ids.");
    if (!before.empty() || encoding.ids.empty() || !is_bos(encoding.ids.front()))
      before.insert(before.begin(), *parts_.bos);
  }
  if (before.empty() && parts_.post_processor.after.empty()) return encoding;
  Encoding framed;
  const auto add = [&](const std::vector<FramingToken>& tokens) {
    for (const FramingToken& token : tokens) {
      framed.ids.push_back(token.id);
      framed.texts.push_back(token.content);
      framed.is_special.push_back(1);
    }
  };
  add(before);
  framed.bos_added = !before.empty() && is_bos(before.front().id);
  framed.ids.insert(framed.ids.end(), encoding.ids.begin(), encoding.ids.end());
  std::move(encoding.texts.begin(), encoding.texts.end(), std::back_inserter(framed.texts));
  framed.is_special.insert(framed.is_special.end(), encoding.is_special.begin(), encoding.is_special.end());
  add(parts_.post_processor.after);
  return framed;
}

std::string BpeTokenizer::token_bytes(std::int32_t id) const {
  if (const auto added = added_.find(id); added != added_.end()) return added->second.content;
  const std::string* token = parts_.model->vocabulary().token(id);
  if (token == nullptr) return {};
  if (parts_.model->options().byte_level) return bytes_from_byte_level(*token).value_or(*token);
  if (parts_.model->options().byte_fallback)
    if (const auto byte = byte_of_fallback_token(*token)) return std::string(1, *byte);
  if (!parts_.decodes_metaspace) return *token;
  std::string text;
  for (std::size_t i = 0; i < token->size();) {
    const bool sign = std::string_view(*token).substr(i).starts_with(kMetaspaceSign);
    text += sign ? ' ' : (*token)[i];
    i += sign ? kMetaspaceSign.size() : 1;
  }
  return text;
}

bool BpeTokenizer::is_special(std::int32_t id) const {
  const auto added = added_.find(id);
  return added != added_.end() && added->second.special;
}

std::string BpeTokenizer::description() const {
  const char* kind = parts_.model->options().byte_level ? "byte-level BPE" : "BPE over characters";
  return parts_.source + format(": %s, %lld tokens", kind, static_cast<long long>(token_count_));
}

}  // namespace headroom
