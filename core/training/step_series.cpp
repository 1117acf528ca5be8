#include "core/training/step_series.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t kBlock = 16;

}  // namespace

void LowHigh::add(float value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

void LowHigh::add(const LowHigh& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

StepSeries::StepSeries(std::vector<float> values) : values_(std::move(values)) { build(); }

StepSeries::StepSeries(std::vector<std::int64_t> steps, std::vector<float> values)
    : steps_(std::move(steps)), values_(std::move(values)) {
  const std::size_t both = std::min(steps_.size(), values_.size());
  const auto begin = steps_.begin(), end = begin + static_cast<std::ptrdiff_t>(both);
  const auto back = std::adjacent_find(begin, end, [](std::int64_t a, std::int64_t b) { return a >= b; });
  const auto kept = back == end ? both : static_cast<std::size_t>(back - begin) + 1;
  steps_.resize(kept);
  values_.resize(kept);
  if (kept == 0) steps_.clear();
  build();
}

void StepSeries::build() {
  levels_.clear();
  for (std::size_t count = values_.size(); count > kBlock;) {
    std::vector<LowHigh> level((count + kBlock - 1) / kBlock);
    for (std::size_t i = 0; i < count; ++i) {
      if (levels_.empty())
        level[i / kBlock].add(values_[i]);
      else
        level[i / kBlock].add(levels_.back()[i]);
    }
    count = level.size();
    levels_.push_back(std::move(level));
  }
}

std::size_t StepSeries::index_of(std::int64_t step) const {
  if (steps_.empty())
    return static_cast<std::size_t>(std::clamp<std::int64_t>(step, 0, static_cast<std::int64_t>(size())));
  return static_cast<std::size_t>(std::ranges::lower_bound(steps_, step) - steps_.begin());
}

std::optional<std::size_t> StepSeries::nearest(std::int64_t step) const {
  if (empty()) return {};
  const std::size_t after = index_of(step);
  if (after == size()) {
    const std::int64_t apart = size() > 1 ? this->step(size() - 1) - this->step(size() - 2) : 0;
    if (step - last_step() > apart) return {};
    return size() - 1;
  }
  if (after == 0 || this->step(after) - step < step - this->step(after - 1)) return after;
  return after - 1;
}

LowHigh StepSeries::range(std::size_t begin, std::size_t end) const {
  LowHigh result;
  end = std::min(end, size());
  // Loose ends at each level, whole blocks at the next.
  for (std::size_t level = 0; begin < end; ++level) {
    const auto add = [&](std::size_t i) {
      if (level == 0)
        result.add(values_[i]);
      else
        result.add(levels_[level - 1][i]);
    };
    if (level == levels_.size() || end - begin < 2 * kBlock) {
      for (std::size_t i = begin; i < end; ++i) add(i);
      break;
    }
    for (; begin % kBlock != 0; ++begin) add(begin);
    for (; end % kBlock != 0; --end) add(end - 1);
    begin /= kBlock;
    end /= kBlock;
  }
  return result;
}

StepSeries mean_of_steps(const StepSeries& series, std::int64_t width) {
  if (width <= 1 || series.empty()) return series;
  const std::int64_t half = (width - 1) / 2;
  std::vector<std::int64_t> steps(series.size());
  std::vector<float> values(series.size());
  double sum = 0.0;
  std::int64_t count = 0;
  std::size_t begin = 0, end = 0;
  const auto change = [&](std::size_t i, double sign) {
    const float value = series.values()[i];
    if (!std::isfinite(value)) return;
    sum += sign * static_cast<double>(value);
    count += sign > 0.0 ? 1 : -1;
  };
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::int64_t at = series.step(i);
    for (; end < series.size() && series.step(end) <= at + half; ++end) change(end, 1.0);
    for (; series.step(begin) < at - half; ++begin) change(begin, -1.0);
    steps[i] = at;
    values[i] = count > 0 ? static_cast<float>(sum / static_cast<double>(count)) : std::nanf("");
  }
  return {std::move(steps), std::move(values)};
}

StepSeries largest_of_steps(const StepSeries& series, std::int64_t width) {
  if (width <= 1 || series.empty()) return series;
  std::vector<std::int64_t> steps;
  std::vector<float> values;
  for (std::size_t begin = 0; begin < series.size();) {
    const std::int64_t bin = series.step(begin) / width * width;
    const std::size_t end = series.index_of(bin + width);
    const LowHigh range = series.range(begin, end);
    steps.push_back(bin);
    values.push_back(range.empty() ? std::nanf("") : range.high);
    begin = end;
  }
  return {std::move(steps), std::move(values)};
}

double mean_at_end(const StepSeries& series, std::int64_t steps) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::size_t i = series.size(); i > 0 && series.step(i - 1) > series.last_step() - steps; --i)
    if (const float value = series.values()[i - 1]; std::isfinite(value)) {
      sum += static_cast<double>(value);
      ++count;
    }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::int64_t> first_above(const StepSeries& series, double threshold, std::size_t count) {
  std::size_t above = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    above = static_cast<double>(series.values()[i]) > threshold ? above + 1 : 0;
    if (above == count) return series.step(i + 1 - count);
  }
  return {};
}

}  // namespace headroom
