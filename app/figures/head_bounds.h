// The intervals that the rows of a head are held against, for each quantity that its plot over n_i can show, and the
// shares of the rows below, inside and above (core/measure/QUANTITIES.md#intervals). Pure functions of the run; safe
// from any thread.
//
// The intervals are about the norm e_i = ‖w_i‖₂ of a row's weights, whatever the values are (Cauchy–Schwarz on Σ_j w_ij
// and ⟨a¹, a²⟩ ≥ 0): softmax 1/√n_i ≤ e_i ≤ 1, with a sink that leaves s_i of a row s_i/√n_i ≤ e_i ≤ s_i, a
// differential row |1−λ|/√n_i ≤ e_i < √(1+λ²), for λ < 0 (1+|λ|)/√n_i ≤ e_i ≤ 1+|λ|. They are about ρ only as far as
// the values are uncorrelated and of one size. None is promised for the raw RMS of real values: what always holds is
// 0 ≤ RMS_i ≤ ‖w_i‖₁ · max_j RMS(v_j).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/run_snapshot.h"

namespace headroom {

struct HeadSeries;

enum class RmsTab : std::uint8_t { Relative, Raw, Weights };  // ρ, context RMS, ‖w‖₂
inline constexpr std::size_t kRmsTabs = 3;
[[nodiscard]] RmsTab rms_tab(std::string_view name);  // of HeadPanelState::rms

// One end of an interval: the same number for all rows, a number over √n_i, or a number for each row.
struct RowEnd {
  std::string name;  // beside it in the plot: "1/√nᵢ"; empty: 0, which is not drawn
  double value = std::numeric_limits<double>::quiet_NaN();
  bool over_root = false;
  std::vector<double> rows{};  // NaN where a part of it is not kept

  [[nodiscard]] bool drawn() const { return !name.empty(); }
  [[nodiscard]] bool per_row() const { return !rows.empty(); }
  [[nodiscard]] double at(std::size_t row, double visible) const;
};

// Shares of the rows that count and have a finite value; NaN where there is none, or where the run does not say.
struct RowShares {
  double below = std::numeric_limits<double>::quiet_NaN(), inside = below, above = below;
};

struct RowInterval {
  std::string name;  // "softmax", "DIFF V2", "own", …
  std::string text;  // "[1/√nᵢ, 1)"
  std::string tip;   // one sentence on what it says
  RowEnd low, high;
  bool own = false;  // the head's own, the sharpest
  RowShares shares{};
};

struct RowIntervals {
  std::vector<RowInterval> all;  // at least one; the own one last
  std::int64_t rows = 0;         // that count: n_i ≥ min(min_row, largest n_i)
  std::int64_t not_finite = 0;   // of these

  [[nodiscard]] const RowInterval& own() const { return all.back(); }
};

// What the intervals of a head are called, without rows and shares.
[[nodiscard]] RowIntervals name_intervals(const HeadProgram& program, RmsTab tab);
// With ends and shares. `series` without rows: the shares that the run's summary holds.
[[nodiscard]] RowIntervals make_intervals(const RunSnapshot& run, const LayerSnapshot& layer, std::int64_t head,
                                          const HeadProgram& program, const HeadSeries& series, RmsTab tab);

}  // namespace headroom
