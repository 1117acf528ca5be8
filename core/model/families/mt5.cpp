// mT5 (Xue et al. 2021, arXiv 2010.11934; core/model/ARCHITECTURES.md#encoder-decoders): T5 1.1 in many languages.
#include "core/model/family.h"
#include "core/model/t5_parts.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_mt5(const ModelSource& source) {
  return translate_t5_form(source, {.feed_forward = "gated-gelu"});
}

}  // namespace

extern constinit const Family kFamily_mt5{"mt5", "mT5: T5 1.1 in many languages", translate_mt5};

}  // namespace headroom
