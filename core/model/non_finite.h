// NaN and infinities among the weights of a model, counted as the weights are read: of an embedding that is not read
// whole, in the rows that a prompt asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/model/model_spec.h"

namespace headroom {

struct NonFiniteCounts {
  std::int64_t nan = 0, positive_infinity = 0, negative_infinity = 0;

  [[nodiscard]] std::int64_t all() const { return nan + positive_infinity + negative_infinity; }
  NonFiniteCounts& operator+=(const NonFiniteCounts& other);
};
[[nodiscard]] NonFiniteCounts count_non_finite(std::span<const float> values);
[[nodiscard]] NonFiniteCounts count_non_finite(std::span<const double> values);

// A tensor that holds some.
struct NonFiniteWeight {
  std::int64_t layer = -1;  // −1: outside of the layers
  std::string tensor;
  NonFiniteCounts counts;
  std::int64_t values = 0;  // that were read
};

// "layer 3, model.layers.3.self_attn.k_proj.weight: 5 NaN, 1 +∞ among 4096 values".
[[nodiscard]] std::string describe(const NonFiniteWeight& weight);

// Collects them. A tensor that is read in several slices is one entry; one that is read in rows and later whole (a tied
// embedding) counts as it was read whole. Safe from any thread.
class NonFiniteLog {
 public:
  void add_slice(const WeightRef& weight, std::span<const float> values) { add(weight, values, false); }
  void add_slice(const WeightRef& weight, std::span<const double> values) { add(weight, values, false); }
  void add_rows(const WeightRef& weight, std::span<const float> values) { add(weight, values, true); }
  void add_rows(const WeightRef& weight, std::span<const double> values) { add(weight, values, true); }

  // By layer, those outside of the layers first.
  [[nodiscard]] std::vector<NonFiniteWeight> weights(const ModelSpec& model) const;

 private:
  struct Entry {
    NonFiniteCounts slices, rows;
    std::int64_t slice_values = 0, row_values = 0;
  };
  template <typename Real>
  void add(const WeightRef& weight, std::span<const Real> values, bool rows);

  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ HEADROOM_GUARDED_BY(mutex_);
};

}  // namespace headroom
