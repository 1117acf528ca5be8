#include "core/compute/predict.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/compute/parallel.h"
#include "kernels/cpu/next_token.h"

namespace headroom {
namespace {

static_assert(Predictions::kLikeliest == kernels::kLikeliest);
constexpr std::int64_t kRowsOfTask = 4;

void keep(const kernels::NextToken& found, std::int64_t row, Predictions& into) {
  const auto at = static_cast<std::size_t>(row);
  into.log_sum_exp[at] = found.log_sum_exp;
  into.entropy[at] = found.entropy;
  if (at < into.loss.size()) into.loss[at] = found.loss, into.rank[at] = found.rank;
  for (std::size_t k = 0; k < found.token.size(); ++k) {
    into.token[at * found.token.size() + k] = found.token[k];
    into.log_probability[at * found.token.size() + k] = found.log_probability[k];
  }
}

template <typename Real>
void predict_here(const at::Tensor& logits, std::int64_t row, std::span<const std::int32_t> ids, Predictions& into) {
  const at::Tensor values = logits.contiguous();
  const Real* const first = values.const_data_ptr<Real>();
  const std::int64_t rows = values.size(0), vocabulary = values.size(1);
  run_tasks((rows + kRowsOfTask - 1) / kRowsOfTask, [&](std::int64_t task) {
    for (std::int64_t r = task * kRowsOfTask; r < std::min(rows, (task + 1) * kRowsOfTask); ++r) {
      const auto next = static_cast<std::size_t>(row + r + 1);
      const std::span<const Real> of_row(first + r * vocabulary, static_cast<std::size_t>(vocabulary));
      keep(kernels::next_token(of_row, next < ids.size() ? ids[next] : -1), row + r, into);
    }
  });
}

// With LibTorch's operations, so that logits stay where they are. Ids of equal logits come in any order.
void predict_there(const at::Tensor& logits, std::int64_t row, std::span<const std::int32_t> ids, Predictions& into) {
  const std::int64_t rows = logits.size(0), vocabulary = logits.size(1);
  std::vector<std::int64_t> came(static_cast<std::size_t>(rows), 0);
  for (std::size_t r = 0; r < came.size(); ++r)
    if (const auto next = static_cast<std::size_t>(row) + r + 1; next < ids.size()) came[r] = ids[next];
  const at::Tensor next = at::tensor(came, at::kLong).to(logits.device()).unsqueeze(1);
  const std::int64_t likeliest = std::min(vocabulary, Predictions::kLikeliest);
  const auto [top, top_id] = logits.topk(likeliest, 1);
  const at::Tensor above = logits.gt(logits.gather(1, next)).sum(1);
  const at::Tensor exact = logits.to(at::kDouble), lse = at::logsumexp(exact, {1});
  const at::Tensor probability = (exact - lse.unsqueeze(1)).exp();
  const at::Tensor entropy = lse - at::where(probability > 0, probability * exact, 0.0).sum(1);
  const at::Tensor numbers = at::cat({lse.unsqueeze(1), entropy.unsqueeze(1), exact.gather(1, next),
                                      above.to(at::kDouble).unsqueeze(1), top.to(at::kDouble), top_id.to(at::kDouble)},
                                     1)
                                 .to(at::kCPU)
                                 .contiguous();
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* const of = numbers.const_data_ptr<double>() + r * numbers.size(1);
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    kernels::NextToken found{kNan, kNan, kNan, -1, {}, {}};
    found.token.fill(-1);
    found.log_probability.fill(kNan);
    if (std::isfinite(of[0])) {
      found.log_sum_exp = of[0];
      found.entropy = std::max(of[1], 0.0);
      found.loss = of[0] - of[2];
      found.rank = static_cast<std::int32_t>(of[3]) + 1;
      for (std::int64_t k = 0; k < likeliest; ++k) {
        if (!std::isfinite(of[4 + k])) break;
        found.token[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(of[4 + likeliest + k]);
        found.log_probability[static_cast<std::size_t>(k)] = of[4 + k] - of[0];
      }
    }
    keep(found, row + r, into);
  }
}

}  // namespace

Predictions room_for_predictions(std::int64_t rows) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Predictions room;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(rows, 0));
  const std::size_t likely = size * static_cast<std::size_t>(Predictions::kLikeliest);
  room.token.assign(likely, -1);
  room.log_probability.assign(likely, kNan);
  room.log_sum_exp.assign(size, kNan);
  room.entropy.assign(size, kNan);
  room.loss.assign(size > 0 ? size - 1 : 0, kNan);
  room.rank.assign(room.loss.size(), -1);
  return room;
}

void predict_rows(const at::Tensor& logits, std::int64_t row, std::span<const std::int32_t> ids, Predictions& into) {
  into.vocabulary = logits.size(1);
  if (!logits.device().is_cpu())
    predict_there(logits, row, ids, into);
  else if (logits.scalar_type() == at::kDouble)
    predict_here<double>(logits, row, ids, into);
  else
    predict_here<float>(logits.to(at::kFloat), row, ids, into);
}

}  // namespace headroom
