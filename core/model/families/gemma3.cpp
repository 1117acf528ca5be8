// Gemma 3 4B to 27B: gemma3_text beside an encoder of images (core/model/ARCHITECTURES.md#text-config).
#include "core/model/family.h"
#include "core/model/text_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_gemma3_with_images(const ModelSource& source) {
  return translate_text_config(source, "gemma3_text");
}

}  // namespace

extern constinit const Family kFamily_gemma3{"gemma3", "Gemma 3 with images: gemma3_text of it",
                                             translate_gemma3_with_images};

}  // namespace headroom
