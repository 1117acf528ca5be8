#include "core/model/family.h"

#include <nlohmann/json.hpp>
#include <string>

namespace headroom {
namespace {

Result<const Family*> family_of(const nlohmann::json& config) {
  const auto type = config.find("model_type");
  const std::string model_type = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  std::string known;
  for (const Family* family : families()) {
    known += (known.empty() ? "" : ", ") + std::string(family->model_type);
    if (family->model_type == model_type) return family;
  }
  Error error(ErrorCode::Unsupported, model_type.empty() ? "config.json has no model_type"
                                                         : "no head view for model_type '" + model_type + "'");
  return error.wanted("one of " + known, model_type);
}

Result<ModelSpec> translate(const ModelSource& source) {
  HEADROOM_TRY(const Family* family, family_of(source.config()));
  return family->translate(source);
}

}  // namespace

Result<ModelSpec> describe_model(const ModelSource& source) {
  auto model = translate(source);
  if (!model) {
    model.error().in_file(source.checkpoint().config_path().string());
    return model;
  }
  HEADROOM_TRY_VOID(source.check_weights(*model, model->warnings));
  return model;
}

Result<ModelSpec> design_model(const nlohmann::json& config) { return translate(ModelSource::design(config)); }

}  // namespace headroom
