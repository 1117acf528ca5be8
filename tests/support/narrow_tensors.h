// A case of the table in a backend's input type, beside the same numbers in double for the reference. Must outlive the
// problems it gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/attention_cases.h"
#include "tests/support/narrow_floats.h"

namespace headroom::test {

// The tensors of a case in the kernels' input type, and in double what they hold.
template <class Input>
class Tensors {
 public:
  Tensors(AttentionData<float> data) : data_(std::move(data)) {  // NOLINT: implicit by design
    for (auto [values, narrow_values] :
         {std::pair(&data_.query, &query_), std::pair(&data_.key, &key_), std::pair(&data_.value, &value_)})
      for (float& value : *values) {
        narrow_values->push_back(narrowed<Input>(value));
        value = widen(narrow_values->back());
      }
    wide_ = widened(data_);
  }

  [[nodiscard]] kernels::HeadProblem<double> wide(std::int64_t head) const { return wide_.problem(head); }
  [[nodiscard]] kernels::HeadProblem<Input> problem(std::int64_t head) const {
    const kernels::HeadProblem<float> from = data_.problem(head);
    kernels::HeadProblem<Input> to;
    to.mask = from.mask, to.head_dim = from.head_dim, to.value_dim = from.value_dim;
    for (std::size_t m = 0; m < 2; ++m) {
      if (!from.maps[m].present()) continue;
      to.maps[m] = {query_.data() + (from.maps[m].query - data_.query.data()),
                    key_.data() + (from.maps[m].key - data_.key.data()),
                    value_.data() + (from.maps[m].value - data_.value.data()),
                    from.maps[m].query_stride,
                    from.maps[m].key_stride,
                    from.maps[m].value_stride};
    }
    to.lambda = from.lambda, to.scale = from.scale, to.softcap = from.softcap, to.temperature = from.temperature;
    to.bias = from.bias, to.has_sink = from.has_sink, to.sink = from.sink, to.induction_key = from.induction_key;
    return to;
  }
  [[nodiscard]] const AttentionData<float>& data() const { return data_; }

 private:
  AttentionData<float> data_;
  AttentionData<double> wide_;
  std::vector<Input> query_, key_, value_;
};

}  // namespace headroom::test
