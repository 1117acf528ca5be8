// The benchmark: what it measures and reports, what it refuses, that it ends when asked and leaves no setting behind.
// Times are never compared.
#include "core/compute/benchmark.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "core/compute/benchmark_case.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/target.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

const auto kQuiet = [](double, const std::string&) {};

BenchmarkRequest small_request(std::vector<BenchmarkShape> shapes) {
  BenchmarkRequest request;
  request.shapes = std::move(shapes);
  request.rounds = 2;
  request.window = false;
  return request;
}

std::vector<std::string> names_of(const BenchmarkCase& measured) {
  std::vector<std::string> names;
  for (const BenchmarkVariant& variant : measured.variants) names.push_back(variant.name);
  return names;
}

}  // namespace

CATCH_TEST_CASE("benchmark: operations are those of the visible half of every map") {
  // 2 · 64 for a score and 2 · 64 for a weighted value, 8 heads, 1024² / 2 of them.
  CATCH_CHECK(attention_operations({"softmax", 8, 2, 64, 1024}) == 8.0 * 256 * 524288);
  CATCH_CHECK(attention_operations({"diff_v2", 8, 2, 64, 1024}) == 2 * 8.0 * 256 * 524288);
  // Values of two maps, each twice as wide.
  CATCH_CHECK(attention_operations({"diff_v1", 8, 8, 64, 1024}) == 2 * 8.0 * 384 * 524288);
}

CATCH_TEST_CASE("benchmark: every case has every variant, and ratios are those of its times") {
  const auto report = run_benchmark(
      small_request(
          {{"softmax", 4, 2, 16, 96}, {"diff_v2", 2, 1, 16, 48}, {"diff_v1", 2, 2, 16, 48}, {"softmax", 4, 2, 16, 48}}),
      kQuiet, {});
  CATCH_REQUIRE(report);
  CATCH_REQUIRE(report->cases.size() == 4);
  CATCH_CHECK(report->skipped.empty());
  CATCH_CHECK(!report->window);
  const std::vector<std::string> expected = {"sdpa",       "context",       "row_statistics",
                                             "everything", "rounds_to_one", "histograms"};
  for (const BenchmarkCase& measured : report->cases) {
    CATCH_INFO(measured.shape.kind);
    std::vector<std::string> names = names_of(measured);
    CATCH_CHECK((std::erase(names, "sdpa_narrow_values") == 1) == (measured.shape.kind == "diff_v1"));
    CATCH_CHECK(names == expected);
    CATCH_CHECK(measured.rounds == 2);
    CATCH_CHECK(!measured.yardstick.empty());
    CATCH_CHECK(measured.sdpa_backend == "flash");
    const BenchmarkTime& base = measured.variants[0].time;
    for (const BenchmarkVariant& variant : measured.variants) {
      CATCH_CHECK(variant.time.best_seconds > 0.0);
      CATCH_CHECK(variant.time.best_seconds <= variant.time.median_seconds);
      CATCH_CHECK(variant.ratio_median == variant.time.median_seconds / base.median_seconds);
      CATCH_CHECK(variant.ratio_best == variant.time.best_seconds / base.best_seconds);
      CATCH_CHECK(variant.gflops * 1e9 * variant.time.best_seconds == near(attention_operations(measured.shape), 1e-9));
      CATCH_CHECK(variant.peak_fraction == variant.gflops / report->machine.peak_gflops_all);
      CATCH_CHECK(!variant.goal);  // goals are for n ≥ 2048
    }
  }
  // Shorter ones first.
  CATCH_CHECK(report->cases[0].shape.length == 48);
  CATCH_CHECK(report->cases[3].shape.length == 96);
  CATCH_REQUIRE(report->scaling.size() == 1);
  CATCH_CHECK(report->scaling[0].shape.length == 48);
  CATCH_CHECK(report->scaling[0].everything > 0.0);
}

CATCH_TEST_CASE("benchmark: goals (kernels/README.md#speed) from n = 2048 on, for AVX2 those of AVX2") {
  const auto variants_of = [](const BenchmarkShape& shape, bool avx2) {
    return BenchmarkInputs(shape, at::kFloat, false).variants(avx2, {});
  };
  const auto goal = [](const auto& variants, const char* name) {
    return std::ranges::find(variants, name, [](const auto& variant) { return variant.name; })->goal;
  };
  const auto wide = variants_of({"softmax", 2, 1, 16, 32}, false),
             narrow = variants_of({"softmax", 2, 1, 16, 32}, true);
  CATCH_CHECK(goal(wide, "row_statistics") == 0.75);
  CATCH_CHECK(goal(wide, "everything") == 1.15);
  CATCH_CHECK(goal(narrow, "row_statistics") == 0.8);
  CATCH_CHECK(goal(narrow, "everything") == 1.25);
  CATCH_CHECK(!goal(wide, "histograms"));
  const auto pair = variants_of({"diff_v2", 2, 1, 16, 32}, false);
  CATCH_CHECK(!goal(pair, "row_statistics"));
  CATCH_CHECK(goal(pair, "everything") == 1.15);

  const auto report = run_benchmark(small_request({{"softmax", 1, 1, 16, 2048}}), kQuiet, {});
  CATCH_REQUIRE(report);
  CATCH_CHECK(report->cases[0].variants[3].goal.has_value());
}

CATCH_TEST_CASE("benchmark: the kernels' errors are those of float32") {
  const auto report = run_benchmark(
      small_request({{"softmax", 4, 2, 64, 200}, {"diff_v2", 2, 1, 32, 200}, {"diff_v1", 2, 1, 32, 200}}), kQuiet, {});
  CATCH_REQUIRE(report);
  CATCH_REQUIRE(report->accuracy.size() == 3);
  for (const BenchmarkAccuracy& accuracy : report->accuracy) {
    // 1e-5: float32 sums of 10³ terms. Not exact either: a zero would mean that nothing was compared.
    CATCH_CHECK(accuracy.context_error > 0.0);
    CATCH_CHECK(accuracy.context_error < 1e-5);
    // The yardstick computes the same contexts.
    CATCH_CHECK(accuracy.sdpa_context_error > 0.0);
    CATCH_CHECK(accuracy.sdpa_context_error < 1e-5);
    CATCH_CHECK(accuracy.column_sum_error > 0.0);
    CATCH_CHECK(accuracy.column_sum_error < 1e-5);
  }
}

CATCH_TEST_CASE("benchmark: what does not fit into its time is named, not measured") {
  BenchmarkRequest request = small_request({{"softmax", 1, 1, 16, 32}, {"softmax", 32, 8, 128, 1 << 20}});
  request.budget_seconds = 30.0;
  const auto report = run_benchmark(request, kQuiet, {});
  CATCH_REQUIRE(report);
  CATCH_CHECK(report->cases.size() == 1);
  CATCH_REQUIRE(report->skipped.size() == 1);
  CATCH_CHECK(report->skipped[0].shape.length == 1 << 20);
  CATCH_CHECK(report->skipped[0].reason.find("30 s") != std::string::npos);
}

CATCH_TEST_CASE("benchmark: threads and instructions are held and given back") {
  const int threads = at::get_num_threads();
  const std::string best = kernels::cpu_kernel_target();
  BenchmarkRequest request = small_request({{"softmax", 1, 1, 16, 32}});
  request.threads = threads + 1;
  request.target = kernels::cpu_targets().back();
  const auto report = run_benchmark(request, kQuiet, {});
  CATCH_REQUIRE(report);
  CATCH_CHECK(report->machine.threads == threads + 1);
  CATCH_CHECK(report->machine.kernel_target == request.target);
  CATCH_CHECK(at::get_num_threads() == threads);
  CATCH_CHECK(kernels::cpu_kernel_target() == best);
  CATCH_CHECK(report->machine.peak_gflops_one > 0.0);
  CATCH_CHECK(report->machine.peak_gflops_all > 0.0);
}

CATCH_TEST_CASE("benchmark: shapes and instructions that are not there are refused") {
  const std::vector<BenchmarkShape> wrong = {{"diff_v3", 1, 1, 16, 32},
                                             {"softmax", 3, 2, 16, 32},
                                             {"softmax", 0, 1, 16, 32},
                                             {"softmax", 1, 1, 0, 32},
                                             {"softmax", 1, 1, 16, 2 << 20}};
  for (const BenchmarkShape& shape : wrong) {
    const auto report = run_benchmark(small_request({shape}), kQuiet, {});
    CATCH_REQUIRE(!report);
    CATCH_CHECK(report.error().code == ErrorCode::InvalidArgument);
  }
  BenchmarkRequest request = small_request({{"softmax", 1, 1, 16, 32}});
  request.target = "AVX9";
  const auto report = run_benchmark(request, kQuiet, {});
  CATCH_REQUIRE(!report);
  CATCH_CHECK(report.error().code == ErrorCode::InvalidArgument);
  CATCH_CHECK(describe(report.error()).find("AVX9") != std::string::npos);
}

CATCH_TEST_CASE("benchmark: a stop ends it, before and between rounds") {
  for (const int after : {0, 1, 4, 9}) {
    std::atomic<int> asked = 0;
    const auto report =
        run_benchmark(small_request({{"softmax", 1, 1, 16, 32}}), kQuiet, [&] { return asked++ >= after; });
    CATCH_INFO(after);
    CATCH_REQUIRE(!report);
    CATCH_CHECK(report.error().code == ErrorCode::Cancelled);
  }
}

}  // namespace headroom::test
