#include "core/compute/mask_tensor.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

MaskTensor::MaskTensor(const kernels::Mask& mask, const at::Tensor& positions) : mask_(mask), positions_(positions) {
  std::vector<std::uint8_t> flags = kernels::mask_flags(mask);
  if (flags.empty()) return;
  const at::Device device = positions.device();
  key_hidden_ = at::from_blob(flags.data(), {mask.keys()}, at::kByte).to(device).ne(0);
  std::vector<std::uint8_t> alone(static_cast<std::size_t>(mask.length), 0);
  for (std::int64_t row = 0; row < mask.length; ++row) {
    const std::int64_t key = row + mask.first_query;
    if (key >= 0 && key < mask.keys())
      alone[static_cast<std::size_t>(row)] = flags[static_cast<std::size_t>(key)] & kernels::kOnlyItself;
  }
  only_itself_ = at::from_blob(alone.data(), {mask.length}, at::kByte).to(device).ne(0);
}

MaskTensor::Tile MaskTensor::tile(kernels::KeyRange rows, kernels::KeyRange keys) const {
  Tile tile{positional(rows, keys), {}};
  if (!mask_.dense) return tile;
  const at::Tensor added = at::empty({rows.size(), keys.size()}, at::kDouble);
  mask_.dense->read(mask_.dense->source, rows.begin, rows.size(), keys.begin, keys.size(),
                    added.mutable_data_ptr<double>());
  const at::Tensor there = added.to(positions_.device());
  const at::Tensor taken = at::isneginf(there);
  tile.hidden = tile.hidden.defined() ? tile.hidden.logical_or(taken) : taken;
  if (mask_.dense->additive) tile.added = there.masked_fill(taken, 0.0);
  return tile;
}

at::Tensor MaskTensor::positional(kernels::KeyRange row_range, kernels::KeyRange key_range) const {
  if (mask_.reaches_all() && mask_.first_key == 0 && !key_hidden_.defined()) return {};
  const at::Tensor rows = positions_.narrow(0, row_range.begin, row_range.size()).unsqueeze(1) +
                          static_cast<std::int32_t>(mask_.first_query);
  const at::Tensor keys = positions_.narrow(0, key_range.begin, key_range.size());
  at::Tensor hidden = at::gt(keys, rows + mask_.near_ahead());
  if (!mask_.reaches_back()) hidden.logical_or_(at::lt(keys, rows - mask_.near_behind()));
  if (mask_.chunk > 0) {
    const auto chunk_of = [&](const at::Tensor& x) {
      return at::floor_divide(x - static_cast<std::int32_t>(mask_.first_key), at::Scalar(mask_.chunk));
    };
    hidden.logical_or_(at::ne(chunk_of(keys), chunk_of(rows)));
  }
  if (mask_.always_visible > 0) {
    const at::Tensor far = at::ge(keys, mask_.first_key + mask_.always_visible);
    hidden.logical_and_(mask_.causal ? far.logical_or(at::gt(keys, rows)) : far);
  }
  if (mask_.first_key > 0) hidden.logical_or_(at::lt(keys, mask_.first_key)).logical_or_(at::lt(rows, mask_.first_key));
  if (key_hidden_.defined()) {
    hidden.logical_or_(key_hidden_.narrow(0, key_range.begin, key_range.size()));
    const at::Tensor own = only_itself_.narrow(0, row_range.begin, row_range.size()).unsqueeze(1);
    hidden.logical_and_(at::ne(keys, rows).logical_or_(own.logical_not()));
  }
  return hidden;
}

}  // namespace headroom
