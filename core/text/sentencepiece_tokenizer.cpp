#include "core/text/sentencepiece_tokenizer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/bpe.h"
#include "core/text/piece_lookup.h"
#include "core/text/unigram.h"

namespace headroom {
namespace {

using Kind = SentencePiece::Kind;
using Algorithm = SentencePieceModel::Algorithm;

// Whether text can become this piece.
bool is_found(Kind kind) { return kind == Kind::Normal || kind == Kind::UserDefined; }

Result<std::unique_ptr<TokenModel>> make_unigram(const SentencePieceModel& source, Vocabulary vocabulary,
                                                 std::optional<std::int32_t> unk_id) {
  UnigramOptions options;
  options.unk_id = unk_id;
  options.byte_fallback = source.byte_fallback;
  options.single_precision = true;
  bool first = true;
  for (const SentencePiece& piece : source.pieces) {
    options.scores.push_back(piece.score);
    options.excluded.push_back(!is_found(piece.kind));
    options.always_chosen.push_back(piece.kind == Kind::UserDefined);
    if (piece.kind != Kind::Normal) continue;
    options.min_score = first ? piece.score : std::min<double>(options.min_score, piece.score);
    options.max_score = std::max<double>(options.max_score, piece.score);  // at least 0, as SentencePiece has it
    first = false;
  }
  return Unigram::create(std::move(vocabulary), std::move(options));
}

Result<std::unique_ptr<TokenModel>> make_bpe(const SentencePieceModel& source, Vocabulary vocabulary,
                                             std::optional<std::int32_t> unk_id) {
  std::unordered_map<std::int32_t, double> scores;
  for (std::size_t i = 0; i < source.pieces.size(); ++i)
    if (is_found(source.pieces[i].kind)) scores.emplace(static_cast<std::int32_t>(i), source.pieces[i].score);
  HEADROOM_TRY(const auto merges, merges_from_scores(vocabulary, scores));
  BpeOptions options{.byte_fallback = source.byte_fallback, .fuse_unk = true};
  if (unk_id) options.unk_token = source.pieces[static_cast<std::size_t>(*unk_id)].text;
  return Bpe::create(std::move(vocabulary), merges, std::move(options));
}

std::unique_ptr<TokenModel> make_lookup(const SentencePieceModel& source, Vocabulary vocabulary,
                                        std::optional<std::int32_t> unk_id) {
  PieceLookupOptions options;
  options.characters = source.algorithm == Algorithm::Char;
  options.unk_id = unk_id;
  options.byte_fallback = source.byte_fallback;
  for (const SentencePiece& piece : source.pieces)
    options.excluded.push_back(!is_found(piece.kind) && piece.kind != Kind::Unused);
  return PieceLookup::create(std::move(vocabulary), std::move(options));
}

}  // namespace

Result<TokenizerParts> sentencepiece_parts(const SentencePieceModel& source) {
  TokenizerParts parts;
  parts.decodes_metaspace = source.escapes_spaces;
  Vocabulary vocabulary;
  vocabulary.reserve(source.pieces.size());
  std::vector<AddedToken> symbols;
  std::optional<std::int32_t> unk_id;
  for (std::size_t i = 0; i < source.pieces.size(); ++i) {
    const SentencePiece& piece = source.pieces[i];
    const auto id = static_cast<std::int32_t>(i);
    HEADROOM_TRY_VOID(vocabulary.add(piece.text, id));
    if (piece.kind == Kind::Unknown && !unk_id) unk_id = id;
    if (piece.text.empty()) continue;
    if (piece.kind == Kind::Control || piece.kind == Kind::Unknown)
      parts.added_tokens.push_back({.id = id, .content = piece.text, .special = true});
    if (piece.kind == Kind::UserDefined) symbols.push_back({.id = id, .content = piece.text});
  }
  SentencePieceNormalizer normalizer;
  normalizer.adds_prefix = source.adds_prefix;
  normalizer.space_is_suffix = source.space_is_suffix;
  normalizer.removes_extra_spaces = source.removes_extra_spaces;
  normalizer.escapes_spaces = source.escapes_spaces;
  if (!source.charsmap.empty()) {
    HEADROOM_TRY(Charsmap rules, Charsmap::create(source.charsmap));
    normalizer.rules = std::make_shared<const Charsmap>(std::move(rules));
  }
  if (!symbols.empty()) {
    HEADROOM_TRY(AddedTokenMatcher matcher, AddedTokenMatcher::create(symbols));
    normalizer.symbols = std::make_shared<const AddedTokenMatcher>(std::move(matcher));
    // Unigram itself always chooses them; BPE must not merge over their ends, nor characters cut them. Words are whole.
    if (source.algorithm == Algorithm::Bpe || source.algorithm == Algorithm::Char) parts.symbols = std::move(symbols);
  }
  parts.normalizer = Normalizer({std::move(normalizer)});
  if (source.algorithm == Algorithm::Unigram) {
    HEADROOM_TRY(parts.model, make_unigram(source, std::move(vocabulary), unk_id));
  } else if (source.algorithm == Algorithm::Bpe) {
    HEADROOM_TRY(parts.model, make_bpe(source, std::move(vocabulary), unk_id));
  } else {
    parts.model = make_lookup(source, std::move(vocabulary), unk_id);
  }
  return parts;
}

}  // namespace headroom
