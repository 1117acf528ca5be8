// A mask as tensors: which entries of a strip of rows and keys are not seen. Immutable once made; safe from any thread.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/mask.h"

namespace headroom {

class MaskTensor {
 public:
  // `positions`: 0 … length − 1 (int32) and possibly more, on the device of the answers. The mask outlives this.
  MaskTensor(const kernels::Mask& mask, const at::Tensor& positions);

  // [rows, keys]: true where the row does not see the key; undefined where every row of the mask sees every key.
  [[nodiscard]] at::Tensor hidden(kernels::KeyRange rows, kernels::KeyRange keys) const;

 private:
  const kernels::Mask& mask_;
  at::Tensor positions_;
  at::Tensor key_hidden_;   // [length]; undefined where no key is
  at::Tensor only_itself_;  // [length]: rows that would see nothing and keep their own key
};

}  // namespace headroom
