#include "core/io/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "core/base/format.h"
#include "core/io/blocks.h"

namespace headroom {
namespace {

using Index = std::vector<std::int64_t>;

// The place in the whole array of element i of the block at `start`.
Index place(std::span<const std::int64_t> start, std::span<const std::int64_t> count, std::size_t i) {
  Index at(start.begin(), start.end());
  for (std::size_t axis = count.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(count[axis]);
    at[axis] += static_cast<std::int64_t>(i % extent);
    i /= extent;
  }
  return at;
}

std::string shape_text(const DatasetInfo& info) {
  if (info.shape.empty()) return "scalar";
  std::string out;
  for (std::size_t axis = 0; axis < info.shape.size(); ++axis) {
    if (axis > 0) out += " × ";
    if (!info.axes[axis].empty()) out += info.axes[axis] + " ";
    out += std::to_string(info.shape[axis]);
  }
  return out;
}

void raise(ExtremeDifference& extreme, double difference, double a, double b, std::span<const std::int64_t> start,
           std::span<const std::int64_t> count, std::size_t i) {
  if (!(difference > extreme.difference)) return;
  extreme = {difference, place(start, count, i), a, b, true};
}

void note_first(QuantityComparison& out, std::string a, std::string b, Index at) {
  if (!out.first_a.empty() || !out.first_b.empty()) return;
  out.first_at = std::move(at);
  out.first_a = std::move(a);
  out.first_b = std::move(b);
}

void compare_block(QuantityComparison& out, const CompareTolerance& tolerance, std::span<const double> a,
                   std::span<const double> b, std::span<const std::int64_t> start,
                   std::span<const std::int64_t> count) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      ++out.non_finite_mismatches;
      ++out.differing;
      note_first(out, format("%.9g", a[i]), format("%.9g", b[i]), place(start, count, i));
      continue;
    }
    // Two huge numbers of opposite sign have no finite difference.
    const double difference = std::min(std::abs(a[i] - b[i]), std::numeric_limits<double>::max());
    const double larger = std::max(std::abs(a[i]), std::abs(b[i]));
    raise(out.absolute, difference, a[i], b[i], start, count, i);
    raise(out.relative, difference / larger, a[i], b[i], start, count, i);
    if (difference > tolerance.absolute + tolerance.relative * larger) ++out.differing;
  }
}

Result<void> compare_numbers(QuantityComparison& out, const CompareTolerance& tolerance, const RunFile& a,
                             const RunFile& b, const DatasetInfo& info) {
  return for_each_block(info.shape, kBlockElements, [&](auto start, auto count) -> Result<void> {
    HEADROOM_TRY(const std::vector<double> values_a, a.read_part(info.path, start, count));
    HEADROOM_TRY(const std::vector<double> values_b, b.read_part(info.path, start, count));
    compare_block(out, tolerance, values_a, values_b, start, count);
    return {};
  });
}

Result<void> compare_strings(QuantityComparison& out, const RunFile& a, const RunFile& b, const DatasetInfo& info) {
  HEADROOM_TRY(const std::vector<std::string> values_a, a.read_strings(info.path));
  HEADROOM_TRY(const std::vector<std::string> values_b, b.read_strings(info.path));
  const Index start(info.shape.size(), 0);
  for (std::size_t i = 0; i < values_a.size(); ++i) {
    if (values_a[i] == values_b[i]) continue;
    ++out.differing;
    note_first(out, "\"" + values_a[i] + "\"", "\"" + values_b[i] + "\"", place(start, info.shape, i));
  }
  return {};
}

Result<QuantityComparison> compare_quantity(const RunFile& a, const RunFile& b, const DatasetInfo& in_a,
                                            const DatasetInfo& in_b, const CompareTolerance& tolerance) {
  QuantityComparison out;
  out.name = in_a.path;
  out.axes = in_a.axes;
  out.shape_a = in_a.shape;
  out.shape_b = in_b.shape;
  if (in_a.shape != in_b.shape || in_a.axes != in_b.axes) {
    out.status = QuantityStatus::AxesDiffer;
    out.found_a = shape_text(in_a);
    out.found_b = shape_text(in_b);
    return out;
  }
  out.elements = element_count(in_a.shape);
  const bool strings_a = in_a.type == ElementType::String;
  const bool strings_b = in_b.type == ElementType::String;
  // A float32 and a float64 run of one model are there to be compared; text and numbers cannot be.
  if (strings_a != strings_b) {
    out.status = QuantityStatus::TypesDiffer;
    out.found_a = element_type_name(in_a.type);
    out.found_b = element_type_name(in_b.type);
    return out;
  }
  HEADROOM_TRY_VOID(strings_a ? compare_strings(out, a, b, in_a) : compare_numbers(out, tolerance, a, b, in_a));
  if (out.differing > 0) out.status = QuantityStatus::Different;
  return out;
}

QuantityComparison only_in_one(const DatasetInfo& info, bool in_a) {
  QuantityComparison out;
  out.name = info.path;
  out.axes = info.axes;
  out.status = in_a ? QuantityStatus::OnlyInA : QuantityStatus::OnlyInB;
  (in_a ? out.shape_a : out.shape_b) = info.shape;
  (in_a ? out.found_a : out.found_b) = shape_text(info);
  out.elements = element_count(info.shape);
  return out;
}

}  // namespace

bool FileComparison::equal() const {
  return std::all_of(quantities.begin(), quantities.end(),
                     [](const QuantityComparison& quantity) { return quantity.status == QuantityStatus::Equal; });
}

Result<FileComparison> compare_run_files(const RunFile& a, const RunFile& b, const CompareTolerance& tolerance) {
  if (!(tolerance.relative >= 0.0) || !(tolerance.absolute >= 0.0)) {
    return Error(ErrorCode::InvalidArgument, "a tolerance must be a number that is not negative")
        .wanted("--rtol and --atol of 0 or more", format("%g and %g", tolerance.relative, tolerance.absolute));
  }
  FileComparison comparison;
  comparison.tolerance = tolerance;
  for (const DatasetInfo& info : a.datasets()) {
    const DatasetInfo* other = b.find(info.path);
    if (other == nullptr) {
      comparison.quantities.push_back(only_in_one(info, true));
      continue;
    }
    HEADROOM_TRY(QuantityComparison quantity, compare_quantity(a, b, info, *other, tolerance));
    comparison.quantities.push_back(std::move(quantity));
  }
  for (const DatasetInfo& info : b.datasets()) {
    if (a.find(info.path) == nullptr) comparison.quantities.push_back(only_in_one(info, false));
  }
  return comparison;
}

}  // namespace headroom
