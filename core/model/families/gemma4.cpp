// Gemma 4: gemma4_text beside encoders of images and sounds (core/model/ARCHITECTURES.md#text-config).
#include "core/model/family.h"
#include "core/model/text_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_gemma4(const ModelSource& source) { return translate_text_config(source, "gemma4_text"); }

}  // namespace

extern constinit const Family kFamily_gemma4{"gemma4", "Gemma 4 with images and sounds: gemma4_text of it",
                                             translate_gemma4};

}  // namespace headroom
