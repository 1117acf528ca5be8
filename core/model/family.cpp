#include "core/model/family.h"

namespace headroom {

Result<ModelSpec> describe_model(const ModelSource& source) {
  const nlohmann::json& config = source.config();
  const auto type = config.find("model_type");
  const std::string model_type = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  std::string known;
  for (const Family* family : families()) {
    known += (known.empty() ? "" : ", ") + std::string(family->model_type);
    if (family->model_type != model_type) continue;
    auto model = family->translate(source);
    if (!model) {
      model.error().in_file(source.checkpoint().config_path().string());
      return model;
    }
    HEADROOM_TRY_VOID(source.check_weights(*model, model->warnings));
    return model;
  }
  Error error(ErrorCode::Unsupported, model_type.empty() ? "config.json has no model_type"
                                                         : "no head view for model_type '" + model_type + "'");
  error.in_file(source.checkpoint().config_path().string()).wanted("one of " + known, model_type);
  return error;
}

}  // namespace headroom
