// What a run needs to go on before a layer: the residual stream, and what earlier layers made that later ones use.
// Immutable once handed over; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headroom {

// Something of one layer that later ones use: its keys and values after norms and rotation, [length, blocks, channels],
// or its memory, what its scan made before the gate, [length, channels].
struct KeptTensor {
  enum class Kind : std::uint8_t { Keys, Values, Memory };
  std::int64_t layer = 0;
  Kind kind = Kind::Keys;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct StreamState {
  std::int64_t layer = 0;  // the one that comes next
  std::int64_t length = 0, hidden = 0;
  std::vector<float> residual;  // [streams, length, hidden]; one stream but with AltUp
  // What layers before it made for it or those behind it; shared by the states of one run.
  std::vector<std::shared_ptr<const KeptTensor>> kept;

  // Null where it was not kept.
  [[nodiscard]] const KeptTensor* find(std::int64_t of_layer, KeptTensor::Kind kind) const {
    for (const auto& tensor : kept)
      if (tensor->layer == of_layer && tensor->kind == kind) return tensor.get();
    return nullptr;
  }
};

}  // namespace headroom
