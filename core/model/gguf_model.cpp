#include "core/model/gguf_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/edit_distance.h"
#include "core/base/format.h"
#include "core/model/family.h"
#include "core/model/gguf_config.h"
#include "core/model/gguf_tensors.h"

namespace headroom {
namespace {

bool is_named(const GgufNames& names, std::string_view architecture) {
  return !architecture.empty() && std::ranges::find(names.architectures, architecture) != names.architectures.end();
}

// Of families that share an architecture, one whose key the file has.
Result<const Family*> family_of_gguf(const Checkpoint& checkpoint, const std::string& architecture) {
  const GgufMetadata metadata{checkpoint, architecture};
  const Family* found = nullptr;
  std::string_view nearest;
  std::size_t known = 0;
  for (const Family* family : families()) {
    if (!family->gguf) continue;
    for (const std::string_view name : family->gguf->architectures) {
      if (name.empty()) continue;
      ++known;
      if (nearest.empty() || edit_distance(architecture, name) < edit_distance(architecture, nearest)) nearest = name;
    }
    if (!is_named(*family->gguf, architecture)) continue;
    const std::string_view only = family->gguf->only_with;
    const std::int64_t value = family->gguf->only_value;
    if (only.empty() ? !found : metadata.says(only) && (value == 0 || metadata.integer(only) == value)) found = family;
  }
  if (found) return found;
  Error error(ErrorCode::Unsupported, "no head view for GGUF architecture '" + architecture + "'");
  error.in_file(checkpoint.path().string());
  error.wanted(format("one of %zu, such as ", known) + std::string(nearest), architecture);
  return error.advise("headroom families lists them");
}

}  // namespace

Result<GgufModel> translate_gguf(const Checkpoint& checkpoint) {
  const nlohmann::json& metadata = checkpoint.metadata();
  if (!metadata.contains("general.architecture") || !metadata["general.architecture"].is_string())
    return missing_gguf_key(checkpoint, "general.architecture");
  const std::string architecture = metadata["general.architecture"];
  HEADROOM_TRY(const Family* family, family_of_gguf(checkpoint, architecture));
  const GgufNames& names = *family->gguf;
  GgufModel model;
  HEADROOM_TRY(model.config, gguf_config({checkpoint, architecture}, names));
  model.config["model_type"] = std::string(family->model_type);
  model.tensors = gguf_tensors({checkpoint, architecture}, names);
  model.notes.norm_offset = names.norm_offset;
  if (!names.warning.empty()) model.notes.warnings.emplace_back(names.warning);
  return model;
}

}  // namespace headroom
