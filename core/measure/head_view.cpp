#include "core/measure/head_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/numbers.h"

namespace headroom {
HeadView::HeadView(const LayerRecord& layer_record, const HeadRecord& head_record, std::int64_t min_row)
    : layer(layer_record), head(head_record), length(layer_record.length), mask(layer_record.mask(head_record)) {
  has = {head.program.has_first(), head.program.has_second()};
  pair = has[0] && has[1];

  const auto size = static_cast<std::size_t>(length), keys = static_cast<std::size_t>(mask.keys());
  visible.resize(size);
  value_rms_mean.resize(size);
  rho.resize(size);
  std::vector<std::int64_t> steps(keys + 1, 0);
  std::vector<double> prefix(keys + 1, 0.0);
  std::vector<std::int64_t> odd(keys + 1, 0);  // values before it that are not finite
  for (std::size_t j = 0; j < keys; ++j) {
    const bool finite = std::isfinite(head.value_mean_square[j]);
    prefix[j + 1] = prefix[j] + (finite ? head.value_mean_square[j] : 0.0);
    odd[j + 1] = odd[j] + (finite ? 0 : 1);
  }
  std::vector<kernels::KeyRange> segments;
  for (std::int64_t i = 0; i < length; ++i) {
    mask.segments(i, segments);
    const auto r = static_cast<std::size_t>(i);
    double squares = 0.0;
    bool finite = true;
    for (const kernels::KeyRange& segment : segments) {
      visible[r] += segment.size();
      const auto begin = static_cast<std::size_t>(segment.begin), end = static_cast<std::size_t>(segment.end);
      squares += prefix[end] - prefix[begin];
      finite = finite && odd[end] == odd[begin];
      ++steps[static_cast<std::size_t>(segment.begin)];
      --steps[static_cast<std::size_t>(segment.end)];
    }
    value_rms_mean[r] = finite && visible[r] > 0 ? std::sqrt(squares / static_cast<double>(visible[r])) : kNaN;
    rho[r] = head.context_rms[r] / value_rms_mean[r];
  }
  rows_seeing.resize(keys);
  std::int64_t seeing = 0;
  for (std::size_t j = 0; j < keys; ++j) rows_seeing[j] = seeing += steps[j];
  // Its own row may see a hidden key, so that the row is not empty: what it receives there says nothing about the key.
  for (const std::int64_t key : mask.hidden_keys)
    if (key < mask.keys()) rows_seeing[static_cast<std::size_t>(key)] = 0;
  const std::int64_t most = length > 0 ? *std::max_element(visible.begin(), visible.end()) : 0;
  eligible.resize(size);
  for (std::size_t i = 0; i < size; ++i) eligible[i] = visible[i] > 0 && visible[i] >= std::min(min_row, most) ? 1 : 0;
}

double HeadView::lambda(std::int64_t row) const {
  return head.lambda.empty() ? 0.0 : head.lambda[static_cast<std::size_t>(row)];
}

bool HeadView::counts(std::int64_t row) const {
  const auto r = static_cast<std::size_t>(row);
  return eligible[r] != 0 && std::isfinite(rho[r]);
}

RowBounds HeadView::bounds(std::int64_t row, BoundKind kind) const {
  const auto r = static_cast<std::size_t>(row);
  const double root = std::sqrt(static_cast<double>(visible[r]));
  const bool single_key = visible[r] == 1;
  if (kind == BoundKind::Softmax) return {1.0 / root, 1.0, single_key};
  if (kind == BoundKind::DiffV2) return {0.0, std::sqrt(2.0), single_key};
  // s¹ and s² are the sums of the maps' rows: 1, or what a sink or softpick leaves of it.
  const double first = has[0] ? head.statistics.maps[0].weight_sum[r] : 0.0;
  const double second = has[1] ? head.statistics.maps[1].weight_sum[r] : 0.0;
  const double l = lambda(row);
  const double low = std::abs(first - l * second) / root;
  if (!pair) return {low, first + std::abs(l) * second, single_key || !head.program.sums_to_one() || !has[0]};
  if (l < 0.0) return {low, first + std::abs(l) * second, true};
  return {low, std::sqrt(first * first + l * l * second * second), single_key};
}

std::size_t HeadView::side(std::int64_t row, BoundKind kind, double value) const {
  const RowBounds ends = bounds(row, kind);
  // A row with one key sits on its bound: rounding must not push it over.
  const double slack = visible[static_cast<std::size_t>(row)] == 1 ? 1e-5 : 0.0;
  if (kind == BoundKind::DiffV2 ? value <= 0.0 : value < ends.low * (1.0 - slack)) return 0;
  return (ends.high_closed ? value > ends.high * (1.0 + slack) : value >= ends.high) ? 2 : 1;
}

double HeadView::mean(const RowValue& value) const {
  return mean_if(value, [](std::int64_t) { return true; });
}

double HeadView::mean_if(const RowValue& value, const std::function<bool(std::int64_t)>& also) const {
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    if (!eligible[static_cast<std::size_t>(i)] || !also(i)) continue;
    sum += value(i);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kNaN;
}

std::vector<double> HeadView::eligible_values(const RowValue& value) const {
  std::vector<double> values;
  for (std::int64_t i = 0; i < length; ++i)
    if (eligible[static_cast<std::size_t>(i)]) values.push_back(value(i));
  return values;
}

std::vector<double> quantiles(std::vector<double> values, const std::vector<double>& at) {
  std::vector<double> result(at.size(), kNaN);
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    return result;
  // One or two are selected in less time than all are sorted.
  const bool few = at.size() <= 2;
  if (!few) std::sort(values.begin(), values.end());
  for (std::size_t q = 0; q < at.size(); ++q) {
    const double position = at[q] * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(position));
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(below);
    if (few) std::nth_element(values.begin(), place, values.end());
    const double above = place + 1 == values.end() ? *place
                         : few                     ? *std::min_element(place + 1, values.end())
                                                   : *(place + 1);
    const double share = position - static_cast<double>(below);
    result[q] = *place + share * (above - *place);
  }
  return result;
}

}  // namespace headroom
