// What is computed of several sequences at once and has the bits that each sequence alone would have. A library chooses
// by the shape of a product how its sums are made, so that rows may depend on how many there are: it is tried, once for
// each shape, and where it is so the sequences are multiplied one by one. Functions such as exp are one by one anyhow:
// of the last numbers of a tensor, fewer than a vector, another routine computes them. Compute thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

namespace headroom {

class AlikeProducts {
 public:
  // While it lives, Linear and activate() of [sequences, length, channels] go through it on this thread. Does not nest.
  // Not `shared`: sequences are multiplied one by one without a trial.
  explicit AlikeProducts(bool shared);
  ~AlikeProducts();
  AlikeProducts(const AlikeProducts&) = delete;
  AlikeProducts& operator=(const AlikeProducts&) = delete;

  // That of this thread; null: none.
  [[nodiscard]] static AlikeProducts* here();
  // x [sequences, length, in], weight [out, in], bias [out] or undefined.
  [[nodiscard]] at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
  // f of each sequence of x [sequences, length, channels].
  [[nodiscard]] static at::Tensor each(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& f);
  // Shapes whose sequences are multiplied at once.
  [[nodiscard]] std::int64_t shared_shapes() const;

 private:
  // Sequences, length, in, out, whether there is a bias.
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;
  const bool shared_;
  std::map<Shape, bool> alike_;
};

}  // namespace headroom
