#include "core/compute/premise.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/numbers.h"
#include "core/compute/blocked_head.h"
#include "core/compute/blocked_task.h"
#include "core/compute/layer_heads.h"
#include "core/measure/hull_distance.h"

namespace headroom {
namespace {

at::Tensor draw_signs(std::int64_t keys, at::ScalarType type) {
  at::Tensor signs = at::empty({keys, PremiseRecord::kDraws}, at::TensorOptions().dtype(at::kFloat));
  float* data = signs.mutable_data_ptr<float>();
  at::parallel_for(0, keys, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t key = begin; key < end; ++key)
      for (std::int64_t draw = 0; draw < PremiseRecord::kDraws; ++draw)
        data[key * PremiseRecord::kDraws + draw] = static_cast<float>(random_sign(draw, key));
  });
  return signs.to(type);
}

// √ of the mean over channels of x², in double.
at::Tensor rms_of(const at::Tensor& x) { return x.to(at::kDouble).square().mean(-1).sqrt(); }

void append(std::vector<double>& to, const at::Tensor& values) {
  const std::vector<double> more = to_vector(values);
  to.insert(to.end(), more.begin(), more.end());
}

// Of all values of a head, [keys, channels] in double.
void describe_values(const at::Tensor& values, PremiseRecord& record) {
  const auto n = static_cast<double>(values.size(0));
  const at::Tensor squares = values.square().sum(1);
  const double total = squares.sum().item<double>(), common = values.sum(0).square().sum().item<double>();
  if (n > 1.0) record.correlation = (common - total) / ((n - 1.0) * total);
  record.effective_rank = total * total / at::mm(values.t(), values).square().sum().item<double>();
  const at::Tensor sizes = squares.masked_select(at::gt(squares, 0.0)).log().mul(0.5);
  if (sizes.numel() > 0) record.size_spread = sizes.std(false).item<double>();
}

// Σ_i RMS²(Σ_j w_ij ε_j v_j) / Σ_i q_i² of every draw, and with all signs 1: εᵀMε with M_jk = Σ_i w_ij w_ik v_j·v_k.
// False when stopped.
bool draw_coherence(const at::Tensor& weights, const at::Tensor& values, const at::Tensor& signs,
                    const kernels::StopRequested& stop, double& coherence, std::vector<double>& drawn) {
  const std::int64_t keys = values.size(0), block = std::clamp<std::int64_t>((1 << 22) / keys, 1, keys);
  const double expected =
      at::mm(weights.square(), values.square().sum(1, true)).sum(at::kDouble).item<double>();  // Σ_i q_i² · channels
  coherence = at::mm(weights, values).square().sum(at::kDouble).item<double>() / expected;
  at::Tensor sums = at::zeros({signs.size(1)}, at::kDouble);
  for (std::int64_t key = 0; key < keys; key += block) {
    if (stop && stop()) return false;
    const std::int64_t count = std::min(block, keys - key);
    const at::Tensor some =
        at::mm(weights.narrow(1, key, count).t(), weights).mul_(at::mm(values.narrow(0, key, count), values.t()));
    sums += at::mm(some, signs).mul_(signs.narrow(0, key, count)).sum(0, false, at::kDouble);
  }
  drawn = to_vector(sums / expected);
  return true;
}

// RMS of the contexts with the signs of the first draws, [rows, draws].
std::vector<double> draw_rows(const at::Tensor& weights, const at::Tensor& values, const at::Tensor& signs) {
  const std::int64_t keys = values.size(0), channels = values.size(1);
  const std::int64_t at_once = std::clamp<std::int64_t>((1 << 22) / (keys * channels), 1, PremiseRecord::kRowDraws);
  std::vector<at::Tensor> parts;
  for (std::int64_t draw = 0; draw < PremiseRecord::kRowDraws; draw += at_once) {
    const std::int64_t count = std::min(at_once, PremiseRecord::kRowDraws - draw);
    const at::Tensor turned = (signs.narrow(1, draw, count).unsqueeze(2) * values.unsqueeze(1)).flatten(1);
    parts.push_back(rms_of(at::mm(weights, turned).unflatten(1, {count, channels})));
  }
  return to_vector(at::cat(parts, 1));
}

}  // namespace

// Strips of rows, all of what a row needs in one.
template <typename Real>
struct PremiseMeasure<Real>::Pass {
  const kernels::HeadProblem<Real>& problem;
  const After& after;
  PremiseRecord& record;
  BlockedHead<Real> head;
  at::TensorOptions options;
  at::Tensor values, mean, mean_square, metric;
  std::vector<at::Tensor> sampled_weights;  // [rows, keys] each

  Pass(const kernels::HeadProblem<Real>& given, const After& behind, PremiseRecord& out, at::Device device)
      : problem(given),
        after(behind),
        record(out),
        head(given, at::arange(given.mask.longer(), at::TensorOptions().device(device).dtype(at::kInt))),
        options(at::TensorOptions().device(device).dtype(c10::CppTypeToScalarType<Real>::value)) {
    const typename BlockedHead<Real>::Map& map = head.map(given.maps[0].present() ? 0 : 1);
    values = map.value.contiguous();
    mean = values.mean(0, true, at::kDouble);
    mean_square = values.to(at::kDouble).square().mean(1, true);
    if (given.maps[0].present() && given.maps[1].present() && after.output.defined()) {
      at::Tensor output = after.output.to(device, at::kDouble);
      if (after.norm.defined()) output = output * after.norm.to(device, at::kDouble);
      metric = at::mm(output.t(), output);
    }
  }

  // False where a row has no softmax.
  [[nodiscard]] bool add(const Strip& strip) {
    const MaskTensor::Tile mask = head.mask(strip);
    at::Tensor net = at::zeros({strip.rows, strip.count()}, options);
    const at::Tensor seen = values.narrow(0, strip.keys.begin, strip.count());
    std::array<at::Tensor, 2> contexts;
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem.maps[m].present()) continue;
      at::Tensor shifted = at::empty_like(net), weights = at::empty_like(net);
      const RowNorms norms = head.weigh(m, strip, mask, shifted, shifted, weights);
      if (norms.undefined.defined() && norms.undefined.any().template item<bool>()) return false;
      contexts[m] = at::mm(weights, seen);
      net += m == 0 ? weights : weights * head.lambda().narrow(0, strip.row, strip.rows).neg();
    }
    const at::Tensor context = at::mm(net, seen).to(at::kDouble);
    const at::Tensor visible = mask.hidden.defined() ? mask.hidden.logical_not().to(at::kDouble)
                                                     : at::ones(net.sizes(), options.dtype(at::kDouble));
    const at::Tensor counts = visible.sum(1, true);
    const at::Tensor uniform = at::mm(visible, seen.to(at::kDouble)) / counts;
    append(record.uniform_rms, rms_of(uniform));
    append(record.centred_rms, rms_of(context - net.sum(1, true, at::kDouble) * mean));
    const at::Tensor squares = at::mm(visible, mean_square.narrow(0, strip.keys.begin, strip.count())) / counts;
    append(record.centred_value_rms,
           (squares + (mean - 2.0 * uniform).mul(mean).mean(1, true)).clamp_min(0.0).sqrt().squeeze(1));
    if (after.gate.defined())
      append(record.gated_rms, rms_of(context * after.gate.narrow(0, strip.row, strip.rows).to(at::kDouble)));
    if (metric.defined()) {
      const at::Tensor first = contexts[0].to(at::kDouble), second = contexts[1].to(at::kDouble);
      const auto product = [&](const at::Tensor& a, const at::Tensor& b) { return (at::mm(a, metric) * b).sum(1); };
      append(record.output_cosine, product(first, second) / (product(first, first) * product(second, second)).sqrt());
    }
    std::vector<std::int64_t> here;
    for (const std::int64_t row : record.rows)
      if (row >= strip.row && row < strip.row + strip.rows) here.push_back(row - strip.row);
    if (here.empty()) return true;
    at::Tensor rows = at::zeros({static_cast<std::int64_t>(here.size()), problem.mask.keys()}, options);
    rows.narrow(1, strip.keys.begin, strip.count())
        .copy_(net.index_select(0, at::tensor(here, at::kLong).to(net.device())));
    sampled_weights.push_back(rows.cpu());
    return true;
  }

  // A strip of rows that see nothing.
  void add_nothing(std::int64_t rows) {
    std::vector<std::vector<double>*> all = {&record.uniform_rms, &record.centred_rms, &record.centred_value_rms};
    if (after.gate.defined()) all.push_back(&record.gated_rms);
    if (metric.defined()) all.push_back(&record.output_cosine);
    for (std::vector<double>* array : all) array->insert(array->end(), static_cast<std::size_t>(rows), kNaN);
  }
};

template <typename Real>
bool PremiseMeasure<Real>::measure(const kernels::HeadProblem<Real>& problem, const After& after,
                                   const kernels::StopRequested& stop, std::shared_ptr<const PremiseRecord>& record) {
  const c10::InferenceMode no_gradients;
  record = nullptr;
  const kernels::Mask& mask = problem.mask;
  const auto& maps = problem.maps;
  if (maps[0].present() && maps[1].present() &&
      (maps[0].value != maps[1].value || maps[0].value_stride != maps[1].value_stride))
    return true;
  auto result = std::make_shared<PremiseRecord>();
  std::int64_t most = 0;
  for (std::int64_t row = 0; row < mask.length; ++row) most = std::max(most, mask.visible(row));
  std::vector<std::int64_t> eligible;
  for (std::int64_t row = 0; row < mask.length; ++row)
    if (mask.visible(row) > 0 && mask.visible(row) >= std::min(min_row_, most)) eligible.push_back(row);
  if (eligible.empty()) return true;
  for (const std::int64_t k : evenly(static_cast<std::int64_t>(eligible.size()), PremiseRecord::kRows))
    result->rows.push_back(eligible[static_cast<std::size_t>(k)]);

  Pass pass(problem, after, *result, device_);
  for (std::size_t m = 0; m < 2; ++m)
    if (pass.head.map(m).odd_channels.defined() || !pass.head.lambda_is_finite()) return true;
  const std::int64_t step = rows_per_strip(mask.keys(), device_);
  for (std::int64_t row = 0; row < mask.length; row += step) {
    if (stop && stop()) return false;
    const Strip strip = pass.head.strip(row, std::min(step, mask.length - row));
    if (strip.count() == 0) {
      pass.add_nothing(strip.rows);
      continue;
    }
    if (!pass.add(strip)) return true;
  }

  // The rest is of few rows: on the processor.
  const at::Tensor values = pass.values.cpu(), weights = at::cat(pass.sampled_weights, 0);
  describe_values(values.to(at::kDouble), *result);
  if (!signs_.defined() || signs_.size(0) != mask.keys()) signs_ = draw_signs(mask.keys(), values.scalar_type());
  for (std::size_t centring = 0; centring < 2; ++centring) {
    const at::Tensor taken = centring == 0 ? values : values - pass.mean.cpu().to(values.scalar_type());
    if (!draw_coherence(weights, taken, signs_, stop, result->coherence[centring], result->sign_coherence[centring]))
      return false;
  }
  result->sign_rms = draw_rows(weights, values, signs_);
  if (stop && stop()) return false;

  const std::vector<std::int64_t> chosen =
      evenly(static_cast<std::int64_t>(result->rows.size()), PremiseRecord::kHullRows);
  for (const std::int64_t k : chosen) result->hull_rows.push_back(result->rows[static_cast<std::size_t>(k)]);
  result->hull.assign(chosen.size(), kNaN);
  // Heads of a group have the same values, and mostly see alike.
  const bool alike = mask.hidden_keys.empty() && !mask.dense;
  const std::int64_t channels = values.size(1);
  const std::vector<double> all = to_vector(values);
  const Real* const key = maps[maps[0].present() ? 0 : 1].value;
  at::parallel_for(0, static_cast<std::int64_t>(chosen.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t row = result->hull_rows[static_cast<std::size_t>(k)];
      double& distance = result->hull[static_cast<std::size_t>(k)];
      const auto known = hulls_.find({key, row});
      if (alike && known != hulls_.end()) {
        distance = known->second;
        continue;
      }
      std::vector<double> points;
      for (std::int64_t j = 0; j < mask.keys(); ++j)
        if (mask.sees(row, j))
          points.insert(points.end(), all.begin() + j * channels, all.begin() + (j + 1) * channels);
      distance = hull_distance(points, channels) / std::sqrt(static_cast<double>(channels));
    }
  });
  if (alike)
    for (std::size_t k = 0; k < chosen.size(); ++k) hulls_[{key, result->hull_rows[k]}] = result->hull[k];
  record = std::move(result);
  return true;
}

template class PremiseMeasure<float>;
template class PremiseMeasure<double>;

}  // namespace headroom
