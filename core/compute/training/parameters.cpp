#include "core/compute/training/parameters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/check.h"
#include "core/training/random_stream.h"

namespace headroom {
namespace {

constexpr double kLambdaVectorStd = 0.1;  // unilm's multihead_diffattn

bool is_norm(std::string_view account) { return account == "norm" || account == "head_norm" || account == "qk_norm"; }

at::Tensor draw(const WeightRef& weight, std::string_view account, const TrainingSettings& settings, std::uint64_t seed,
                const TorchTarget& target) {
  at::Tensor values = at::empty(weight.stored_shape, at::kDouble);
  double* data = values.mutable_data_ptr<double>();
  double mean = 0.0, deviation = settings.initial_std.value_or(1.0 / std::sqrt(static_cast<double>(weight.columns())));
  if (is_norm(account)) mean = 1.0, deviation = 0.0;
  if (account == "sink") deviation = 0.0;
  if (account == "lambda" && weight.stored_shape.size() == 1) deviation = kLambdaVectorStd;
  RandomStream random(seed, weight.tensor);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    data[i] = mean + deviation * (deviation == 0.0 ? 0.0 : random.normal());
  return values.to(target.device, target.dtype);
}

}  // namespace

Parameters Parameters::create(const ModelSpec& model, const TrainingSettings& settings,
                              std::span<const std::string> frozen, std::span<const float> embedding, std::uint64_t seed,
                              TorchTarget target) {
  Parameters result(target);
  for_each_weight(model, [&](const WeightRef& weight, std::string_view account, std::int64_t) {
    HEADROOM_CHECK(!weight.transposed && weight.row_begin == 0 && weight.row_count < 0 && weight.row_group == 0,
                   "a part of a tensor in training");
    Parameter parameter;
    parameter.name = weight.tensor;
    parameter.account = account;
    if (account == "embedding" && !embedding.empty() && weight.tensor == model.embedding.tensor)
      parameter.value = at::tensor(at::ArrayRef<float>(embedding.data(), embedding.size()), at::kFloat)
                            .view(weight.stored_shape)
                            .to(target.device, target.dtype);
    else
      parameter.value = draw(weight, account, settings, seed, target);
    parameter.trained =
        std::ranges::none_of(frozen, [&](const std::string& name) { return name == weight.tensor || name == account; });
    parameter.value.set_requires_grad(parameter.trained);
    result.parameters_.push_back(std::move(parameter));
  });
  return result;
}

Result<at::Tensor> Parameters::load(const WeightRef& weight) const {
  if (!weight.present()) return at::Tensor();
  const auto found = std::ranges::find(parameters_, weight.tensor, &Parameter::name);
  HEADROOM_CHECK(found != parameters_.end(), "no parameter of this name");
  return found->value;
}

}  // namespace headroom
