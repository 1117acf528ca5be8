// Qwen 3.5, the text model alone (core/model/ARCHITECTURES.md#qwen3-next).
#include "core/model/family.h"
#include "core/model/qwen_hybrid_parts.h"

namespace headroom {

extern constinit const Family kFamily_qwen3_5_text{
    "qwen3_5_text", "Qwen 3.5, text: gated delta nets, gated attention",
    [](const ModelSource& source) { return translate_qwen3_5(source, {}); }};

}  // namespace headroom
