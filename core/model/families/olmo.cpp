// OLMo: llama with LayerNorms that have no weights (core/model/ARCHITECTURES.md#olmo).
#include "core/model/family.h"
#include "core/model/llama_parts.h"

namespace headroom {
namespace {

Result<void> change_olmo(ConfigReader& config, const LlamaConfig&, ModelSpec& model) {
  HEADROOM_TRY_VOID(read_clip(config, model));
  change_norms(model, [](NormSpec& norm) {
    norm = {};
    norm.kind = NormKind::Layer;
    norm.epsilon = 1e-5;
  });
  return {};
}

Result<ModelSpec> translate_olmo(const ModelSource& source) {
  return translate_llama_relative(source, {.epsilon_key = "layer_norm_eps"}, change_olmo);
}

constexpr GgufNames kOlmoGguf{.architectures = {"olmo"}, .tensors = kGgufPairs, .keys = kGgufLayerNormKeys};

}  // namespace

extern constinit const Family kFamily_olmo{"olmo", "OLMo: llama with LayerNorm without weights", translate_olmo,
                                           &kOlmoGguf};

}  // namespace headroom
