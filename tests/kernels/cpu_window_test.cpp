// Windows of maps: the CPU kernel against the definition, at every reduction and for every kind of head.
#include "kernels/cpu/window.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "kernels/reference/attention.h"
#include "kernels/reference/window.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

using kernels::WindowCells;
using kernels::WindowMap;
using kernels::WindowRequest;

constexpr WindowMap kMaps[] = {WindowMap::Net,          WindowMap::First,       WindowMap::Second,
                               WindowMap::ScaledSecond, WindowMap::FirstLogits, WindowMap::SecondLogits};

void serial(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

// The four planes of a window, with a margin that nothing may write.
struct Planes {
  explicit Planes(const WindowRequest& request)
      : stride(request.cell_columns() + 3),
        size(request.cell_rows() * stride),
        values(static_cast<std::size_t>(4 * size), -77.0F) {}
  [[nodiscard]] WindowCells cells() {
    float* data = values.data();
    return {data, data + size, data + 2 * size, data + 3 * size, stride};
  }
  std::int64_t stride, size;
  std::vector<float> values;
};

template <typename Input>
kernels::WindowLse reference_lse(const kernels::HeadProblem<double>& problem, std::array<std::vector<double>, 2>& lse,
                                 const kernels::HeadProblem<Input>&) {
  for (std::size_t m = 0; m < 2; ++m)
    for (std::int64_t i = 0; problem.maps[m].present() && i < problem.mask.length; ++i)
      lse[m].push_back(kernels::reference_row(problem, m, i).lse);
  return {lse[0].data(), lse[1].data()};
}

double largest_of(const std::vector<float>& values) {
  double largest = 1e-30;
  for (const float value : values)
    if (!std::isnan(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

// Cell by cell within the bound, and NaN exactly where nothing is visible.
std::string mismatch(const std::vector<float>& found, const std::vector<float>& expected, double bound) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
    const double error = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    if (!(error <= bound)) {
      std::ostringstream text;
      text << "cell " << i << " is " << found[i] << ", expected " << expected[i] << " within " << bound;
      return text.str();
    }
  }
  return "";
}

void check_window(const AttentionData<float>& data, std::int64_t head, const WindowRequest& request) {
  const AttentionData<double> exact = widened(data);
  const auto problem = data.problem(head);
  const auto wide = exact.problem(head);
  std::array<std::vector<double>, 2> lse;
  const kernels::WindowLse rows = reference_lse(wide, lse, problem);
  Planes found(request), expected(request);
  kernels::reference_window(wide, request, expected.cells());
  CATCH_REQUIRE(kernels::cpu_window<float>(problem, rows, request, found.cells(), serial, nullptr));
  CATCH_INFO(data.shape.name << ", length " << data.length << ", map " << static_cast<int>(request.map)
                             << ", rows from " << request.row_begin << ": " << request.rows << ", keys from "
                             << request.key_begin << ": " << request.keys << ", reduction " << request.reduction);
  const auto plane = [&](const Planes& planes, std::ptrdiff_t index) {
    std::vector<float> cells;
    for (std::int64_t row = 0; row < request.cell_rows(); ++row)
      for (std::int64_t column = 0; column < request.cell_columns(); ++column)
        cells.push_back(planes.values[static_cast<std::size_t>(index * planes.size + row * planes.stride + column)]);
    return cells;
  };
  // A weight's relative error is a few float roundings of its logit; means are off by as much of the mean magnitude.
  const double relative = 4e-7 * (1.0 + 8.0 * data.shape.deviation * data.shape.deviation);
  const std::vector<float> positive = plane(expected, 2), negative = plane(expected, 3);
  std::vector<float> magnitude;
  for (std::size_t i = 0; i < positive.size(); ++i) magnitude.push_back(positive[i] + negative[i]);
  for (const std::ptrdiff_t index : {0, 1, 2, 3}) {
    const double scale = index == 1 ? largest_of(plane(expected, 1)) : largest_of(magnitude);
    CATCH_INFO("plane " << index);
    CATCH_CHECK(mismatch(plane(found, index), plane(expected, index), relative * scale) == "");
  }
  for (std::size_t i = 0; i < found.values.size(); ++i)
    if (static_cast<std::int64_t>(i) % found.stride >= request.cell_columns() && found.values[i] != -77.0F)
      CATCH_FAIL("the margin of row " << i / static_cast<std::size_t>(found.stride) << " was written");
}

}  // namespace

CATCH_TEST_CASE("cpu window: the whole map of every case, exact and pooled, for every kind of map") {
  std::uint64_t seed = 1;
  for (const AttentionCase& shape : attention_cases()) {
    const auto data = random_attention<float>(shape, 67, ++seed);
    for (const WindowMap map : kMaps)
      for (const std::int64_t reduction : {1, 2, 5, 67, 100})
        check_window(data, shape.heads - 1, {map, 0, 67, 0, 67, reduction});
  }
}

CATCH_TEST_CASE("cpu window: any rectangle at any reduction") {
  const AttentionCase shape{.name = "V2", .pairing = Pairing::V2, .heads = 1, .head_dim = 20};
  const auto data = random_attention<float>(shape, 1100, 5);
  for (const WindowRequest& request : std::vector<WindowRequest>{{WindowMap::Net, 1000, 1, 3, 1, 1},
                                                                 {WindowMap::Net, 700, 300, 100, 500, 1},
                                                                 {WindowMap::Net, 513, 579, 47, 700, 7},
                                                                 {WindowMap::First, 0, 1100, 0, 1100, 64},
                                                                 {WindowMap::Net, 0, 1100, 0, 1100, 300},
                                                                 {WindowMap::ScaledSecond, 900, 200, 1000, 100, 3},
                                                                 {WindowMap::Second, 10, 50, 60, 1000, 1}})
    check_window(data, 0, request);
}

CATCH_TEST_CASE("cpu window: bfloat16 inputs give the windows of the same numbers in float32") {
  const AttentionCase shape{.name = "softmax", .heads = 1, .head_dim = 24};
  auto data = random_attention<float>(shape, 150, 6);
  std::vector<kernels::BFloat16> query, key;
  const auto round = [](std::vector<float>& values, std::vector<kernels::BFloat16>& rounded) {
    for (float& value : values) {
      const auto bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
      rounded.push_back({bits});
      value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
  };
  round(data.query, query);
  round(data.key, key);
  const auto wide = widened(data).problem(0);
  const auto plain = data.problem(0);
  kernels::HeadProblem<kernels::BFloat16> problem;
  problem.mask.length = 150;
  problem.head_dim = 24;
  problem.value_dim = plain.value_dim;
  problem.scale = plain.scale;
  problem.maps[0] = {query.data(), key.data(), nullptr, plain.maps[0].query_stride, plain.maps[0].key_stride, 0};
  const auto exact_data = widened(data);
  std::array<std::vector<double>, 2> lse;
  const kernels::WindowLse rows = reference_lse(exact_data.problem(0), lse, plain);
  const WindowRequest request{WindowMap::First, 3, 140, 1, 149, 3};
  Planes found(request), expected(request);
  CATCH_REQUIRE(kernels::cpu_window<kernels::BFloat16>(problem, rows, request, found.cells(), serial, nullptr));
  CATCH_REQUIRE(kernels::cpu_window<float>(plain, rows, request, expected.cells(), serial, nullptr));
  CATCH_CHECK(mismatch(found.values, expected.values, 1e-6) == "");
}

CATCH_TEST_CASE("cpu window: rows of padding are empty and large logits lose no digits") {
  AttentionCase shape{.name = "peaked", .heads = 1, .head_dim = 16, .deviation = 8.0};
  auto data = random_attention<float>(shape, 120, 9);
  check_window(data, 0, {WindowMap::First, 0, 120, 0, 120, 1});
  const auto exact = widened(data);
  auto problem = data.problem(0);
  auto wide = exact.problem(0);
  problem.mask.first_key = wide.mask.first_key = 10;
  std::array<std::vector<double>, 2> lse;
  const kernels::WindowLse rows = reference_lse(wide, lse, problem);
  const WindowRequest request{WindowMap::First, 0, 30, 0, 30, 1};
  Planes found(request), expected(request);
  kernels::reference_window(wide, request, expected.cells());
  CATCH_REQUIRE(kernels::cpu_window<float>(problem, rows, request, found.cells(), serial, nullptr));
  CATCH_CHECK(mismatch(found.values, expected.values, 1e-4) == "");
  CATCH_CHECK(std::isnan(found.values[0]));
  CATCH_CHECK(std::isnan(found.values[static_cast<std::size_t>(12 * found.stride + 9)]));
  CATCH_CHECK(!std::isnan(found.values[static_cast<std::size_t>(12 * found.stride + 10)]));
}

CATCH_TEST_CASE("cpu window: a map that the head lacks is empty, and unwanted planes stay untouched") {
  const AttentionCase shape{.name = "softmax", .heads = 1};
  const auto data = random_attention<float>(shape, 40, 2);
  const WindowRequest request{WindowMap::SecondLogits, 0, 40, 0, 40, 4};
  Planes planes(request);
  CATCH_REQUIRE(kernels::cpu_window<float>(data.problem(0), {}, request, planes.cells(), serial, nullptr));
  CATCH_CHECK(std::isnan(planes.values[0]));
  Planes only(request);
  WindowCells cells = only.cells();
  cells.mean = cells.positive = nullptr;
  CATCH_REQUIRE(kernels::cpu_window<float>(data.problem(0), {}, request, cells, serial, nullptr));
  CATCH_CHECK(only.values[0] == -77.0F);
  CATCH_CHECK(std::isnan(only.values[static_cast<std::size_t>(only.size)]));
}

CATCH_TEST_CASE("cpu window: the same bits on any number of threads, and an early end when asked") {
  const AttentionCase shape{.name = "V1", .pairing = Pairing::V1, .heads = 1, .head_dim = 16, .lambda = 0.7};
  const auto data = random_attention<float>(shape, 700, 3);
  std::array<std::vector<double>, 2> lse;
  const auto exact = widened(data);
  const kernels::WindowLse rows = reference_lse(exact.problem(0), lse, data.problem(0));
  const WindowRequest request{WindowMap::Net, 20, 680, 0, 700, 3};
  const auto threads = [](int count) {
    return [count](std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
      std::atomic<std::int64_t> next{tasks - 1};
      std::vector<std::thread> pool;
      for (int t = 0; t < count; ++t)
        pool.emplace_back([&] {
          for (std::int64_t task = next--; task >= 0; task = next--) body(task);
        });
      for (std::thread& thread : pool) thread.join();
    };
  };
  Planes one(request), four(request);
  CATCH_REQUIRE(kernels::cpu_window<float>(data.problem(0), rows, request, one.cells(), serial, nullptr));
  CATCH_REQUIRE(kernels::cpu_window<float>(data.problem(0), rows, request, four.cells(), threads(4), nullptr));
  for (std::size_t i = 0; i < one.values.size(); ++i)
    if (std::bit_cast<std::uint32_t>(one.values[i]) != std::bit_cast<std::uint32_t>(four.values[i]))
      CATCH_FAIL("cell " << i);
  int polls = 0;
  const auto stop = [&polls] { return ++polls > 2; };
  CATCH_CHECK_FALSE(kernels::cpu_window<float>(data.problem(0), rows, request, one.cells(), serial, stop));
  CATCH_CHECK(polls == 3);
}

}  // namespace headroom::test
