#include "core/compute/training/head_gradients.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/compute/training/trainable_model.h"

namespace headroom {
namespace {

// g of each head, of contexts [1, length, heads · channels] and their gradients.
std::vector<double> products_of_heads(const at::Tensor& contexts, std::int64_t heads) {
  const at::Tensor products = contexts.detach().to(at::kDouble) * contexts.grad().to(at::kDouble);
  const at::Tensor sums = products.unflatten(-1, {heads, -1}).sum(at::IntArrayRef({0, 1, 3})).to(at::kCPU).contiguous();
  const double* const from = sums.const_data_ptr<double>();
  return {from, from + heads};
}

HeadGradients gradients_of(const TrainableModel& model, std::span<const std::int32_t> ids) {
  const at::Tensor tokens = at::tensor(at::ArrayRef<std::int32_t>(ids.data(), ids.size()), at::kInt)
                                .to(model.target().device, at::kLong)
                                .unsqueeze(0);
  const std::int64_t predictions = tokens.size(1) - 1;
  std::vector<at::Tensor> contexts;
  const at::Tensor logits = model.logits_by_heads(tokens, contexts);
  const at::Tensor loss = at::cross_entropy_loss(logits.select(0, 0).narrow(0, 0, predictions),
                                                 tokens.select(0, 0).narrow(0, 1, predictions));
  loss.backward();
  HeadGradients gradients;
  gradients.loss = loss.item<double>();
  for (std::size_t layer = 0; layer < contexts.size(); ++layer)
    gradients.by_layer.push_back(
        products_of_heads(contexts[layer], std::ssize(model.spec().blocks[layer].attention.heads)));
  return gradients;
}

}  // namespace

Result<void> measure_gradients(const ModelSource& source, const ModelSpec& model, const ForwardOptions& options,
                               std::span<const std::vector<std::int32_t>> sequences, const TorchTarget& target,
                               const GradientReport& report, const kernels::StopRequested& stop) {
  HEADROOM_TRY_VOID(check_gradients(model));
  if (options.dtype == ComputeDtype::BFloat16)
    return Error(ErrorCode::Unsupported, "gradients are not computed in 16 bits")
        .wanted("float32 or float64", dtype_name(options.dtype));
  if (!model.lm_head.weight.present() || !model.causal())
    return Error(ErrorCode::InvalidArgument, "the model predicts no next token: no loss that has a gradient");
  if (sequences.empty()) return {};
  std::size_t longest = 0;
  for (const std::vector<std::int32_t>& ids : sequences) {
    if (ids.size() < 2) return Error(ErrorCode::InvalidArgument, "the loss of a next token needs at least two tokens");
    longest = std::max(longest, ids.size());
  }
  const WeightLoader loader(source, target);
  HEADROOM_TRY(const TrainableModel with_gradients,
               TrainableModel::create(model, loader, static_cast<std::int64_t>(longest)));
  const c10::AutoGradMode mode(true);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (stop && stop()) return Error(ErrorCode::Cancelled, "cancelled");
    HEADROOM_TRY_VOID(report(i, gradients_of(with_gradients, sequences[i])));
  }
  return {};
}

}  // namespace headroom
