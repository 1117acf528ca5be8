// Products on several sequences at once whose rows have the bits that each sequence alone would have. A library chooses
// by the shape of a product how its sums are made, so that rows may depend on how many there are: it is tried, once for
// each shape, and where it is so the sequences are multiplied one by one. Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <tuple>

namespace headroom {

class AlikeProducts {
 public:
  // While it lives, Linear on [sequences, length, channels] goes through it on this thread. Does not nest.
  AlikeProducts();
  ~AlikeProducts();
  AlikeProducts(const AlikeProducts&) = delete;
  AlikeProducts& operator=(const AlikeProducts&) = delete;

  // That of this thread; null: none.
  [[nodiscard]] static AlikeProducts* here();
  // x [sequences, length, in], weight [out, in], bias [out] or undefined.
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

 private:
  // Sequences, length, in, out, whether there is a bias.
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;
  std::map<Shape, bool> alike_;
};

}  // namespace headroom
