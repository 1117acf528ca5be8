// Gemma 3n E2B and E4B: gemma3n_text beside encoders of images and sounds (core/model/ARCHITECTURES.md#text-config).
#include "core/model/family.h"
#include "core/model/text_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_gemma3n(const ModelSource& source) { return translate_text_config(source, "gemma3n_text"); }

}  // namespace

extern constinit const Family kFamily_gemma3n{"gemma3n", "Gemma 3n with images and sounds: gemma3n_text of it",
                                              translate_gemma3n};

}  // namespace headroom
