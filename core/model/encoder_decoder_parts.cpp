#include "core/model/encoder_decoder_parts.h"

#include <algorithm>

namespace headroom {
namespace {

constexpr const char* kSharedNames[] = {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"};

}  // namespace

std::string shared_embedding(const ModelSource& source, const std::string& prefix) {
  for (const char* name : kSharedNames)
    if (source.find(prefix + name)) return prefix + name;
  return prefix + kSharedNames[0];
}

std::string shared_prefix(const ModelSource& source, const std::string& prefix) {
  const bool there =
      std::ranges::any_of(kSharedNames, [&](const char* name) { return source.find(prefix + name) != nullptr; });
  return there ? prefix : "";
}

void set_shared_aside(ModelSpec& model, const std::string& prefix) {
  for (const char* name : kSharedNames)
    if (prefix + name != model.embedding.tensor && prefix + name != model.encoder->embedding.tensor)
      model.set_aside.push_back(prefix + name);
}

void use_encoder(AttentionSpec& attention) {
  attention.causal = false;
  attention.cross = true;
}

}  // namespace headroom
