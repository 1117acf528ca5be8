#include "core/compute/benchmark.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/DeviceGuard.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string_view>
#include <vector>

#include "core/base/format.h"
#include "core/compute/attention_backend.h"
#include "core/compute/benchmark_case.h"
#include "core/compute/device.h"
#include "core/compute/parallel.h"
#include "kernels/cpu/attention.h"
#include "kernels/cpu/peak.h"
#include "kernels/cpu/target.h"
#include "kernels/cpu/window.h"
#include "kernels/cuda/window.h"

namespace headroom {
namespace {

using Progress = std::function<void(double fraction, const std::string& what)>;

constexpr std::int64_t kFewestRounds = 3;
constexpr double kSdpasPerRound = 6.5;  // about, all variants together
constexpr std::int64_t kAccuracyLength = 1024;
constexpr std::int64_t kWindowLength = 131072, kWindowDim = 128, kWindowCells = 1024, kWindowRounds = 50;
constexpr double kWindowGoal = 0.005, kWindowGoalCuda = 0.016;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double clock_seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double cpu_seconds() { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(index, values.size() - 1)];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "unknown processor";
}

// Two softmax shapes of large models and a small one, h = 8, and pairs.
std::vector<BenchmarkShape> table_of_shapes(bool cuda) {
  if (cuda) return {{"softmax", 32, 32, 64}, {"softmax", 32, 8, 128}, {"diff_v2", 16, 8, 128}, {"diff_v1", 16, 16, 64}};
  return {{"softmax", 32, 8, 128}, {"softmax", 16, 16, 64}, {"softmax", 8, 2, 64},
          {"softmax", 8, 8, 64},   {"softmax", 8, 8, 128},  {"diff_v2", 8, 8, 64},
          {"diff_v2", 8, 8, 128},  {"diff_v1", 8, 8, 64},   {"diff_v1", 8, 8, 128}};
}

bool same_heads(const BenchmarkShape& a, const BenchmarkShape& b) {
  return a.kind == b.kind && a.heads == b.heads && a.kv_heads == b.kv_heads && a.head_dim == b.head_dim;
}

std::string shape_text(const BenchmarkShape& shape) {
  return format("%s %lldx%lldx%lld, n = %lld", shape.kind.c_str(), static_cast<long long>(shape.heads),
                static_cast<long long>(shape.kv_heads), static_cast<long long>(shape.head_dim),
                static_cast<long long>(shape.length));
}

Result<void> check_shape(const BenchmarkShape& shape) {
  Error error(ErrorCode::InvalidArgument, "this shape cannot be measured");
  error.at_tensor("--shapes");
  const bool known = shape.kind == "softmax" || shape.kind == "diff_v2" || shape.kind == "diff_v1";
  if (!known) return error.wanted("softmax, diff_v2 or diff_v1", shape.kind);
  const bool sizes = shape.heads >= 1 && shape.kv_heads >= 1 && shape.heads % shape.kv_heads == 0 &&
                     shape.heads <= 4096 && shape.head_dim >= 1 && shape.head_dim <= 4096 && shape.length >= 0 &&
                     shape.length <= (1 << 20);
  if (!sizes)
    return error.wanted(
        "heads up to 4096, a multiple of the key and value heads, up to 4096 channels and 1048576 tokens",
        shape_text(shape));
  return {};
}

// LibTorch's threads and the kernels' instructions, for a scope.
class Settings {
 public:
  explicit Settings(const BenchmarkRequest& request) : threads_(at::get_num_threads()), target_(request.target) {
    if (request.threads > 0) at::set_num_threads(static_cast<int>(request.threads));
  }
  ~Settings() {
    at::set_num_threads(threads_);
    if (!target_.empty()) (void)kernels::choose_cpu_target("");
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  Result<void> hold() {
    if (target_.empty() || kernels::choose_cpu_target(target_)) return {};
    std::string names;
    for (const std::string& name : kernels::cpu_targets()) names += (names.empty() ? "" : ", ") + name;
    Error error(ErrorCode::InvalidArgument, "the kernels have no such instructions here");
    error.at_tensor("--target").wanted(names, target_);
    return error;
  }

 private:
  const int threads_;
  const std::string target_;
};

class Benchmark {
 public:
  Benchmark(const BenchmarkRequest& request, at::Device device, const Progress& progress,
            const kernels::StopRequested& stop)
      : request_(request),
        device_(device),
        place_(at::TensorOptions().device(device).dtype(request.dtype == "bfloat16" ? at::kBFloat16 : at::kFloat)),
        progress_(progress),
        stop_(stop) {}

  Result<BenchmarkReport> run() {
    describe_machine();
    report_.data = request_.outliers ? "outliers" : "normal";
    std::vector<BenchmarkShape> shapes = planned_cases();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (stopped()) return cancelled();
      progress_(spent() / request_.budget_seconds, shape_text(shapes[i]));
      const std::string reason = why_not(shapes[i]);
      if (!reason.empty()) {
        report_.skipped.push_back({shapes[i], reason});
        continue;
      }
      // Half of an equal share: the longer ones after it need more.
      const double slice = 0.5 * left() / static_cast<double>(shapes.size() - i);
      HEADROOM_TRY_VOID(measure_case(shapes[i], slice));
      HEADROOM_TRY_VOID(measure_accuracy(shapes[i]));
    }
    if (request_.window) {
      progress_(spent() / request_.budget_seconds, "window");
      HEADROOM_TRY_VOID(measure_window());
    }
    compare_lengths();
    progress_(1.0, "done");
    report_.seconds = spent();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }
  static Error cancelled() { return Error(ErrorCode::Cancelled, "cancelled"); }
  [[nodiscard]] double spent() const { return wall_seconds() - begin_; }
  // For cases: the window comes after them.
  [[nodiscard]] double left() const { return 0.95 * request_.budget_seconds - spent(); }

  // By cost: those that may not fit come last.
  [[nodiscard]] std::vector<BenchmarkShape> planned_cases() const {
    std::vector<BenchmarkShape> cases;
    for (BenchmarkShape shape : request_.shapes.empty() ? table_of_shapes(device_.is_cuda()) : request_.shapes) {
      if (shape.length > 0) {
        cases.push_back(shape);
        continue;
      }
      for (const std::int64_t length : request_.lengths) {
        shape.length = length;
        cases.push_back(shape);
      }
    }
    std::ranges::stable_sort(cases, {}, attention_operations);
    return cases;
  }

  void describe_machine() {
    BenchmarkMachine& machine = report_.machine;
    machine.processor = processor_name();
    machine.torch_version = HEADROOM_TORCH_VERSION;
    machine.torch_capability = at::get_cpu_capability();
    machine.kernel_target = kernels::cpu_kernel_target();
    machine.threads = at::get_num_threads();
    machine.device = request_.device;
    machine.dtype = request_.dtype;
    if (device_.is_cuda()) {
      machine.processor = device_description(device_);
      machine.torch_capability = machine.kernel_target = "CUDA";
      progress_(0.0, "peak of products of matrices");
      machine.peak_gflops_all = peak_of_products();
      return;
    }
    avx2_ = machine.kernel_target == "AVX2";
    if (avx2_ && machine.torch_capability != "AVX2")
      machine.notes.push_back("the kernels use AVX2 and LibTorch " + machine.torch_capability +
                              ": ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 holds it to the same");
    progress_(0.0, "peak of multiply-adds");
    machine.peak_gflops_one = peak_gflops(1);
    machine.peak_gflops_all = machine.threads == 1 ? machine.peak_gflops_one : peak_gflops(machine.threads);
  }

  // What LibTorch's product of two matrices reaches on the device, in the type of the table.
  [[nodiscard]] double peak_of_products() const {
    constexpr std::int64_t kSize = 8192, kTries = 9;
    const at::Tensor a = at::randn({kSize, kSize}, place_), b = at::randn({kSize, kSize}, place_);
    at::Tensor c = at::empty_like(a);
    std::vector<double> tries;
    for (std::int64_t round = -2; round < kTries; ++round) {
      wait_for(device_);
      const double begin = wall_seconds();
      at::mm_out(c, a, b);
      wait_for(device_);
      if (round >= 0) tries.push_back(2.0 * kSize * kSize * kSize / (wall_seconds() - begin) * 1e-9);
    }
    return median(tries);
  }

  // Each thread by its own clock, so that other programs on the machine do not lower it; tries of some milliseconds.
  static double peak_gflops(std::int64_t threads) {
    constexpr int kTries = 9;
    constexpr double kSeconds = 0.01;
    std::int64_t steps = 100000;
    std::vector<double> tries;
    while (tries.size() < kTries) {
      std::vector<double> rates(static_cast<std::size_t>(threads)), seconds(rates.size());
      const auto measure = [&](std::size_t thread) {
        const double begin = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
        const double operations = kernels::run_multiply_adds(steps);
        seconds[thread] = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        rates[thread] = operations / seconds[thread] * 1e-9;
      };
      if (threads == 1)
        measure(0);
      else
        at::parallel_for(0, threads, 1, [&](std::int64_t first, std::int64_t last) {
          for (std::int64_t t = first; t < last; ++t) measure(static_cast<std::size_t>(t));
        });
      if (*std::ranges::min_element(seconds) < kSeconds)
        steps *= 2;
      else
        tries.push_back(std::accumulate(rates.begin(), rates.end(), 0.0));
    }
    return median(tries);
  }

  // Empty where the fewest rounds fit into the time that is left.
  [[nodiscard]] std::string why_not(const BenchmarkShape& shape) const {
    double rate = 0.4e9 * report_.machine.peak_gflops_all;
    for (const BenchmarkCase& known : report_.cases)
      if (known.shape.kind == shape.kind)
        rate = attention_operations(known.shape) / known.variants[0].time.median_seconds;
    const double round = kSdpasPerRound * attention_operations(shape) / rate;
    const double needed = round * static_cast<double>(1 + std::min(request_.rounds, kFewestRounds));
    if (needed <= left()) return "";
    return format("needs about %.0f s, and %.0f s of the %.0f s are left", needed, std::max(0.0, left()),
                  request_.budget_seconds);
  }

  Result<void> measure_case(const BenchmarkShape& shape, double slice) {
    BenchmarkInputs inputs(shape, place_, request_.outliers);
    const std::vector<BenchmarkInputs::Variant> variants = inputs.variants(avx2_, stop_);
    std::vector<std::vector<double>> wall(variants.size()), cpu(variants.size());
    const double begin = wall_seconds();
    for (std::int64_t round = 0; round <= request_.rounds; ++round) {
      const double before = wall_seconds();
      for (std::size_t v = 0; v < variants.size(); ++v) {
        const double wall_begin = wall_seconds(), cpu_begin = cpu_seconds();
        if (stopped()) return cancelled();
        HEADROOM_TRY_VOID(variants[v].run());
        if (stopped()) return cancelled();
        if (round == 0) continue;
        wall[v].push_back(wall_seconds() - wall_begin);
        cpu[v].push_back(cpu_seconds() - cpu_begin);
      }
      const double now = wall_seconds();
      if (round >= kFewestRounds && now + (now - before) - begin > slice) break;
    }
    add_case(inputs, shape, variants, wall, cpu);
    return {};
  }

  void add_case(const BenchmarkInputs& inputs, const BenchmarkShape& shape,
                const std::vector<BenchmarkInputs::Variant>& variants, const std::vector<std::vector<double>>& wall,
                const std::vector<std::vector<double>>& cpu) {
    BenchmarkCase result;
    result.shape = shape;
    result.rounds = static_cast<std::int64_t>(wall[0].size());
    result.yardstick = inputs.yardstick();
    result.sdpa_backend = inputs.sdpa_backend();
    for (std::size_t v = 0; v < variants.size(); ++v) {
      BenchmarkVariant variant;
      variant.name = variants[v].name;
      variant.time = {median(wall[v]), *std::ranges::min_element(wall[v]), median(cpu[v])};
      const BenchmarkTime& base = v == 0 ? variant.time : result.variants[0].time;
      variant.ratio_median = variant.time.median_seconds / base.median_seconds;
      variant.ratio_best = variant.time.best_seconds / base.best_seconds;
      variant.ratio_cpu = variant.time.cpu_seconds / base.cpu_seconds;
      variant.gflops = attention_operations(shape) / variant.time.best_seconds * 1e-9;
      variant.peak_fraction = variant.gflops / report_.machine.peak_gflops_all;
      // The goals are for long sequences, where fixed costs do not show.
      if (shape.length >= 2048) variant.goal = variants[v].goal;
      result.variants.push_back(std::move(variant));
    }
    report_.cases.push_back(std::move(result));
  }

  // Once for each kind of heads: the error hardly depends on the length.
  Result<void> measure_accuracy(const BenchmarkShape& measured) {
    for (const BenchmarkAccuracy& known : report_.accuracy)
      if (same_heads(known.shape, measured)) return {};
    BenchmarkShape shape = measured;
    shape.length = std::min(shape.length, kAccuracyLength);
    HEADROOM_TRY(BenchmarkAccuracy accuracy, BenchmarkInputs(shape, place_, request_.outliers).accuracy());
    report_.accuracy.push_back(std::move(accuracy));
    return {};
  }

  // The last 1024 rows of one head of 131,072 tokens, each time another stretch of its keys.
  Result<void> measure_window() {
    return place_.dtype() == at::kFloat ? measure_window_of<float>() : measure_window_of<kernels::BFloat16>();
  }

  template <typename Input>
  Result<void> measure_window_of() {
    const at::Tensor inputs = at::randn({2, kWindowLength, kWindowDim}, place_);
    const at::Tensor query = inputs[0], key = inputs[1];
    const std::int64_t first_row = kWindowLength - kWindowCells;
    const double scale = 1.0 / std::sqrt(static_cast<double>(kWindowDim));
    std::vector<double> lse(static_cast<std::size_t>(kWindowLength));
    const at::Tensor wide_keys = key.to(at::kFloat).t();
    for (std::int64_t row = first_row; row < kWindowLength; row += 64) {
      if (stopped()) return cancelled();
      const auto positions = at::TensorOptions().dtype(at::kLong).device(device_);
      const at::Tensor scores = at::mul(at::matmul(query.narrow(0, row, 64).to(at::kFloat), wide_keys), scale);
      const at::Tensor rows = at::arange(row, row + 64, positions).unsqueeze(1),
                       keys = at::arange(kWindowLength, positions).unsqueeze(0);
      const at::Tensor sums =
          scores.masked_fill(keys > rows, -INFINITY).to(at::kDouble).logsumexp(1).to(at::kCPU).contiguous();
      std::copy_n(sums.const_data_ptr<double>(), 64, lse.begin() + row);
    }
    kernels::HeadProblem<Input> problem;
    problem.mask.length = kWindowLength;
    problem.head_dim = problem.value_dim = kWindowDim;
    problem.scale = scale;
    const auto numbers = [](const at::Tensor& t) { return static_cast<const Input*>(t.const_data_ptr()); };
    problem.maps[0] = {numbers(query), numbers(key), numbers(key), kWindowDim, kWindowDim, kWindowDim};
    std::vector<float> cells(static_cast<std::size_t>(kWindowCells * kWindowCells));
    kernels::WindowRequest window;
    window.row_begin = first_row;
    window.rows = window.keys = kWindowCells;
    std::vector<double> times;
    for (std::int64_t round = -3; round < kWindowRounds; ++round) {
      window.key_begin = (round + 3) * (first_row - kWindowCells) / (kWindowRounds + 3);
      const double begin = wall_seconds();
      HEADROOM_TRY_VOID(
          fill_window<Input>(problem, {lse.data(), nullptr}, window, {.mean = cells.data(), .stride = kWindowCells}));
      if (round >= 0) times.push_back(wall_seconds() - begin);
    }
    BenchmarkWindow result{kWindowLength, kWindowDim, kWindowCells, kWindowCells, kWindowRounds};
    result.p50_seconds = quantile(times, 0.5);
    result.p95_seconds = quantile(times, 0.95);
    result.best_seconds = *std::ranges::min_element(times);
    result.gflops = 2.0 * kWindowCells * kWindowCells * kWindowDim / result.best_seconds * 1e-9;
    result.peak_fraction = result.gflops / report_.machine.peak_gflops_all;
    result.goal_seconds = device_.is_cuda() ? kWindowGoalCuda : kWindowGoal;
    report_.window = result;
    return {};
  }

  template <typename Input>
  Result<void> fill_window(const kernels::HeadProblem<Input>& problem, const kernels::WindowLse& lse,
                           const kernels::WindowRequest& window, const kernels::WindowCells& cells) const {
    if (device_.is_cpu()) {
      if (!kernels::cpu_window<Input>(problem, lse, window, cells, run_tasks, stop_)) return cancelled();
    } else {
      const kernels::KernelStatus status =
          kernels::cuda_window<Input>(problem, lse, window, cells, kernels::StreamView(nullptr), stop_);
      if (!status.ok()) return status_error(status);
    }
    if (stopped()) return cancelled();
    return {};
  }

  void compare_lengths() {
    const auto best = [](const BenchmarkCase& measured, std::string_view name) {
      const auto found = std::ranges::find(measured.variants, name, &BenchmarkVariant::name);
      return found->time.best_seconds;
    };
    for (const BenchmarkCase& once : report_.cases)
      for (const BenchmarkCase& twice : report_.cases)
        if (same_heads(once.shape, twice.shape) && twice.shape.length == 2 * once.shape.length)
          report_.scaling.push_back({once.shape, best(twice, "sdpa") / best(once, "sdpa"),
                                     best(twice, "row_statistics") / best(once, "row_statistics"),
                                     best(twice, "everything") / best(once, "everything")});
  }

  const BenchmarkRequest& request_;
  const at::Device device_;
  const at::TensorOptions place_;
  const Progress& progress_;
  const kernels::StopRequested& stop_;
  const double begin_ = wall_seconds();
  bool avx2_ = false;
  BenchmarkReport report_;
};

}  // namespace

Result<BenchmarkReport> run_benchmark(const BenchmarkRequest& request, const Progress& progress,
                                      const kernels::StopRequested& stop) {
  for (const BenchmarkShape& shape : request.shapes) HEADROOM_TRY_VOID(check_shape(shape));
  Settings settings(request);
  HEADROOM_TRY_VOID(settings.hold());
  HEADROOM_TRY(const at::Device device, open_device(request.device));
  const c10::DeviceGuard guard(device);
  return Benchmark(request, device, progress, stop).run();
}

}  // namespace headroom
