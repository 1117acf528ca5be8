#include "core/model/text_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/config_reader.h"
#include "core/model/family.h"

namespace headroom {
namespace {

// How the names of what makes embeddings of images and sounds begin.
constexpr std::string_view kOtherParts[] = {"vision_tower.", "vision_model.", "multi_modal_projector.",
                                            "audio_tower.",  "embed_vision.", "embed_audio."};

}  // namespace

Result<ModelSpec> translate_text_config(const ModelSource& source, std::string_view model_type) {
  ConfigReader config(source.config());
  const bool inside = config.raw("text_config").is_object();
  nlohmann::json text = inside ? config.raw("text_config") : source.config();
  ConfigReader reader(text, inside ? "text_config." : "");
  HEADROOM_TRY(const std::string named, reader.text("model_type", std::string(model_type)));
  const std::string type = inside ? named : std::string(model_type);
  const auto found = std::ranges::find(families(), type, &Family::model_type);
  if (found == families().end()) {
    Error error(ErrorCode::Unsupported, "no head view for a decoder of this kind inside another model");
    return error.at_tensor("text_config.model_type").wanted(model_type, type);
  }
  // One of them says it for both.
  if (inside && !text.contains("tie_word_embeddings") && config.has("tie_word_embeddings"))
    text["tie_word_embeddings"] = config.raw("tie_word_embeddings");
  // What the rest of the config says is of the other parts, unless it changes the decoder.
  std::vector<std::string> of_others;
  if (inside) HEADROOM_TRY_VOID(config.check_unread(false, of_others));
  Result<ModelSpec> model = (*found)->translate(source.with_config(std::move(text)));
  if (!model) {
    if (inside) model.error().tensor = "text_config." + model.error().tensor;
    return model;
  }
  for (const std::string_view part : kOtherParts)
    for (const std::string_view prefix : {"model.", ""})
      model->set_aside.push_back(std::string(prefix) + std::string(part));
  return model;
}

}  // namespace headroom
