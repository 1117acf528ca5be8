// Tokenizers from files other than tokenizer.json: the parts that each describes, with what tokenizer_config.json says
// (null where there is none). Corrupt names the line or field that is malformed. Safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "core/base/result.h"
#include "core/text/pipeline_tokenizer.h"

namespace headroom {

// tokenizer.model: SentencePiece's protobuf.
[[nodiscard]] Result<TokenizerParts> parts_from_sentencepiece(std::string_view content, const nlohmann::json& config);

// sentencepiece.bpe.model: the same with the ids of fairseq, which transformers moves to make room for <s>, <pad>, </s>
// and <unk>: those of XLM-RoBERTa, or of CamemBERT where tokenizer_class says so. Unsupported for classes that put
// languages around a prompt (mBART, NLLB, …).
[[nodiscard]] Result<TokenizerParts> parts_from_fairseq(std::string_view content, const nlohmann::json& config);

// A line for each token: its bytes in base64, a space, its rank. Which regex goes with it follows from the number of
// tokens; Unsupported where none of the published vocabularies has as many.
[[nodiscard]] Result<TokenizerParts> parts_from_tiktoken(std::string_view content, const nlohmann::json& config);
// Whether `content` may be such lines.
[[nodiscard]] bool looks_like_tiktoken(std::string_view content);

// vocab.json and merges.txt: byte-level BPE (GPT-2, RoBERTa, Qwen2), or BPE with </w> at the ends of words (CLIP, GPT).
[[nodiscard]] Result<TokenizerParts> parts_from_merges(std::string_view vocabulary, std::string_view merges,
                                                       const nlohmann::json& config);

// vocab.txt: a WordPiece token on each line; BERT's normalisation by do_lower_case, strip_accents and
// tokenize_chinese_chars.
[[nodiscard]] Result<TokenizerParts> parts_from_wordpiece(std::string_view content, const nlohmann::json& config);

}  // namespace headroom
