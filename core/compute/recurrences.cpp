// The recurrences along the tokens of mixers without maps.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/compute/mixer.h"
#include "core/compute/parallel.h"

namespace headroom {
namespace {

constexpr double kLaterToken = -std::numeric_limits<double>::infinity();
constexpr std::int64_t kScanChannels = 64;  // of a task

template <typename Real>
struct Scan {
  std::int64_t rows, channels, state;
  const Real *u, *delta, *decay, *b, *c, *skip;
  Real *memory, *y;

  void run(std::int64_t begin, std::int64_t end) const {
    for (std::int64_t t = 0; t < rows; ++t) {
      const Real *into = b + t * state, *out = c + t * state;
      for (std::int64_t channel = begin; channel < end; ++channel) {
        const std::int64_t at = t * channels + channel;
        const Real step = delta[at], given = step * u[at];
        const Real* forgets = decay + channel * state;
        Real* s = memory + channel * state;
        Real sum = 0;
        for (std::int64_t i = 0; i < state; ++i) {
          s[i] = std::exp(step * forgets[i]) * s[i] + given * into[i];
          sum += s[i] * out[i];
        }
        y[at] = sum + skip[channel] * u[at];
      }
    }
  }
};

}  // namespace

// Some tokens together (Yang et al. 2024, arXiv 2406.06484, section 3): with G_t = Σ ln γ up to t and S from before,
//   u_t = β_t (v_t − e^{G_t} Sᵀk_t − Σ_{s<t} e^{G_t − G_s} (k_s·k_t) u_s)     a triangular system
//   o_t = e^{G_t} Sᵀq_t + Σ_{s≤t} e^{G_t − G_s} (k_s·q_t) u_s
//   S   ← e^{G} S + Σ_s k_s ⊗ e^{G − G_s} u_s
at::Tensor run_delta_rule(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& log_decay,
                          const at::Tensor& beta, at::Tensor& state) {
  at::Tensor answers = at::empty_like(v);
  for (std::int64_t row = 0; row < q.size(1); row += kDeltaChunk) {
    const std::int64_t rows = std::min(kDeltaChunk, q.size(1) - row);
    const at::Tensor keys = k.narrow(1, row, rows), queries = q.narrow(1, row, rows);
    const at::Tensor sum = log_decay.narrow(1, row, rows).cumsum(1).unsqueeze(-1);  // G [heads, rows, 1]
    const at::Tensor strength = beta.narrow(1, row, rows).unsqueeze(-1);
    // e^{G_t − G_s} for s ≤ t; what is later is hidden before it could overflow.
    const at::Tensor later = at::ones({rows, rows}, q.options().dtype(at::kBool)).triu(1);
    const at::Tensor decay = (sum - sum.transpose(1, 2)).masked_fill(later, kLaterToken).exp();
    const at::Tensor since = sum.exp();
    const at::Tensor system = at::bmm(keys, keys.transpose(1, 2)).mul_(decay).mul_(strength);
    const at::Tensor wanted = (v.narrow(1, row, rows) - at::bmm(keys * since, state)) * strength;
    const at::Tensor updates = at::linalg_solve_triangular(system, wanted, false, true, true);
    answers.narrow(1, row, rows)
        .copy_(at::bmm(queries * since, state) + at::bmm(at::bmm(queries, keys.transpose(1, 2)).mul_(decay), updates));
    const at::Tensor last = sum.narrow(1, rows - 1, 1);
    state = state * last.exp() + at::bmm((keys * (last - sum).exp()).transpose(1, 2), updates);
  }
  return answers;
}

at::Tensor run_selective_scan(const at::Tensor& u, const at::Tensor& delta, const at::Tensor& decay,
                              const at::Tensor& b, const at::Tensor& c, const at::Tensor& skip, at::Tensor& state) {
  at::Tensor y = at::empty_like(u);
  const auto scan_as = [&]<typename Real>(Real) {
    const Scan<Real> scan{u.size(0),
                          u.size(1),
                          decay.size(1),
                          u.const_data_ptr<Real>(),
                          delta.const_data_ptr<Real>(),
                          decay.const_data_ptr<Real>(),
                          b.const_data_ptr<Real>(),
                          c.const_data_ptr<Real>(),
                          skip.const_data_ptr<Real>(),
                          state.mutable_data_ptr<Real>(),
                          y.mutable_data_ptr<Real>()};
    run_tasks((scan.channels + kScanChannels - 1) / kScanChannels, [&](std::int64_t task) {
      scan.run(task * kScanChannels, std::min((task + 1) * kScanChannels, scan.channels));
    });
  };
  if (u.scalar_type() == at::kDouble)
    scan_as(double());
  else
    scan_as(float());
  return y;
}

}  // namespace headroom
