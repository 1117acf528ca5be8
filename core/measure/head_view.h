// One head's record with what its quantities share: visible keys, eligible rows, ρ, q, e and the bounds of the row.
// What is not finite is NaN in all that depends on it (kernels/attention.h); rows with a finite ρ count in shares.
// Built once per head; immutable; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/measure/layer_record.h"

namespace headroom {

struct RowBounds {
  double low = 0.0;
  double high = 0.0;
  bool high_closed = false;
};

enum class BoundKind { Softmax, DiffV2, Variant };

class HeadView {
 public:
  HeadView(const LayerRecord& layer, const HeadRecord& head, std::int64_t min_row);

  const LayerRecord& layer;
  const HeadRecord& head;
  std::int64_t length;                    // rows
  kernels::Mask mask;                     // of the head
  bool pair = false;                      // two maps
  std::array<bool, 2> has{};              // which maps there are
  std::vector<std::int64_t> visible;      // n_i
  std::vector<std::int64_t> rows_seeing;  // per key; 0 for a hidden key
  std::vector<std::uint8_t> eligible;     // n_i ≥ min(min_row, max n_i)
  std::vector<double> value_rms_mean;     // r̄_i
  std::vector<double> rho;                // RMS_i / r̄_i

  // What a row and as many keys take.
  static constexpr std::int64_t kRowBytes = 2 * sizeof(std::int64_t) + sizeof(std::uint8_t) + 2 * sizeof(double);

  [[nodiscard]] double lambda(std::int64_t row) const;  // 0 without a second map
  // Whether the row counts in shares.
  [[nodiscard]] bool counts(std::int64_t row) const;
  // core/measure/QUANTITIES.md#intervals
  [[nodiscard]] RowBounds bounds(std::int64_t row, BoundKind kind) const;
  // Where a ρ of the row lies: 0 below, 1 inside, 2 above.
  [[nodiscard]] std::size_t side(std::int64_t row, BoundKind kind, double value) const;

  // value(row) over eligible rows that pass `also`; NaN where there is none.
  using RowValue = std::function<double(std::int64_t)>;
  [[nodiscard]] double mean(const RowValue& value) const;
  [[nodiscard]] double mean_if(const RowValue& value, const std::function<bool(std::int64_t)>& also) const;
  [[nodiscard]] std::vector<double> eligible_values(const RowValue& value) const;
};

// Linear interpolation between order statistics (type 7); NaN for no values. Sorts its argument.
[[nodiscard]] std::vector<double> quantiles(std::vector<double> values, const std::vector<double>& at);

}  // namespace headroom
