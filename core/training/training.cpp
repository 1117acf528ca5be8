#include "core/training/training.h"

#include <array>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr std::array kStatistics = {
    HeadStatistic{"logit_max", true, "1", "largest scaled, visible logit of the batch"},
    HeadStatistic{"sink_score", true, "1", "mean of a_i0 over sequences and the rows that see key 0"},
    HeadStatistic{"sink_score_net", false, "1", "mean of w_i0 over sequences and the rows that see key 0"},
    HeadStatistic{"sink_score_absolute", false, "1",
                  "mean of abs(w_i0) / Σ_j abs(w_ij) over sequences and the rows that see key 0"},
    HeadStatistic{"context_rms_mean", false, "value units", "mean over rows of RMS(c_i), before norm, gate and W_O"},
    HeadStatistic{"context_rms_relative_mean", false, "1", "mean over rows of RMS(c_i) / r̄_i"},
    HeadStatistic{"weight_l2_mean", false, "1", "mean over rows of ‖w_i‖₂"},
    HeadStatistic{"lambda_mean", false, "1", "mean over rows of λ_i"},
    HeadStatistic{"lambda_std", false, "1", "standard deviation over rows of λ_i, of the population"},
    HeadStatistic{"norm_gain_mean", false, "1", "mean over rows of 1/√(RMS(c_i)² + ε)"},
};

}  // namespace

std::span<const HeadStatistic> training_statistics() { return kStatistics; }

std::string step_folder(std::int64_t step) { return format("step_%06lld", static_cast<long long>(step)); }

}  // namespace headroom
