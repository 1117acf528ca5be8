#include "core/compute/mask_tensor.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace headroom {

MaskTensor::MaskTensor(const kernels::Mask& mask, const at::Tensor& positions) : mask_(mask), positions_(positions) {
  std::vector<std::uint8_t> flags = kernels::mask_flags(mask);
  if (flags.empty()) return;
  const at::Tensor all = at::from_blob(flags.data(), {mask.length}, at::kByte).to(positions.device());
  key_hidden_ = all.bitwise_and(kernels::kHiddenKey).to(at::kBool);
  only_itself_ = all.bitwise_and(kernels::kOnlyItself).to(at::kBool);
}

at::Tensor MaskTensor::hidden(kernels::KeyRange row_range, kernels::KeyRange key_range) const {
  const bool everything = mask_.reaches_back() && !mask_.causal;
  if (everything && mask_.first_key == 0 && !key_hidden_.defined()) return {};
  const at::Tensor rows = positions_.narrow(0, row_range.begin, row_range.size()).unsqueeze(1);
  const at::Tensor keys = positions_.narrow(0, key_range.begin, key_range.size());
  at::Tensor hidden = at::gt(keys, rows + mask_.ahead());
  if (!mask_.reaches_back()) hidden.logical_or_(at::lt(keys, rows - mask_.behind()));
  if (mask_.first_key > 0) hidden.logical_or_(at::lt(keys, mask_.first_key)).logical_or_(at::lt(rows, mask_.first_key));
  if (key_hidden_.defined()) {
    hidden.logical_or_(key_hidden_.narrow(0, key_range.begin, key_range.size()));
    const at::Tensor own = only_itself_.narrow(0, row_range.begin, row_range.size()).unsqueeze(1);
    hidden.logical_and_(at::ne(keys, rows).logical_or_(own.logical_not()));
  }
  return hidden;
}

}  // namespace headroom
