// A reader that fetches the weights of the next block on a thread of its own while one computes: two blocks are in
// memory at most. Compute thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "core/base/worker.h"
#include "core/compute/block.h"
#include "core/compute/weights.h"
#include "core/run/stages.h"

namespace headroom {

class WeightReader {
 public:
  // Begins with block `first` and ends with the attention of block `last`, or with the head where that is −1. The
  // model, the loader and the stages outlive the reader.
  WeightReader(const WeightLoader& loader, const ModelSpec& model, StageSeconds& stages, std::int64_t first = 0,
               std::int64_t last = -1);

  // Blocks are taken in order, then the head; taking one starts the reading of what follows. An error of reading comes
  // back where its weights are taken; Cancelled when `stop` says so first.
  [[nodiscard]] Result<BlockWeights> take_block(const Worker::StopRequested& stop);
  [[nodiscard]] Result<HeadWeights> take_head(const Worker::StopRequested& stop);

 private:
  Result<void> begin();
  Result<void> wait(const Worker::StopRequested& stop);
  Result<void> read(std::size_t index, const std::stop_token& token);

  const WeightLoader& loader_;
  const ModelSpec& model_;
  StageSeconds& stages_;
  const std::int64_t last_;
  std::size_t next_;  // the block that is being read; the number of blocks: the head
  Result<void> begun_;
  BlockWeights block_;  // these three belong to the queue's thread while it reads
  HeadWeights head_;
  double read_seconds_ = 0.0;
  Worker queue_{{.most_waiting = 1}};  // last: its jobs use the others
};

}  // namespace headroom
