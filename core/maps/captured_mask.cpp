#include "core/maps/captured_mask.h"

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/base/mutex.h"

namespace headroom {
namespace {

// Half the lowest number of a type: what is as low as this hides.
double hiding_limit(DType type) {
  switch (type) {
    case DType::F64: return std::numeric_limits<double>::lowest() / 2.0;
    case DType::F16: return -65504.0 / 2.0;
    case DType::BF16: return -0x1.FEp127 / 2.0;
    default: return static_cast<double>(std::numeric_limits<float>::lowest()) / 2.0;
  }
}

}  // namespace

struct CapturedMask::Part {
  const CapturedMask* mask = nullptr;
  std::int64_t first = 0;  // element
  kernels::DenseMask dense;
};

struct CapturedMask::Failure {
  mutable Mutex mutex;
  std::optional<Error> error HEADROOM_GUARDED_BY(mutex);
};

CapturedMask::~CapturedMask() = default;

CapturedMask::CapturedMask(std::shared_ptr<const Checkpoint> checkpoint, const CapturedTensor& tensor)
    : checkpoint_(std::move(checkpoint)), info_(*tensor.info), failure_(std::make_unique<Failure>()) {
  const std::size_t rank = tensor.shape.size();
  rows_ = tensor.shape[rank - 2];
  keys_ = tensor.shape[rank - 1];
  parts_.resize(rank == 3 ? static_cast<std::size_t>(tensor.shape.front()) : 1);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i] = {this, tensor.first + static_cast<std::int64_t>(i) * rows_ * keys_, {}};
    parts_[i].dense = {read, &parts_[i], info_.dtype != DType::BOOL};
  }
}

std::shared_ptr<const CapturedMask> CapturedMask::create(std::shared_ptr<const Checkpoint> checkpoint,
                                                         const CaptureCall& call) {
  if (!call.mask.present()) return nullptr;
  return std::shared_ptr<const CapturedMask>(new CapturedMask(std::move(checkpoint), call.mask));
}

const kernels::DenseMask* CapturedMask::of_head(std::int64_t head) const {
  return &parts_[parts_.size() == 1 ? 0 : static_cast<std::size_t>(head)].dense;
}

void CapturedMask::read(const void* source, std::int64_t row, std::int64_t rows, std::int64_t key, std::int64_t keys,
                        double* out) {
  const Part& part = *static_cast<const Part*>(source);
  const std::int64_t columns = part.mask->keys_;
  if (keys == columns) return part.mask->read_span(part.first + row * columns, rows * columns, out);
  for (std::int64_t i = 0; i < rows; ++i)
    part.mask->read_span(part.first + (row + i) * columns + key, keys, out + i * keys);
}

void CapturedMask::read_span(std::int64_t first, std::int64_t count, double* out) const {
  const std::span<double> values(out, static_cast<std::size_t>(count));
  if (Result<void> done = checkpoint_->read(info_, first, values); !done) {
    const MutexLock lock(failure_->mutex);
    if (!failure_->error) failure_->error = done.error();
    for (double& value : values) value = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  if (info_.dtype == DType::BOOL) {
    for (double& value : values) value = value == 0.0 ? kHidden : 0.0;
    return;
  }
  const double limit = hiding_limit(info_.dtype);
  for (double& value : values)
    if (value <= limit) value = kHidden;
}

Result<void> CapturedMask::check() const {
  const MutexLock lock(failure_->mutex);
  if (failure_->error) return *failure_->error;
  return {};
}

Result<void> CapturedMask::check_rows(const kernels::Mask& mask) const {
  for (std::int64_t row = 0; row < mask.length; ++row) {
    if (mask.visible(row) > 0) continue;
    HEADROOM_TRY_VOID(check());
    Error error(ErrorCode::Corrupt, "a row of a call sees no key, and the call has no sink");
    error.at_tensor(info_.name).in_file(checkpoint_->path().string());
    return error.wanted("a key for each row", "none for row " + std::to_string(row));
  }
  return check();
}

}  // namespace headroom
