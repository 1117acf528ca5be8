// T5, Flan-T5 (Raffel et al. 2020, arXiv 1910.10683; core/model/ARCHITECTURES.md#encoder-decoders).
#include "core/model/family.h"
#include "core/model/t5_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_t5(const ModelSource& source) {
  return translate_t5_form(source, {.feed_forward = "relu", .scales_logits = true});
}

}  // namespace

extern constinit const Family kFamily_t5{"t5", "T5, Flan-T5: encoder and decoder, biases by distance", translate_t5};

}  // namespace headroom
