// The CUDA window kernel in the emulator, against whole matrices in double.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/window_run.h"

#include "tests/kernels/cuda_emulated.h"
#include "tests/kernels/dense_attention.h"

namespace headroom::test {
namespace {

using kernels::BFloat16;
using kernels::Float16;
using kernels::HeadProblem;
using kernels::StatusCode;
using kernels::WindowCells;
using kernels::WindowMap;
using kernels::WindowRequest;

constexpr float kUntouched = -77.0f;

struct Cells {
  std::vector<float> mean, max_magnitude, positive, negative;
  std::int64_t stride;

  explicit Cells(const WindowRequest& request) : stride(request.cell_columns() + 3) {
    for (auto* array : {&mean, &max_magnitude, &positive, &negative})
      array->assign(static_cast<std::size_t>(request.cell_rows() * stride), kUntouched);
  }
  WindowCells view() { return {mean.data(), max_magnitude.data(), positive.data(), negative.data(), stride}; }
};

double entry(const DenseHead& dense, const HeadProblem<double>& problem, WindowMap map, std::int64_t i,
             std::int64_t j) {
  switch (map) {
    case WindowMap::Net: return dense.net(i, j);
    case WindowMap::First: return dense.maps[0].a(i, j);
    case WindowMap::Second: return dense.maps[1].a(i, j);
    case WindowMap::ScaledSecond: return problem.lambda[i] * dense.maps[1].a(i, j);
    case WindowMap::FirstLogits: return dense.maps[0].z(i, j);
    case WindowMap::SecondLogits: return dense.maps[1].z(i, j);
  }
  return NAN;
}

// Every cell by its definition; empty when all are right.
std::string wrong_cells(const Cells& found, const DenseHead& dense, const HeadProblem<double>& problem,
                        const WindowRequest& request) {
  double largest = 0.0;
  for (std::int64_t i = request.row_begin; i < request.row_begin + request.rows; ++i)
    for (std::int64_t j = request.key_begin; j < request.key_begin + request.keys; ++j)
      if (dense_visible(problem, i, j)) largest = std::max(largest, std::abs(entry(dense, problem, request.map, i, j)));
  std::ostringstream report;
  for (std::int64_t r = 0; r < request.cell_rows(); ++r)
    for (std::int64_t c = 0; c < found.stride; ++c) {
      double count = 0.0, sum = 0.0, magnitude = 0.0, positive = 0.0, negative = 0.0;
      for (std::int64_t i = r * request.reduction; i < std::min((r + 1) * request.reduction, request.rows); ++i)
        for (std::int64_t j = c * request.reduction; j < std::min((c + 1) * request.reduction, request.keys); ++j) {
          if (!dense_visible(problem, request.row_begin + i, request.key_begin + j)) continue;
          const double x = entry(dense, problem, request.map, request.row_begin + i, request.key_begin + j);
          count += 1.0, sum += x;
          if (std::abs(x) > std::abs(magnitude) || (x == -magnitude && x > 0.0)) magnitude = x;
          positive += std::max(x, 0.0), negative += std::max(-x, 0.0);
        }
      const auto at = static_cast<std::size_t>(r * found.stride + c);
      for (const auto& [name, value, expected] :
           {std::tuple("mean", found.mean[at], sum / count), std::tuple("max", found.max_magnitude[at], magnitude),
            std::tuple("positive", found.positive[at], positive / count),
            std::tuple("negative", found.negative[at], negative / count)}) {
        const bool right = c >= request.cell_columns() ? value == kUntouched
                           : count == 0.0 ? std::isnan(value)
                                          : std::abs(static_cast<double>(value) - expected) <= kTolerance * largest;
        if (!right)
          report << name << " of cell " << r << ", " << c << " is " << value << ", expected " << expected << "\n";
      }
    }
  return report.str().substr(0, 500);
}

template <class Input>
kernels::KernelStatus run_window(EmulatedMachine& machine, const HeadProblem<Input>& problem, const DenseHead& dense,
                                 const WindowRequest& request, Cells& cells) {
  const auto lse = [&](std::size_t m) { return problem.maps[m].present() ? dense.maps[m].lse.data() : nullptr; };
  return kernels::cuda::run_window<Input>(machine, problem, {lse(0), lse(1)}, request, cells.view(), {});
}

template <class Input>
void check_window(const AttentionCase& shape, std::int64_t length, const WindowRequest& request) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, 21));
  const HeadProblem<double> wide = tensors.wide(1);
  const DenseHead dense = dense_head(wide);
  EmulatedMachine machine, backward;
  backward.reversed = true;
  Cells cells(request), again(request);
  CATCH_INFO(shape.name << ", map " << static_cast<int>(request.map) << ", rows " << request.row_begin << " + "
                        << request.rows << ", keys " << request.key_begin << " + " << request.keys << ", reduction "
                        << request.reduction);
  CATCH_REQUIRE(run_window<Input>(machine, tensors.problem(1), dense, request, cells).ok());
  CATCH_CHECK(machine.memory == 0);
  const kernels::WindowNeeds needs = kernels::window_needs(wide, request.map);
  if (!needs.first && !needs.second) {
    for (std::int64_t c = 0; c < request.cell_columns(); ++c)
      CATCH_CHECK(std::isnan(cells.mean[static_cast<std::size_t>(c)]));
    CATCH_CHECK(cells.mean[static_cast<std::size_t>(request.cell_columns())] == kUntouched);
    return;
  }
  CATCH_CHECK(wrong_cells(cells, dense, wide, request) == "");
  CATCH_REQUIRE(run_window<Input>(backward, tensors.problem(1), dense, request, again).ok());
  CATCH_CHECK(std::memcmp(cells.mean.data(), again.mean.data(), cells.mean.size() * sizeof(float)) == 0);
}

}  // namespace

CATCH_TEST_CASE("emulated CUDA window: every map of every pairing, exact and pooled") {
  for (const AttentionCase& shape :
       std::vector<AttentionCase>{{.name = "single", .softcap = 3.0, .sink = 0.5, .window = 30},
                                  {.name = "V1", .pairing = Pairing::V1, .hidden_keys = {0, 1, 40}},
                                  {.name = "V2", .pairing = Pairing::V2, .temperature = 2.0, .causal = false},
                                  {.name = "second", .pairing = Pairing::SecondOnly},
                                  {.name = "bias, V2, cap", .pairing = Pairing::V2, .softcap = 4.0, .biased = true},
                                  {.name = "bias, window", .causal = false, .window = 30, .biased = true}})
    for (const WindowMap map : {WindowMap::Net, WindowMap::First, WindowMap::Second, WindowMap::ScaledSecond,
                                WindowMap::FirstLogits, WindowMap::SecondLogits})
      for (const std::int64_t reduction : {1, 5}) check_window<float>(shape, 75, {map, 3, 70, 2, 66, reduction});
}

CATCH_TEST_CASE("emulated CUDA window: any rectangle at any reduction") {
  const AttentionCase shape{.name = "V2", .pairing = Pairing::V2};
  for (const std::int64_t reduction : {1, 2, 3, 31, 33, 63, 64, 65, 100, 149, 1000}) {
    check_window<BFloat16>(shape, 150, {WindowMap::Net, 0, 150, 0, 150, reduction});
    check_window<Float16>(shape, 150, {WindowMap::First, 17, 101, 9, 70, reduction});
  }
  for (const auto& [row, key] : {std::pair(0, 0), std::pair(149, 0), std::pair(0, 149), std::pair(149, 149)})
    check_window<float>(shape, 150, {WindowMap::Net, row, 1, key, 1, 1});
}

CATCH_TEST_CASE(
    "emulated CUDA window: bands of rows fit together, and a stop between two of them leaves the cells alone") {
  const Tensors<BFloat16> tensors(random_attention<float>({.name = "V2", .pairing = Pairing::V2}, 150, 8));
  const DenseHead dense = dense_head(tensors.wide(0));
  const kernels::WindowLse lse = {dense.maps[0].lse.data(), dense.maps[1].lse.data()};
  for (const std::int64_t reduction : {1, 7, 70}) {
    const WindowRequest request{WindowMap::Net, 4, 146, 0, 150, reduction};
    EmulatedMachine machine;
    Cells cells(request), stopped(request);
    CATCH_REQUIRE(
        kernels::cuda::run_window<BFloat16>(machine, tensors.problem(0), lse, request, cells.view(), {}, 1.0).ok());
    CATCH_CHECK(wrong_cells(cells, dense, tensors.wide(0), request) == "");
    int looks = 0;
    CATCH_CHECK(kernels::cuda::run_window<BFloat16>(
                    machine, tensors.problem(0), lse, request, stopped.view(), [&] { return ++looks == 3; }, 1.0)
                    .code == StatusCode::Cancelled);
    CATCH_CHECK(stopped.mean == std::vector<float>(stopped.mean.size(), kUntouched));
    CATCH_CHECK(machine.memory == 0);
  }
}

CATCH_TEST_CASE("emulated CUDA window: large logits keep their weights exact, for the log-sum-exp comes in two parts") {
  AttentionCase shape{.name = "peaked", .deviation = 3.0};
  AttentionData<float> data = random_attention<float>(shape, 20, 5);
  for (std::size_t i = 0; i < data.key.size(); ++i) data.key[i] = i % 8 == 0 ? 100.0f : data.key[i];
  for (std::size_t i = 0; i < data.query.size(); ++i) data.query[i] = i % 8 == 0 ? 8.0f : data.query[i];
  const Tensors<float> tensors(data);  // every logit is near 283
  const DenseHead dense = dense_head(tensors.wide(0));
  EmulatedMachine machine;
  const WindowRequest request{WindowMap::First, 0, 20, 0, 20, 1};
  Cells cells(request);
  CATCH_REQUIRE(run_window<float>(machine, tensors.problem(0), dense, request, cells).ok());
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      CATCH_CHECK(std::abs(static_cast<double>(cells.mean[i * static_cast<std::size_t>(cells.stride) + j]) -
                           dense.maps[0].a(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j))) < 1e-4);
}

CATCH_TEST_CASE(
    "emulated CUDA window: what lies outside, lacks its log-sum-exp or is stopped is refused, and failures free memory") {
  const Tensors<float> tensors(random_attention<float>({.name = "V2", .pairing = Pairing::V2}, 20, 3));
  const HeadProblem<float> problem = tensors.problem(0);
  const std::vector<double> lse(20, 0.0);
  const auto code = [&](const WindowRequest& request, bool with_lse = true, bool stop = false) {
    EmulatedMachine machine;
    Cells cells({WindowMap::Net, 0, 30, 0, 30, 1});
    const auto result =
        kernels::cuda::run_window<float>(machine, problem, {lse.data(), with_lse ? lse.data() : nullptr}, request,
                                         cells.view(), [&] { return stop; })
            .code;
    CATCH_CHECK(machine.memory == 0);
    if (result != StatusCode::Ok) CATCH_CHECK(cells.mean == std::vector<float>(cells.mean.size(), kUntouched));
    return result;
  };
  CATCH_CHECK(code({WindowMap::Net, 0, 20, 0, 20, 1}) == StatusCode::Ok);
  CATCH_CHECK(code({WindowMap::Net, 20, 0, 0, 0, 1}) == StatusCode::Ok);
  CATCH_CHECK(code({WindowMap::Net, 0, 20, 0, 20, 1}, true, true) == StatusCode::Cancelled);
  CATCH_CHECK(code({WindowMap::Net, 1, 20, 0, 20, 1}) == StatusCode::InvalidArgument);
  CATCH_CHECK(code({WindowMap::Net, 0, 20, -1, 20, 1}) == StatusCode::InvalidArgument);
  CATCH_CHECK(code({WindowMap::Net, 0, 20, 0, 20, 0}) == StatusCode::InvalidArgument);
  CATCH_CHECK(code({WindowMap::Net, 0, 20, 0, 20, 1}, false) == StatusCode::InvalidArgument);
  CATCH_CHECK(code({WindowMap::First, 0, 20, 0, 20, 1}, false) == StatusCode::Ok);
  int failures = 0;
  for (int call = 0;; ++call) {
    EmulatedMachine machine;
    machine.fail_at_call = call;
    const WindowRequest request{WindowMap::Net, 0, 20, 0, 20, 2};
    Cells cells(request);
    const kernels::KernelStatus status =
        kernels::cuda::run_window<float>(machine, problem, {lse.data(), lse.data()}, request, cells.view(), {});
    CATCH_CHECK(machine.memory == 0);
    if (status.ok()) break;
    ++failures;
  }
  CATCH_CHECK(failures >= 5);
}

}  // namespace headroom::test
