// The rows of one head as the head panel plots them: visible keys, context RMS and its bounds, the decomposition, and
// medians of these over n_i. Computed from a layer of the run; immutable afterwards; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/figures/head_bounds.h"
#include "app/plot/quantiles.h"
#include "core/run/run_snapshot.h"

namespace headroom {

struct HeadSeries {
  bool kept = false;              // false: the run kept no rows of this layer
  bool pair = false, v1 = false;  // two maps; one λ for the layer and a norm
  std::int64_t length = 0, min_row = 0;
  std::vector<double> visible;      // n_i, per row
  bool by_position = false;         // plots go over the rows' positions: row_axis.h
  std::vector<double> place;        // where a row stands along the plots' axis
  std::vector<std::uint8_t> faint;  // rows that do not count: n_i < min(min_row, max n_i)
  std::span<const float> rho, rms, weight_l2, value_rms, uncorrelated, lambda, gain, gate, implicit;  // empty: none
  std::array<RowIntervals, kRmsTabs> intervals;  // by RmsTab; without rows where none are kept
  // log ρ = log e + log r̃ + ½ log κ per row, natural logs, r̃ = q/(e·r̄), κ = RMS²/q².
  std::vector<double> log_rho, log_e, log_r, half_log_kappa;
  std::vector<RowBin> rho_bins, e_bins, r_bins, kappa_bins;
  // Differential heads: cancellation per row, and its bins.
  std::vector<double> weight_cancellation, energy_cancellation, output_cancellation;
  std::vector<RowBin> weight_bins, energy_bins, output_bins;
  // The queries with the largest logits, largest first, with their keys where the maps are kept (else −1).
  struct Outlier {
    std::int64_t query = 0, key = -1;
    int component = 0;
    double logit = 0.0;
  };
  std::vector<Outlier> outliers;
  // V1: ε of its norm, from gain and RMS of the quietest row; RMS before and after it.
  double norm_epsilon = 1e-5;
  std::vector<double> after_norm;
  std::vector<RowBin> before_bins, after_bins;

  [[nodiscard]] std::size_t rows() const { return visible.size(); }
  // Mean over the rows that count; NaN where there is none, and where one is not finite, as in the run file.
  [[nodiscard]] double mean(std::span<const float> values) const;
  [[nodiscard]] double mean(std::span<const double> values) const;
};

// The first or second map's part of a series of both, [2, rows]; empty where there is no such series.
[[nodiscard]] inline std::span<const float> map_part(std::span<const float> values, std::size_t map, std::size_t rows) {
  return values.size() == 2 * rows ? values.subspan(map * rows, rows) : std::span<const float>();
}

// log ρ = log e + log r̃ + ½ log κ of each row, natural logs: e = ‖w‖₂, r̃ = q/(e·r̄), κ = RMS²/q². NaN where one of
// them is 0 or not finite. Empty unless all four are of the same rows.
struct LogTerms {
  std::vector<double> rho, e, r, half_kappa;
};
[[nodiscard]] LogTerms log_terms(std::span<const float> rms, std::span<const float> weight_l2,
                                 std::span<const float> uncorrelated, std::span<const float> value_rms);

// `layer` outlives the result, which borrows its series.
[[nodiscard]] HeadSeries make_head_series(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head);

}  // namespace headroom
