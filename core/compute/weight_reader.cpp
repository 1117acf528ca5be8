#include "core/compute/weight_reader.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>

#include <ATen/ATen.h>

#include "core/compute/reading_thread.h"

namespace headroom {

WeightReader::WeightReader(const WeightLoader& loader, const ModelSpec& model, StageSeconds& stages, std::int64_t first,
                           std::int64_t last)
    : loader_(loader), model_(model), stages_(stages), last_(last), next_(static_cast<std::size_t>(first)) {
  begun_ = begin();
}

Result<void> WeightReader::begin() {
  return queue_.submit([this, index = next_](const std::stop_token& token) { return read(index, token); });
}

Result<void> WeightReader::read(std::size_t index, const std::stop_token& token) {
  const StageTimer timer(&read_seconds_);
  const ReadingThread here;
  if (index < model_.blocks.size()) {
    HEADROOM_TRY(block_, load_block(loader_, model_.blocks[index], token, static_cast<std::int64_t>(index) != last_));
    return {};
  }
  HEADROOM_TRY(head_, load_head(loader_, model_, token));
  return {};
}

Result<void> WeightReader::wait(const Worker::StopRequested& stop) {
  HEADROOM_TRY_VOID(begun_);
  const StageTimer timer(&stages_.wait_weights);
  HEADROOM_TRY_VOID(queue_.finish(stop));
  stages_.read_weights = read_seconds_;
  return {};
}

Result<BlockWeights> WeightReader::take_block(const Worker::StopRequested& stop) {
  HEADROOM_TRY_VOID(wait(stop));
  BlockWeights taken = std::exchange(block_, {});
  if (static_cast<std::int64_t>(next_++) != last_) begun_ = begin();
  return taken;
}

Result<HeadWeights> WeightReader::take_head(const Worker::StopRequested& stop) {
  HEADROOM_TRY_VOID(wait(stop));
  return std::exchange(head_, {});
}

}  // namespace headroom
