// What a head writes after it has read one token, by the direct path alone: which tokens it promotes and suppresses,
// and where the token itself stands among them. Pure but for reading; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/circuits/vocabulary.h"

namespace headroom {

struct PromotedToken {
  std::int64_t token = 0;
  double score = 0.0;  // logit less the mean over the vocabulary, in standard deviations
};

struct TokenEffect {
  std::int64_t layer = 0, head = 0, token = 0, vocabulary = 0;
  std::vector<PromotedToken> promoted, suppressed;  // the largest first, the smallest first
  std::int64_t own_rank = 0;                        // from 1; tokens with a larger logit, and one
  double own_score = kNaN;
  // Over tokens at equal steps of the vocabulary: shares whose own rank is 1, and at most 10.
  std::int64_t sampled = 0;
  double own_first = kNaN, own_among_ten = kNaN;
};

struct TokenEffectRequest {
  std::int64_t layer = 0, head = 0, token = 0;
  std::size_t shown = 12;      // of promoted and suppressed each
  std::int64_t sample = 2048;  // at most; 0: none
};

// logits = U G_final W_O W_V G E[token], of the whole vocabulary. Unsupported with the reason where the path is
// refused; InvalidArgument for a token or head that is not there; Cancelled by `stop`.
[[nodiscard]] Result<TokenEffect> measure_token_effect(const ModelSource& source, const ModelSpec& model,
                                                       const TokenEffectRequest& request, const CircuitStop& stop);

}  // namespace headroom
