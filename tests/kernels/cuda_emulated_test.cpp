// The CUDA kernels, run thread by thread on the processor, against the scalar reference: the same templates that nvcc
// compiles, on the table of cases. It shows that the arithmetic, the layouts and the barriers are right; it is no run on
// a device.
#include <cmath>
#include <string>
#include <vector>

#include "kernels/cuda/heads.h"
#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/cuda_emulated_machine.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::Float16;
using kernels::HeadJob;
using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::StatisticsRequest;

// The tensors of a case in the kernels' input type, and in double what they hold.
template <class Input>
class Tensors {
 public:
  Tensors(AttentionData<float> data) : data_(std::move(data)) {  // NOLINT: implicit by design
    for (auto [values, narrow_values] : {std::pair(&data_.query, &query_), std::pair(&data_.key, &key_),
                                         std::pair(&data_.value, &value_)})
      for (float& value : *values) {
        narrow_values->push_back(narrowed<Input>(value));
        value = widen(narrow_values->back());
      }
    wide_ = widened(data_);
  }

  [[nodiscard]] HeadProblem<double> wide(std::int64_t head) const { return wide_.problem(head); }
  [[nodiscard]] HeadProblem<Input> problem(std::int64_t head) const {
    const HeadProblem<float> from = data_.problem(head);
    HeadProblem<Input> to;
    to.length = from.length, to.head_dim = from.head_dim, to.value_dim = from.value_dim;
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
    to.has_sink = from.has_sink, to.sink = from.sink, to.causal = from.causal, to.window = from.window;
    to.first_key = from.first_key, to.hidden_keys = from.hidden_keys, to.induction_key = from.induction_key;
    return to;
  }
  [[nodiscard]] const AttentionData<float>& data() const { return data_; }

 private:
  AttentionData<float> data_;
  AttentionData<double> wide_;
  std::vector<Input> query_, key_, value_;
};

struct Answer {
  std::vector<HeadStatistics> statistics;
  std::vector<std::vector<float>> contexts;
};

template <class Input>
Answer run(EmulatedMachine& machine, const std::vector<HeadProblem<Input>>& problems, const StatisticsRequest& request) {
  Answer answer;
  std::vector<HeadJob<Input, float>> jobs;
  answer.contexts.resize(problems.size());
  for (std::size_t h = 0; h < problems.size(); ++h) {
    answer.contexts[h].assign(static_cast<std::size_t>(problems[h].length * problems[h].value_dim), NAN);
    jobs.push_back({problems[h], request, answer.contexts[h].data(), problems[h].value_dim, {}});
  }
  const kernels::KernelStatus status = kernels::cuda::run_heads<Input>(machine, jobs, {});
  CATCH_INFO(status.text);
  CATCH_REQUIRE(status.ok());
  CATCH_CHECK(machine.memory == 0);
  for (HeadJob<Input, float>& job : jobs) answer.statistics.push_back(std::move(job.statistics));
  return answer;
}

// Of the kernels' own arithmetic. Logits are off by float32 rounding of z itself, 2⁻²⁴ · |z|, and so are weights relative
// to their size; the table's |z| stay below 100. Sums of up to 130 weights add less.
constexpr double kTolerance = 2e-5;

// The weights that meet the values are rounded to the input's format, as in every flash attention.
template <class Input>
constexpr double kContextTolerance = kTolerance;
template <>
constexpr double kContextTolerance<BFloat16> = 4e-3;
template <>
constexpr double kContextTolerance<Float16> = 5e-4;

template <class Input>
void check_case(const AttentionCase& shape, std::int64_t length, std::uint64_t seed, EmulatedMachine& machine,
                const StatisticsRequest& request, std::int64_t first_key = 0) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, seed));
  std::vector<HeadProblem<Input>> problems;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    problems.push_back(tensors.problem(head));
    problems.back().first_key = first_key;
  }
  const Answer answer = run(machine, problems, request);
  for (std::size_t h = 0; h < problems.size(); ++h) {
    CATCH_INFO(shape.name << ", length " << length << ", head " << h << ", seed " << seed);
    HeadProblem<double> wide = tensors.wide(static_cast<std::int64_t>(h));
    wide.first_key = first_key;
    HeadStatistics expected, found = answer.statistics[h];
    std::vector<double> context(answer.contexts[h].size());
    kernels::reference_attention(wide, request, expected, context);
    CATCH_CHECK(array_mismatch("context", std::vector<double>(answer.contexts[h].begin(), answer.contexts[h].end()),
                               context, kContextTolerance<Input>) == "");
    for (std::size_t m = 0; m < 2; ++m) {
      CATCH_CHECK(array_mismatch("context_energy", found.maps[m].context_energy, expected.maps[m].context_energy,
                                 2 * kContextTolerance<Input>) == "");
      found.maps[m].context_energy = expected.maps[m].context_energy;
    }
    CATCH_CHECK(statistics_mismatch(found, expected, kTolerance, 0.005) == "");
  }
}

}  // namespace

CATCH_TEST_CASE("emulated CUDA: every case of the table, float32") {
  EmulatedMachine machine;
  std::uint64_t seed = 100;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 17, 63, 64, 65, 130})
      check_case<float>(shape, length, ++seed, machine, full_request());
}

}  // namespace headroom::test
