// The fused CPU backend against the scalar double reference.
#include "kernels/cpu/attention.h"

#include <thread>

#include "kernels/reference/attention.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/statistics_match.h"

namespace headroom::test {
namespace {

using kernels::HeadJob;
using kernels::HeadStatistics;

void serial(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

struct CpuRun {
  std::vector<HeadJob<float>> jobs;
  std::vector<float> context;
};

CpuRun run_cpu(const AttentionData<float>& data, const kernels::StatisticsRequest& request) {
  CpuRun run;
  const std::int64_t channels = data.context_dim(), heads = data.shape.heads;
  run.context.assign(static_cast<std::size_t>(data.length * heads * channels), -77.0F);
  for (std::int64_t h = 0; h < heads; ++h) {
    HeadJob<float> job;
    job.problem = data.problem(h);
    job.request = request;
    job.context = run.context.data() + h * channels;
    job.context_stride = heads * channels;
    run.jobs.push_back(std::move(job));
  }
  CATCH_REQUIRE(kernels::cpu_attention<float>(std::span(run.jobs), serial, nullptr));
  return run;
}

void check_against_reference(const AttentionCase& shape, std::int64_t length, std::uint64_t seed,
                             std::int64_t pool_blocks = 5) {
  const auto data = random_attention<float>(shape, length, seed);
  const AttentionData<double> exact = widened(data);
  const kernels::StatisticsRequest request = full_request(pool_blocks);
  const CpuRun run = run_cpu(data, request);
  const std::int64_t channels = data.context_dim();
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    CATCH_INFO(shape.name << ", length " << length << ", head " << h << ", seed " << seed);
    HeadStatistics expected;
    std::vector<double> context(static_cast<std::size_t>(length * channels)), found;
    kernels::reference_attention(exact.problem(h), request, expected, context);
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t c = 0; c < channels; ++c)
        found.push_back(
            static_cast<double>(run.context[static_cast<std::size_t>((i * shape.heads + h) * channels + c)]));
    CATCH_CHECK(statistics_mismatch(run.jobs[static_cast<std::size_t>(h)].statistics, expected, 1e-5, 1e-3) == "");
    CATCH_CHECK(array_mismatch("context", found, context, 1e-5) == "");
  }
}

}  // namespace

CATCH_TEST_CASE("cpu attention: equals the reference for every case and length") {
  std::uint64_t seed = 1001;
  for (const AttentionCase& shape : attention_cases())
    for (const std::int64_t length : {1, 2, 3, 17, 63, 64, 65, 191, 192, 193, 700}) check_against_reference(shape, length, ++seed);
}

}  // namespace headroom::test
