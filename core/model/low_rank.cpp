#include "core/model/low_rank.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/check.h"

namespace headroom {
namespace {

template <typename Real>
Result<std::vector<Real>> read_whole(const Checkpoint& checkpoint, const TensorInfo& tensor) {
  std::vector<Real> values(static_cast<std::size_t>(tensor.element_count()));
  HEADROOM_TRY_VOID(checkpoint.read(tensor, 0, std::span<Real>(values)));
  return values;
}

template <typename Real>
std::vector<Real> transposed(const std::vector<Real>& values, std::size_t rows, std::size_t columns) {
  std::vector<Real> turned(values.size());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      turned[column * rows + row] = values[row * columns + column];
  return turned;
}

// Row `place` of the factor with a row for each one of the matrix, [rank]. Of one embedded token no more is read.
template <typename Real>
Result<void> read_left(const Checkpoint& checkpoint, const LowRank& change, std::int64_t place, std::span<Real> out) {
  if (!change.embedding) return checkpoint.read(*change.b, place * change.rank(), out);
  for (std::int64_t k = 0; k < change.rank(); ++k)
    HEADROOM_TRY_VOID(
        checkpoint.read(*change.a, k * change.rows() + place, out.subspan(static_cast<std::size_t>(k), 1)));
  return {};
}

template <typename Real>
Result<void> add(const Checkpoint& checkpoint, const LowRank& change, const WeightRef& weight, std::int64_t first_row,
                 std::span<Real> values) {
  const auto rank = static_cast<std::size_t>(change.rank()), columns = static_cast<std::size_t>(change.columns());
  HEADROOM_CHECK(weight.columns() == change.columns() && weight.all_rows() == change.rows(), "size of an adapter");
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  HEADROOM_TRY(std::vector<Real> right, read_whole<Real>(checkpoint, change.embedding ? *change.b : *change.a));
  if (change.embedding) right = transposed(right, columns, rank);
  std::vector<Real> left;
  if (rows > 1) {
    HEADROOM_TRY(left, read_whole<Real>(checkpoint, change.embedding ? *change.a : *change.b));
    if (change.embedding) left = transposed(left, rank, static_cast<std::size_t>(change.rows()));
  }
  std::vector<Real> one(rank), sum(columns);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t place = weight.place_of(first_row + static_cast<std::int64_t>(row));
    std::span<const Real> factors = one;
    if (left.empty()) {
      HEADROOM_TRY_VOID(read_left(checkpoint, change, place, std::span<Real>(one)));
    } else {
      factors = std::span<const Real>(left).subspan(static_cast<std::size_t>(place) * rank, rank);
    }
    std::ranges::fill(sum, Real{0});
    for (std::size_t k = 0; k < rank; ++k) {
      const Real factor = factors[k];
      const Real* from = right.data() + k * columns;
      for (std::size_t column = 0; column < columns; ++column) sum[column] += factor * from[column];
    }
    const auto scale = static_cast<Real>(change.scale);
    Real* target = values.data() + row * columns;
    for (std::size_t column = 0; column < columns; ++column) target[column] += scale * sum[column];
  }
  return {};
}

}  // namespace

Result<void> add_low_rank(const Checkpoint& checkpoint, const LowRank& change, const WeightRef& weight,
                          std::int64_t first_row, std::span<float> values) {
  return add(checkpoint, change, weight, first_row, values);
}

Result<void> add_low_rank(const Checkpoint& checkpoint, const LowRank& change, const WeightRef& weight,
                          std::int64_t first_row, std::span<double> values) {
  return add(checkpoint, change, weight, first_row, values);
}

}  // namespace headroom
