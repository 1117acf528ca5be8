// The statistics of heads in a stored history, read by blocks of steps or for one head, so that many heads never lie in
// memory at once. For stored_history.cpp. HDF5 is used: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/training/stored_history.h"

namespace headroom {

class RunFile;
class StateFile;

struct HeadArrays {
  std::int64_t layers = 0, heads = 0;
  std::vector<std::int64_t> steps;
  // Components of a statistic (1 or 2); 0: the file does not have it.
  std::function<std::int64_t(const std::string& name)> components;
  // [count, layers, heads, components] from a place of `steps` on.
  std::function<Result<std::vector<double>>(const std::string& name, std::int64_t begin, std::int64_t count)> rows;
  // [steps, components] of one head.
  std::function<Result<std::vector<double>>(const std::string& name, HeadAddress head)> one;
};

[[nodiscard]] Result<HeadArrays> head_arrays_of(const std::shared_ptr<RunFile>& file);
// `layers` 0: the state does not say them, and its heads are left out.
[[nodiscard]] Result<HeadArrays> head_arrays_of(const std::shared_ptr<const StateFile>& file, std::int64_t layers,
                                                std::int64_t heads);
// A list of the state's history, "loss". Corrupt where it is not there.
[[nodiscard]] Result<std::vector<double>> state_array(const StateFile& file, const std::string& name);

// Bands over all heads, the head with the largest sink score at the end, and the curves of one.
[[nodiscard]] Result<void> read_heads(const HeadArrays& arrays, StoredHistory& history,
                                      std::optional<HeadAddress> head);
[[nodiscard]] Result<HeadCurves> curves_of(const HeadArrays& arrays, HeadAddress head);

}  // namespace headroom
