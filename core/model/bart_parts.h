// BART and MBart, whose files have the same names and whose norms stand elsewhere: an encoder and a decoder with
// learned positions, LayerNorm and biases throughout. Pure functions; safe from any thread.
#pragma once

#include "core/base/result.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

struct BartForm {
  bool norms_before = false;  // norms stand before the branches, and one behind each stack; else over the sums
  // A target that is made of other tokens begins with decoder_start_token_id; false: with their last one.
  bool start_token = true;
};

[[nodiscard]] Result<ModelSpec> translate_bart_form(const ModelSource& source, const BartForm& form);

}  // namespace headroom
