// The CUDA names as any caller sees them: they link in every build, and where they cannot run they say why.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/window.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"

namespace headroom::test {
namespace {

using kernels::HeadJob;
using kernels::KernelStatus;
using kernels::StatusCode;

template <typename Input>
KernelStatus run_nothing() {
  std::vector<HeadJob<Input, float>> jobs;
  return kernels::cuda_attention<Input>(jobs, kernels::StreamView(nullptr), {});
}

}  // namespace

CATCH_TEST_CASE("cuda: where no device can be used, every entry says so in a sentence and touches nothing") {
  const KernelStatus ready = kernels::cuda_ready();
  CATCH_INFO(ready.call << ": " << ready.text);
  if (ready.ok()) {
    skip("this machine has a CUDA device");
    return;
  }
  CATCH_CHECK((ready.code == StatusCode::Unsupported || ready.code == StatusCode::Device));
  CATCH_CHECK(std::string_view(ready.text).size() > 10);
  CATCH_CHECK(run_nothing<float>().code == ready.code);
  CATCH_CHECK(run_nothing<kernels::BFloat16>().code == ready.code);
  CATCH_CHECK(run_nothing<kernels::Float16>().code == ready.code);

  const AttentionData<float> data = random_attention<float>({.name = "softmax"}, 3, 1);
  std::vector<float> context(static_cast<std::size_t>(3 * data.context_dim()), 7.0f);
  std::vector<HeadJob<float, float>> jobs(1);
  jobs[0] = {data.problem(0), full_request(), context.data(), data.context_dim(), {}};
  const KernelStatus status = kernels::cuda_attention<float>(jobs, kernels::StreamView(nullptr), {});
  CATCH_CHECK(status.code == ready.code);
  CATCH_CHECK(std::string(status.text) == ready.text);
  CATCH_CHECK(context == std::vector<float>(context.size(), 7.0f));

  std::vector<float> cells(9, 7.0f);
  const std::vector<double> lse(3, 0.0);
  const kernels::WindowCells out{cells.data(), cells.data(), cells.data(), cells.data(), 3};
  const KernelStatus window =
      kernels::cuda_window<float>(data.problem(0), {lse.data(), nullptr}, {kernels::WindowMap::Net, 0, 3, 0, 3, 1}, out,
                                  kernels::StreamView(nullptr), {});
  CATCH_CHECK(window.code == ready.code);
  CATCH_CHECK(cells == std::vector<float>(9, 7.0f));
}

}  // namespace headroom::test
