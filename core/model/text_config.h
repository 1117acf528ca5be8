// The decoder inside a model of text and images or sounds: `text_config`, and tensors below "language_model". Pure
// functions; safe from any thread.
#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/model/model_source.h"
#include "core/model/model_spec.h"

namespace headroom {

// What text_config's own family makes of it, `model_type` where it does not say which. The encoders of the rest are set
// aside. A config without text_config is the decoder's own.
[[nodiscard]] Result<ModelSpec> translate_text_config(const ModelSource& source, std::string_view model_type);

}  // namespace headroom
