// The self-check of runs that hear weights row by row in place of statistics (ForwardObserver::on_exact_rows): weights
// of a map are not negative, a softmax without a sink sums to 1, the net map is what is left of the first after λ times
// the second. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/measure/self_check.h"
#include "core/model/model_spec.h"

namespace headroom {

class RowCheck {
 public:
  // `tolerance` is the one of the run's dtype.
  explicit RowCheck(double tolerance) : tolerance_(tolerance) {}

  // Rows [row, row + rows) of the first or second map of a head (component 0, 1), or of its net map (−1), [rows, keys].
  // Maps come before the net map of the same rows. Rows that are not finite are counted, not checked: check_head()
  // alone knows whether what they are made of is finite.
  void add(const HeadProgram& program, std::int64_t layer, std::int64_t head, int component, std::int64_t row,
           std::int64_t rows, std::span<const double> weights);
  [[nodiscard]] const SelfCheck& found() const { return check_; }

 private:
  // Of a row of the first map its largest weight and where; of the second the weight there.
  struct MapRow {
    double sum = 0.0, weight = 0.0;
    std::size_t key = 0;
  };
  void compare_sums(std::int64_t layer, std::int64_t head, std::int64_t row, const char* what, double sum,
                    double wanted, double size);

  double tolerance_;
  SelfCheck check_;
  std::array<std::vector<MapRow>, 2> maps_;  // of the rows at hand
};

}  // namespace headroom
