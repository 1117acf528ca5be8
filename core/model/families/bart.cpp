// BART (Lewis et al. 2020, arXiv 1910.13461; core/model/ARCHITECTURES.md#encoder-decoders).
#include "core/model/bart_parts.h"
#include "core/model/family.h"

namespace headroom {
namespace {

Result<ModelSpec> translate_bart(const ModelSource& source) { return translate_bart_form(source, {}); }

}  // namespace

extern constinit const Family kFamily_bart{"bart", "BART: encoder and decoder, norms over the sums", translate_bart};

}  // namespace headroom
