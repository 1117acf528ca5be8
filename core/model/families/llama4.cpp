// Llama 4 Scout and Maverick: llama4_text beside an encoder of images (core/model/ARCHITECTURES.md#text-config).
#include "core/model/family.h"
#include "core/model/text_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_llama4(const ModelSource& source) { return translate_text_config(source, "llama4_text"); }

}  // namespace

extern constinit const Family kFamily_llama4{"llama4", "Llama 4 with images: llama4_text of it", translate_llama4};

}  // namespace headroom
