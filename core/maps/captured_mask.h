// The dense mask of a captured call, read from its file piece by piece and never held. Immutable but for the first
// error of reading; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/checkpoint.h"
#include "core/maps/head_masks.h"
#include "core/model/capture.h"
#include "kernels/mask.h"

namespace headroom {

// A mask of truth values hides where it is false. One of numbers adds them to the logits and hides where they are −∞ or
// at most half the lowest of their type, as masks are written that shall not overflow.
class CapturedMask final : public HeadMasks {
 public:
  // Null where the call has no mask.
  [[nodiscard]] static std::shared_ptr<const CapturedMask> create(std::shared_ptr<const Checkpoint> checkpoint,
                                                                  const CaptureCall& call);
  ~CapturedMask() override;

  [[nodiscard]] const kernels::DenseMask* of_head(std::int64_t head) const override;
  [[nodiscard]] std::size_t size_bytes() const override { return 0; }
  // Where reading failed: the first error. What could not be read is NaN.
  [[nodiscard]] Result<void> check() const;
  // Corrupt for a row of `mask`, which this one belongs to, that sees no key.
  [[nodiscard]] Result<void> check_rows(const kernels::Mask& mask) const;

 private:
  struct Part;
  struct Failure;
  CapturedMask(std::shared_ptr<const Checkpoint> checkpoint, const CapturedTensor& tensor);
  static void read(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key, std::int64_t keys,
                   double* out);
  void read_span(std::int64_t first, std::int64_t count, double* out) const;

  std::shared_ptr<const Checkpoint> checkpoint_;
  const TensorInfo& info_;
  std::int64_t rows_ = 0, keys_ = 0;
  std::vector<Part> parts_;  // one for all heads, or one for each
  std::unique_ptr<Failure> failure_;
};

}  // namespace headroom
