// The rows of one head as the head panel and the figures plot them: visible keys, context RMS and its bounds, the
// decomposition, and curves of these along the axis of the rows. Computed from a layer of the run; immutable
// afterwards; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/figures/head_bounds.h"
#include "app/figures/row_curve.h"
#include "core/run/run_snapshot.h"

namespace headroom {

inline constexpr std::size_t kTerms = 4;
inline constexpr std::size_t kRhoTerm = 0, kETerm = 1, kRTerm = 2, kKappaTerm = 3;

inline constexpr double kAtCap = 0.99;  // a gain of so much of 1/√ε is at the cap

struct HeadSeries {
  bool kept = false;              // false: the run kept no rows of this layer
  bool pair = false, v1 = false;  // two maps; one λ for the layer and a norm
  std::int64_t length = 0, min_row = 0;
  std::vector<double> visible;      // n_i, per row
  bool by_position = false;         // plots go over the rows' positions: row_axis.h
  std::vector<double> place;        // where a row stands along the plots' axis
  double least = 1.0;               // visible keys from which a row counts: min(min_row, max n_i)
  std::vector<std::uint8_t> faint;  // rows that do not count
  std::span<const float> rho, rms, weight_l2, value_rms, uncorrelated, lambda, gain, gate, implicit;  // empty: none
  std::array<RowIntervals, kRmsTabs> intervals;  // by RmsTab; without rows where none are kept
  // log ρ = log e + log r̃ + ½ log κ per row, natural logs, r̃ = q/(e·r̄), κ = RMS²/q².
  std::vector<double> log_rho, log_e, log_r, half_log_kappa;
  std::array<RowCurve, kTerms> terms;  // along the axis, in this order
  RowCurve relative;                   // ρ itself
  // Differential heads: cancellation per row.
  std::vector<double> weight_cancellation, energy_cancellation, output_cancellation;
  RowCurve weight_curve, energy_curve, output_curve;
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
  RowCurve before_curve, after_curve;
  std::int64_t gains = 0, gains_at_cap = 0;  // of rows that count; within 1 % of 1/√ε

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
