// Working memory that tasks borrow, so that as many pieces exist as run at once. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "kernels/mutex.h"

namespace headroom::kernels {

class ScratchPool {
 public:
  struct Free {
    void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  using Piece = std::unique_ptr<float[], Free>;

  explicit ScratchPool(std::int64_t floats) : bytes_(static_cast<std::size_t>(floats) * sizeof(float)) {}

  [[nodiscard]] Piece borrow() {
    {
      const MutexLock lock(mutex_);
      if (!pieces_.empty()) {
        Piece piece = std::move(pieces_.back());
        pieces_.pop_back();
        return piece;
      }
    }
    return Piece(static_cast<float*>(::operator new[](bytes_, std::align_val_t{64})));
  }
  void give_back(Piece piece) {
    const MutexLock lock(mutex_);
    pieces_.push_back(std::move(piece));
  }

 private:
  const std::size_t bytes_;
  Mutex mutex_;
  std::vector<Piece> pieces_ HEADROOM_GUARDED_BY(mutex_);
};

}  // namespace headroom::kernels
