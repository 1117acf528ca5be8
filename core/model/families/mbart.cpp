// MBart (Liu et al. 2020, arXiv 2001.08210; core/model/ARCHITECTURES.md#encoder-decoders): BART with norms before the
// branches and behind the stacks.
#include "core/model/bart_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_mbart(const ModelSource& source) {
  return translate_bart_form(source, {.norms_before = true, .start_token = false});
}

}  // namespace

extern constinit const Family kFamily_mbart{"mbart", "MBart: BART with norms before the branches", translate_mbart};

}  // namespace headroom
