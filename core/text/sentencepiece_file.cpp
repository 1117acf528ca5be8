// parts_from_sentencepiece and parts_from_fairseq.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/json_fields.h"
#include "core/text/sentencepiece_tokenizer.h"
#include "core/text/tokenizer_config.h"
#include "core/text/tokenizer_files.h"

namespace headroom {
namespace {

std::optional<FramingToken> piece_token(const SentencePieceModel& model, std::int32_t id) {
  if (id < 0 || static_cast<std::size_t>(id) >= model.pieces.size()) return std::nullopt;
  const SentencePiece& piece = model.pieces[static_cast<std::size_t>(id)];
  if (piece.kind != SentencePiece::Kind::Control) return std::nullopt;
  return FramingToken{id, piece.text};
}

// Around one prompt, the tokens that transformers' class of that name puts; a name it does not know has Llama's.
void add_class_frame(const std::string& name, const SentencePieceModel& model, TokenizerParts& parts) {
  const auto bos = piece_token(model, model.bos_id);
  const auto eos = piece_token(model, model.eos_id);
  const bool is_t5 = name == "T5Tokenizer" || name == "MT5Tokenizer" || name == "PegasusTokenizer";
  auto& frame = parts.post_processor;
  if (name == "AlbertTokenizer") {
    if (const auto first = find_token(parts, "[CLS]")) frame.before.push_back(*first);
    if (const auto last = find_token(parts, "[SEP]")) frame.after.push_back(*last);
  } else if (is_t5) {
    if (eos) frame.after.push_back(*eos);
  } else if (bos) {
    frame.before.push_back(*bos);
  }
  parts.bos = frame.before.empty() ? bos : frame.before.front();
}

using PieceKind = SentencePiece::Kind;

// The pieces by transformers' ids: SentencePiece's own come behind them, without the `left_out` first ones.
Result<SentencePieceModel> moved_pieces(SentencePieceModel model, bool camembert) {
  const std::size_t left_out = camembert ? 1 : 3;  // <unk>; <unk>, <s> and </s>
  const auto is_text = [](const SentencePiece& piece) {
    return piece.kind == PieceKind::Normal || piece.kind == PieceKind::Byte;
  };
  if (model.pieces.size() < 3 || std::any_of(model.pieces.begin(), model.pieces.begin() + 3, is_text))
    return Error(ErrorCode::Corrupt, "The first pieces are not the special ones that transformers replaces")
        .at_tensor("pieces")
        .wanted("<unk>, <s>, </s>", model.pieces.empty() ? "nothing" : model.pieces[0].text);
  std::vector<SentencePiece> pieces;
  if (camembert)
    pieces = {{"<s>NOTUSED", 0, PieceKind::Unused},
              {"<pad>", 0, PieceKind::Control},
              {"</s>NOTUSED", 0, PieceKind::Unused},
              {"<unk>", 0, PieceKind::Unknown},
              {"<unk>NOTUSED", 0, PieceKind::Unused}};
  else
    pieces = {{"<s>", 0, PieceKind::Control},
              {"<pad>", 0, PieceKind::Control},
              {"</s>", 0, PieceKind::Control},
              {"<unk>", 0, PieceKind::Unknown}};
  pieces.insert(pieces.end(), std::make_move_iterator(model.pieces.begin() + static_cast<std::ptrdiff_t>(left_out)),
                std::make_move_iterator(model.pieces.end()));
  pieces.push_back({"<mask>", 0, PieceKind::Control});
  model.pieces = std::move(pieces);
  return model;
}

}  // namespace

Result<TokenizerParts> parts_from_fairseq(std::string_view content, const nlohmann::json& config) {
  const std::string name = tokenizer_class(config);
  for (const char* other : {"MBart", "NLLB", "Nllb", "M2M100", "XGLM", "PLBart"})
    if (name.starts_with(other)) return unsupported_component("tokenizer_class", name);
  HEADROOM_TRY(SentencePieceModel source, read_sentencepiece_model(content));
  HEADROOM_TRY(const SentencePieceModel model, moved_pieces(std::move(source), name == "CamembertTokenizer"));
  HEADROOM_TRY(TokenizerParts parts, sentencepiece_parts(model));
  parts.source = "sentencepiece.bpe.model";
  for (AddedToken& token : parts.added_tokens) token.lstrip = token.content == "<mask>";
  if (const auto first = find_token(parts, "<s>")) parts.post_processor.before.push_back(*first);
  if (const auto last = find_token(parts, "</s>")) parts.post_processor.after.push_back(*last);
  if (!parts.post_processor.before.empty()) parts.bos = parts.post_processor.before.front();
  HEADROOM_TRY_VOID(add_config_tokens(config, parts));
  HEADROOM_TRY_VOID(apply_framing(config, parts));
  return parts;
}

Result<TokenizerParts> parts_from_sentencepiece(std::string_view content, const nlohmann::json& config) {
  HEADROOM_TRY(const SentencePieceModel model, read_sentencepiece_model(content));
  HEADROOM_TRY(TokenizerParts parts, sentencepiece_parts(model));
  parts.source = "tokenizer.model";
  add_class_frame(tokenizer_class(config), model, parts);
  HEADROOM_TRY_VOID(add_config_tokens(config, parts));
  HEADROOM_TRY_VOID(apply_framing(config, parts));
  return parts;
}

}  // namespace headroom
