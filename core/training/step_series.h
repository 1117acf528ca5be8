// Numbers by step, and the smallest and the largest of any range of them: what a plot of a million steps draws per
// pixel column, so that no spike is lost at any zoom. Immutable once made; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

// Of finite values; low > high: there is none.
struct LowHigh {
  float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();
  [[nodiscard]] bool empty() const { return low > high; }
  void add(float value);
  void add(const LowHigh& other);
};

class StepSeries {
 public:
  StepSeries() = default;
  // Of steps 0, 1, 2 …
  explicit StepSeries(std::vector<float> values);
  // Of these steps, ascending; as many as the shorter list has. From a step that does not ascend on, nothing is kept.
  StepSeries(std::vector<std::int64_t> steps, std::vector<float> values);

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::span<const float> values() const { return values_; }
  [[nodiscard]] std::int64_t step(std::size_t index) const {
    return steps_.empty() ? static_cast<std::int64_t>(index) : steps_[index];
  }
  [[nodiscard]] std::int64_t last_step() const { return empty() ? -1 : step(size() - 1); }
  // The first index whose step is not less.
  [[nodiscard]] std::size_t index_of(std::int64_t step) const;
  // The nearest step that has a value (the earlier of two as near); nothing where the series is empty, or where `step`
  // lies beyond its last step by more than the last two steps are apart.
  [[nodiscard]] std::optional<std::size_t> nearest(std::int64_t step) const;
  // Over indices [begin, end).
  [[nodiscard]] LowHigh range(std::size_t begin, std::size_t end) const;

 private:
  void build();

  std::vector<std::int64_t> steps_;  // empty: 0, 1, 2 …
  std::vector<float> values_;
  std::vector<std::vector<LowHigh>> levels_;  // of 16, 256, 4096 … values each
};

// The mean of the finite values whose steps lie within (width − 1) / 2 of each step, at each step that has a value;
// width ≤ 1: the series as it is. Sums are in double.
[[nodiscard]] StepSeries mean_of_steps(const StepSeries& series, std::int64_t width);
// The largest of each bin of `width` steps, [k · width, (k + 1) · width), at the bin's first step; likewise.
[[nodiscard]] StepSeries largest_of_steps(const StepSeries& series, std::int64_t width);

// Mean of the finite values of the last `steps` steps of the series, its last one included; NaN where there are none.
[[nodiscard]] double mean_at_end(const StepSeries& series, std::int64_t steps);
// The step of the first of `count` values in a row that are above the threshold.
[[nodiscard]] std::optional<std::int64_t> first_above(const StepSeries& series, double threshold, std::size_t count);

}  // namespace headroom
