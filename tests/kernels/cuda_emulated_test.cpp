// The CUDA kernels, run thread by thread on the processor, against the scalar reference: the same templates that nvcc
// compiles, on the table of cases. It shows that the arithmetic, the layouts and the barriers are right; it is no run
// on a device.
#include <cstdint>

#include "tests/kernels/cuda_emulated.h"

namespace headroom::test {

CATCH_TEST_CASE("emulated CUDA: every case of the table, float32") {
  EmulatedMachine machine;
  std::uint64_t seed = 100;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 17, 63, 64, 65, 130})
      check_case<float>(shape, length, ++seed, machine, full_request());
}

CATCH_TEST_CASE("emulated CUDA: every case of the table, bfloat16 and half") {
  EmulatedMachine machine;
  std::uint64_t seed = 400;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 17, 70}) {
      check_case<kernels::BFloat16>(shape, length, ++seed, machine, full_request());
      check_case<kernels::Float16>(shape, length, ++seed, machine, full_request());
    }
}

}  // namespace headroom::test
