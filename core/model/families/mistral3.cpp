// Mistral Small 3.1, Ministral 3: mistral or ministral3 beside an encoder of images
// (core/model/ARCHITECTURES.md#text-config).
#include "core/model/family.h"
#include "core/model/text_config.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_mistral3(const ModelSource& source) { return translate_text_config(source, "mistral"); }

}  // namespace

extern constinit const Family kFamily_mistral3{"mistral3", "Mistral 3 with images: ministral3 or mistral of it",
                                               translate_mistral3};

}  // namespace headroom
