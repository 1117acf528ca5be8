// T5 and mT5: an encoder and a decoder without positions in the stream, whose logits have a learned bias by distance.
// Pure functions; safe from any thread.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

struct T5Form {
  std::string_view feed_forward;  // where the config does not say it
  bool scales_logits = false;     // by d_model^−½, unless tie_word_embeddings is false
};

[[nodiscard]] Result<ModelSpec> translate_t5_form(const ModelSource& source, const T5Form& form);

}  // namespace headroom
