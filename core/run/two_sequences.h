// The two prompts of an encoder-decoder: the source, which the encoder reads, and the target, which the decoder reads.
// A run has them as a capture has its two sequences: the target in the place of the prompt, the source as the other
// one, whose keys cross-attention sees. Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/model_spec.h"
#include "core/run/analysis.h"
#include "core/run/capture_prompt.h"

namespace headroom {

// What the decoder reads so that it predicts `labels`: they move one place on behind the encoder's start token, and the
// last one goes (transformers, shift_tokens_right). Their last one takes its place where the model has no start token.
[[nodiscard]] std::vector<std::int32_t> shift_right(const EncoderSpec& encoder, std::span<const std::int32_t> labels);

// One prompt of both, each as long as the longer one, −1 and empty texts behind its end.
[[nodiscard]] Prompt pair_prompts(Prompt source, Prompt target);

struct SequencePair {
  std::vector<std::int32_t> source, target;
};
// Both without what is behind their ends. The target of a prompt that has only ids is made of them.
[[nodiscard]] SequencePair sequences_of(const EncoderSpec& encoder, const Prompt& prompt);

// Gives every layer of the encoder-decoder its name and its numbers of rows and keys.
void bind_lengths(ModelSpec& model, std::int64_t source, std::int64_t target);

// Whose tokens the rows and keys of a layer are: of a capture, or of an encoder-decoder.
[[nodiscard]] CallAxes axes_of_layer(const ModelSpec& model, std::int64_t layer);

}  // namespace headroom
