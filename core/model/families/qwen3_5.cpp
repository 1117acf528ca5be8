// Qwen 3.5: the text model that text_config describes (core/model/ARCHITECTURES.md#qwen3-next).
#include "core/model/family.h"
#include "core/model/qwen_hybrid_parts.h"

namespace headroom {

extern constinit const Family kFamily_qwen3_5{
    "qwen3_5", "Qwen 3.5: gated delta nets, gated attention; its text model",
    [](const ModelSource& source) { return translate_qwen3_5(source, "text_config"); }};

}  // namespace headroom
