#include "core/maps/disentangled_masks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace headroom {

template <typename Real>
std::vector<std::int32_t> disentangled_rows(const DisentangledSpec& spec, std::int64_t length) {
  const std::int64_t half = spec.buckets / 2;
  const auto bucket = [&](std::int64_t distance) -> std::int64_t {
    const std::int64_t far = std::abs(distance);
    if (spec.buckets <= 0 || far <= half) return distance;
    const auto middle = static_cast<Real>(half);
    const Real share = std::log(static_cast<Real>(far) / middle) /
                       std::log(static_cast<Real>(static_cast<double>(spec.furthest - 1) / static_cast<double>(half)));
    const std::int64_t place = static_cast<std::int64_t>(std::ceil(share * static_cast<Real>(half - 1))) + half;
    return distance < 0 ? -place : place;
  };
  std::vector<std::int32_t> rows;
  rows.reserve(static_cast<std::size_t>(2 * length - 1));
  for (std::int64_t distance = 1 - length; distance < length; ++distance)
    rows.push_back(
        static_cast<std::int32_t>(std::clamp<std::int64_t>(bucket(distance) + spec.span, 0, 2 * spec.span - 1)));
  return rows;
}

template <typename Real>
DisentangledMasks<Real>::DisentangledMasks(Tables tables) : tables_(std::move(tables)) {
  heads_.resize(static_cast<std::size_t>(tables_.heads));
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    heads_[h] = {this, static_cast<std::int64_t>(h), {}};
    heads_[h].mask = {read, &heads_[h], true};
  }
}

template <typename Real>
const kernels::DenseMask* DisentangledMasks<Real>::of_head(std::int64_t head) const {
  return &heads_[static_cast<std::size_t>(head)].mask;
}

template <typename Real>
std::size_t DisentangledMasks<Real>::size_bytes() const {
  return (tables_.by_row.capacity() + tables_.by_key.capacity()) * sizeof(Real) +
         tables_.places.capacity() * sizeof(std::int32_t);
}

template <typename Real>
void DisentangledMasks<Real>::read(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key,
                                   std::int64_t keys, double* out) {
  const Head& of = *static_cast<const Head*>(source);
  const Tables& tables = of.all->tables_;
  const std::int64_t begin = of.head * tables.length;
  for (std::int64_t i = row; i < row + rows; ++i) {
    // The place of distance i − j stands at i − j + length − 1: it goes down as j goes up.
    const std::int32_t* place = tables.places.data() + i - key + tables.length - 1;
    const Real* of_row = tables.by_row.empty() ? nullptr : tables.by_row.data() + (begin + i) * tables.columns;
    const Real* of_key = tables.by_key.empty() ? nullptr : tables.by_key.data() + (begin + key) * tables.columns;
    for (std::int64_t j = 0; j < keys; ++j, --place, ++out) {
      *out = of_row ? static_cast<double>(of_row[*place]) : 0.0;
      if (of_key) *out += static_cast<double>(of_key[j * tables.columns + *place]);
    }
  }
}

template std::vector<std::int32_t> disentangled_rows<float>(const DisentangledSpec&, std::int64_t);
template std::vector<std::int32_t> disentangled_rows<double>(const DisentangledSpec&, std::int64_t);
template class DisentangledMasks<float>;
template class DisentangledMasks<double>;

}  // namespace headroom
