// What numbers of rows do as rows see more keys: means over the rows of a sequence in bins of n_i, the number of
// visible keys. Definitions: core/corpus/CORPUS.md#curves. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/measure/head_view.h"

namespace headroom {

// Bins of n from 1: each n its own while an eighth of an octave is narrower than 1, then eighths of octaves, ⌊8 log₂
// n⌋.
[[nodiscard]] std::int64_t curve_bin(std::int64_t visible);
[[nodiscard]] std::int64_t curve_bins(std::int64_t length);  // that rows which see up to `length` keys are in
struct CurveBin {
  std::int64_t first = 0, last = 0;  // n in it
};
[[nodiscard]] CurveBin curve_bin_range(std::int64_t bin);

struct CurveQuantity {
  std::string_view name;  // of /curves/NAME
  bool by_component = false;
  std::string_view units, long_name, formula;
  double (*value)(const HeadView& head, std::size_t map, std::int64_t row) = nullptr;  // NaN: the row has none
};
[[nodiscard]] std::span<const CurveQuantity> curve_quantities();

// Means over the rows of each bin, [components, bins] row-major, as float32; NaN where no row of the bin has the
// number.
void curve_values(const HeadView& head, const CurveQuantity& curve, std::span<float> out);

}  // namespace headroom
