// Tokenizers of SentencePiece models, from tokenizer.model and from GGUF. Safe from any thread.
#pragma once

#include <memory>
#include <string_view>

#include "core/base/result.h"
#include "core/text/pipeline_tokenizer.h"
#include "core/text/sentencepiece_model.h"

namespace headroom {

// The vocabulary, the normaliser and the model that the pieces and settings of `source` describe, without a frame of
// BOS and EOS. Control tokens are found in the prompt; what the user defined is found after normalisation.
[[nodiscard]] Result<TokenizerParts> sentencepiece_parts(const SentencePieceModel& source);

}  // namespace headroom
