#include "core/model/family.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/edit_distance.h"
#include "core/base/format.h"
#include "core/model/capture.h"
#include "core/model/decoder_parts.h"
#include "core/model/family_by_names.h"

namespace headroom {
namespace {

Result<const Family*> family_of(const ModelSource& source) {
  const nlohmann::json& config = source.config();
  const auto type = config.find("model_type");
  std::string model_type = type != config.end() && type->is_string() ? type->get<std::string>() : "";
  if (type == config.end() || type->is_null()) model_type = model_type_by_names(source);
  const Family* nearest = nullptr;
  for (const Family* family : families()) {
    if (family->model_type == model_type) return family;
    if (!nearest || edit_distance(model_type, family->model_type) < edit_distance(model_type, nearest->model_type))
      nearest = family;
  }
  Error error(ErrorCode::Unsupported, model_type.empty() ? "config.json has no model_type"
                                                         : "no head view for model_type '" + model_type + "'");
  const std::string like = model_type.empty() ? "headroom" : std::string(nearest->model_type);
  error.wanted(format("one of %zu, such as ", families().size()) + like, model_type);
  return error.advise("headroom families lists them");
}

// Whether two matrices of one shape hold different numbers, by rows at even steps.
Result<bool> differ(const ModelSource& source, const WeightRef& one, const WeightRef& other) {
  constexpr std::int64_t kRows = 256;
  const std::int64_t rows = one.rows(), step = std::max<std::int64_t>(1, rows / kRows);
  std::vector<float> a(static_cast<std::size_t>(one.columns())), b(a.size());
  for (std::int64_t row = 0; row < rows; row += step) {
    HEADROOM_TRY_VOID(source.read_row(one, row, std::span(a)));
    HEADROOM_TRY_VOID(source.read_row(other, row, std::span(b)));
    if (a != b) return true;
  }
  return false;
}

// Where the config says that embedding and lm_head are one matrix and the file holds two that differ, the file is
// right: as transformers has it since version 5 (modeling_utils.py, tie_weights).
Result<void> untie_what_differs(const ModelSource& source, ModelSpec& model) {
  if (!model.tied || !source.has_weights()) return {};
  const auto stored = std::ranges::find_if(source.tensors(), [](const auto& tensor) {
    return tensor.first == "lm_head.weight" || tensor.first.ends_with(".lm_head.weight");
  });
  if (stored == source.tensors().end()) return {};
  const WeightRef second = matrix(stored->first, model.embedding.rows(), model.embedding.columns());
  const auto differs = differ(source, model.embedding, second);
  if (!differs) return differs.error();
  if (!*differs) return {};
  model.tied = false;
  model.lm_head.weight = second;
  model.warnings.push_back("the config says that embedding and lm_head are one matrix (tied), but " + stored->first +
                           " differs from " + model.embedding.tensor + ": the logits are made with what the file has");
  return {};
}

Result<ModelSpec> translate(const ModelSource& source) {
  HEADROOM_TRY(const Family* family, family_of(source));
  HEADROOM_TRY(ModelSpec model, family->translate(source));
  model.model_type = family->model_type;
  if (model.attention_layers().empty())
    return Error(ErrorCode::Unsupported, "no layer of this model has attention: there is nothing to measure");
  HEADROOM_TRY_VOID(untie_what_differs(source, model));
  const ContainerNotes& notes = source.notes();
  if (notes.norm_offset != 0.0) {
    const auto take_off = [&](NormSpec& norm) {
      if (norm.weight.present()) norm.weight_offset -= notes.norm_offset;
    };
    change_norms(model, take_off);
    for (BlockSpec& block : model.blocks)
      for (NormSpec* norm : {&block.attention.q_norm, &block.attention.k_norm}) take_off(*norm);
  }
  model.warnings.insert(model.warnings.end(), notes.warnings.begin(), notes.warnings.end());
  return model;
}

}  // namespace

Result<ModelSpec> describe_model(const ModelSource& source) {
  if (is_capture(source.checkpoint())) return describe_capture(source.checkpoint(), source.sequence());
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
