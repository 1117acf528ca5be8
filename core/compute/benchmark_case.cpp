#include "core/compute/benchmark_case.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/compute/attention_backend.h"
#include "core/compute/device.h"
#include "core/measure/quantity.h"
#include "kernels/reference/attention.h"

namespace headroom {
namespace {

constexpr double kLambda = 0.4;

struct Goals {
  double row_statistics, everything;
};
constexpr Goals kGoals{0.75, 1.15}, kGoalsAvx2{0.8, 1.25}, kGoalsCuda{1.25, 2.0};

// What LibTorch would use (at::native's SDPBackend).
const char* sdpa_choice(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  constexpr const char* kNames[] = {"math", "flash", "efficient", "cudnn"};
  const bool grouped = query.size(1) != key.size(1);
  const std::int64_t choice = at::_fused_sdp_choice(query, key, value, {}, 0.0, true, std::nullopt, grouped);
  return choice >= 0 && choice < std::ssize(kNames) ? kNames[choice] : "math";
}

bool fused(const std::string& choice) { return choice != "math"; }

// Holds LibTorch's attention to its flash kernels or to cuDNN's, for a scope; on the CPU it has one.
class HoldSdpa {
 public:
  explicit HoldSdpa(bool cudnn) {
    at::globalContext().setSDPUseCuDNN(cudnn);
    at::globalContext().setSDPUseFlash(!cudnn);
    at::globalContext().setSDPUseMemEfficient(!cudnn);
  }
  ~HoldSdpa() {
    at::globalContext().setSDPUseCuDNN(cudnn_);
    at::globalContext().setSDPUseFlash(flash_);
    at::globalContext().setSDPUseMemEfficient(efficient_);
  }
  HoldSdpa(const HoldSdpa&) = delete;
  HoldSdpa& operator=(const HoldSdpa&) = delete;

 private:
  const bool cudnn_ = at::globalContext().userEnabledCuDNNSDP(), flash_ = at::globalContext().userEnabledFlashSDP(),
             efficient_ = at::globalContext().userEnabledMemEfficientSDP();
};

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  return at::scaled_dot_product_attention(query, key, value, {}, 0.0, true, std::nullopt, query.size(1) != key.size(1));
}

// Largest |Δ| over the largest magnitude of its row, worst row.
double worst_row(const std::vector<double>& exact, const float* found, std::int64_t rows, std::int64_t channels) {
  double worst = 0.0;
  for (std::int64_t row = 0; row < rows; ++row) {
    double largest = 0.0, error = 0.0;
    for (std::int64_t i = row * channels; i < (row + 1) * channels; ++i) {
      const double value = exact[static_cast<std::size_t>(i)];
      largest = std::max(largest, std::abs(value));
      error = std::max(error, std::abs(static_cast<double>(found[i]) - value));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

}  // namespace

double attention_operations(const BenchmarkShape& shape) {
  const double n = static_cast<double>(shape.length), d = static_cast<double>(shape.head_dim);
  const double maps = shape.kind == "softmax" ? 1.0 : 2.0;
  const double value_dim = shape.kind == "diff_v1" ? 2.0 * d : d;
  return static_cast<double>(shape.heads) * maps * (2.0 * d + 2.0 * value_dim) * n * n / 2.0;
}

BenchmarkInputs::BenchmarkInputs(const BenchmarkShape& shape, at::TensorOptions place, bool outliers)
    : shape_(shape),
      map_count_(shape.kind == "softmax" ? 1 : 2),
      value_dim_(shape.kind == "diff_v1" ? 2 * shape.head_dim : shape.head_dim),
      place_(place) {
  const std::int64_t n = shape.length, d = shape.head_dim;
  at::Generator generator = at::globalContext().defaultGenerator(place.device()).clone();
  generator.set_current_seed(1);
  const auto random = [&](std::int64_t heads, std::int64_t channels) {
    return at::randn({1, heads, n, channels}, generator, place);
  };
  const auto projected = [&](std::int64_t heads) {
    at::Tensor x = random(heads, d);
    if (outliers) x.add_(random(heads, d).mul_(10.0).mul_(at::empty_like(x).bernoulli_(0.001, generator)));
    return x;
  };
  for (int m = 0; m < map_count_; ++m) {
    const bool shared_key = m > 0 && shape.kind == "diff_v2";
    maps_.push_back({projected(shape.heads), shared_key ? maps_[0].key : projected(shape.kv_heads)});
  }
  value_ = random(shape.kv_heads, value_dim_);
  context_ = at::empty({n, shape.heads, value_dim_}, place.dtype(at::kFloat));
  lambda_.assign(static_cast<std::size_t>(n), kLambda);
  choose_sdpa();
}

// The fastest way through LibTorch's attention that yields every map's context.
void BenchmarkInputs::choose_sdpa() {
  const HoldSdpa hold(false);
  at::Tensor query = maps_[0].query;
  if (shape_.kind == "diff_v2") {
    // In the order of the layer's projection: the two maps of a head are neighbours, so that groups stay together.
    query = at::stack({maps_[0].query, maps_[1].query}, 2).view({1, 2 * shape_.heads, shape_.length, shape_.head_dim});
    yardstick_ = "one call on twice the query heads, keys and values shared";
    sdpa_calls_ = {{query, maps_[0].key, value_}};
  } else if (shape_.kind == "diff_v1") {
    const std::int64_t d = shape_.head_dim;
    yardstick_ = "one call for each map, its values twice as wide as its keys";
    for (const Map& map : maps_) sdpa_calls_.push_back({map.query, map.key, value_});
    if (!fused(sdpa_choice(maps_[0].query, maps_[0].key, value_))) {
      // Values as wide as the keys are what LibTorch's flash kernels take; without them the maps lie in memory whole.
      yardstick_ = "two calls for each map, one for each half of its values, which are twice as wide as its keys";
      sdpa_calls_.clear();
      for (const Map& map : maps_)
        for (const std::int64_t half : {0, 1})
          sdpa_calls_.push_back({map.query, map.key, value_.narrow(3, half * d, d)});
    }
  } else {
    yardstick_ = "one call";
    sdpa_calls_ = {{query, maps_[0].key, value_}};
  }
  if (shape_.heads != shape_.kv_heads &&
      !fused(sdpa_choice(sdpa_calls_[0].query, sdpa_calls_[0].key, sdpa_calls_[0].value))) {
    yardstick_ += ", keys and values repeated for each query head beforehand";
    for (Call& call : sdpa_calls_) {
      const std::int64_t group = call.query.size(1) / call.key.size(1);
      call.key = call.key.repeat_interleave(group, 1);
      call.value = call.value.repeat_interleave(group, 1);
    }
  }
  const Call& call = sdpa_calls_[0];
  sdpa_backend_ = sdpa_choice(call.query, call.key, call.value);
  const HoldSdpa other(true);
  has_cudnn_ = std::string_view(sdpa_choice(call.query, call.key, call.value)) == "cudnn";
}

void BenchmarkInputs::run_sdpa(bool cudnn) const {
  const HoldSdpa hold(cudnn);
  for (const Call& call : sdpa_calls_) (void)attend(call.query, call.key, call.value);
}

// Head 0's context by the yardstick, [n, value_dim].
at::Tensor BenchmarkInputs::sdpa_context() const {
  const HoldSdpa hold(false);
  std::vector<at::Tensor> found;
  for (const Call& call : sdpa_calls_) found.push_back(attend(call.query, call.key, call.value)[0]);
  if (map_count_ == 1) return found[0][0].contiguous();
  if (shape_.kind == "diff_v2") return (found[0][0].to(at::kFloat) - kLambda * found[0][1].to(at::kFloat)).contiguous();
  std::vector<at::Tensor> maps[2];
  for (std::size_t call = 0; call < found.size(); ++call) maps[call / (found.size() / 2)].push_back(found[call][0]);
  return (at::cat(maps[0], 1).to(at::kFloat) - kLambda * at::cat(maps[1], 1).to(at::kFloat)).contiguous();
}

// As many maps with values as wide as the keys: two thirds of the multiplications of a V1 head.
void BenchmarkInputs::run_narrow_sdpa() const {
  const HoldSdpa hold(false);
  for (const Map& map : maps_) (void)attend(map.query, map.key, value_.narrow(3, 0, shape_.head_dim));
}

template <typename Input>
kernels::HeadProblem<Input> BenchmarkInputs::problem(std::int64_t head, const Map* maps,
                                                     const at::Tensor& value) const {
  const std::int64_t kv = head / (shape_.heads / shape_.kv_heads);
  kernels::HeadProblem<Input> problem;
  problem.mask.length = shape_.length;
  problem.head_dim = shape_.head_dim;
  problem.value_dim = value_dim_;
  problem.scale = 1.0 / std::sqrt(static_cast<double>(shape_.head_dim));
  if (map_count_ == 2) problem.lambda = lambda_.data();
  const auto numbers = [](const at::Tensor& t) { return static_cast<const Input*>(t.const_data_ptr()); };
  for (int m = 0; m < map_count_; ++m) {
    const at::Tensor query = maps[m].query.select(1, head), key = maps[m].key.select(1, kv), v = value.select(1, kv);
    problem.maps[static_cast<std::size_t>(m)] = {numbers(query),  numbers(key),  numbers(v),
                                                 query.stride(1), key.stride(1), v.stride(1)};
  }
  return problem;
}

template <typename Input>
Result<void> BenchmarkInputs::run_jobs(std::vector<kernels::HeadJob<Input, float>>& jobs,
                                       const kernels::StopRequested& stop) const {
  const at::Device device = place_.device();
  const AttentionBackend backend = device.is_cpu() ? AttentionBackend::Cpu : AttentionBackend::Cuda;
  return run_attention_backend<Input, float>(backend, jobs, device, stop, {});
}

template <typename Input>
Result<void> BenchmarkInputs::run_kernels(const kernels::StatisticsRequest& request,
                                          const kernels::StopRequested& stop) {
  std::vector<kernels::HeadJob<Input, float>> jobs(static_cast<std::size_t>(shape_.heads));
  for (std::int64_t h = 0; h < shape_.heads; ++h) {
    kernels::HeadJob<Input, float>& job = jobs[static_cast<std::size_t>(h)];
    job.problem = problem<Input>(h, maps_.data(), value_);
    job.request = request;
    job.context = context_.mutable_data_ptr<float>() + h * value_dim_;
    job.context_stride = shape_.heads * value_dim_;
  }
  return run_jobs(jobs, stop);
}

std::vector<BenchmarkInputs::Variant> BenchmarkInputs::variants(bool avx2, const kernels::StopRequested& stop) {
  const bool cuda = place_.device().is_cuda();
  const Goals goals = cuda ? kGoalsCuda : avx2 ? kGoalsAvx2 : kGoals;
  kernels::StatisticsRequest context, rows, everything, rounds, histograms;
  context.wanted = 0;
  rows.wanted = kernels::kRowStatistics;
  everything.wanted = kernels::kRowStatistics | kernels::kNamedKeys | kernels::kColumnSums;
  everything.pool_blocks = std::min<std::int64_t>(128, shape_.length);
  rounds = everything;
  rounds.wanted |= kernels::kRoundsToOne;
  histograms = rounds;
  histograms.logit_bins = logit_bins();
  histograms.log10_weight_bins = log10_weight_bins();
  const auto measured = [&](const kernels::StatisticsRequest& request) {
    return [this, request, stop] {
      return place_.dtype() == at::kFloat ? run_kernels<float>(request, stop)
                                          : run_kernels<kernels::BFloat16>(request, stop);
    };
  };
  const auto finished = [device = place_.device()](const auto& attention) {
    return [device, attention]() -> Result<void> {
      attention();
      wait_for(device);
      return {};
    };
  };
  std::vector<Variant> variants;
  variants.push_back({"sdpa", finished([this] { run_sdpa(false); }), {}});
  if (has_cudnn_) variants.push_back({"sdpa_cudnn", finished([this] { run_sdpa(true); }), {}});
  if (shape_.kind == "diff_v1") variants.push_back({"sdpa_narrow_values", finished([this] { run_narrow_sdpa(); }), {}});
  // A pair's row statistics include those of the net map, which take the second pass: the goal is for one map.
  const std::optional<double> row_goal = map_count_ == 1 ? std::optional(goals.row_statistics) : std::nullopt;
  variants.push_back({"context", measured(context), {}});
  variants.push_back({"row_statistics", measured(rows), row_goal});
  variants.push_back({"everything", measured(everything), goals.everything});
  variants.push_back({"rounds_to_one", measured(rounds), {}});
  variants.push_back({"histograms", measured(histograms), {}});
  return variants;
}

template <typename Input>
Result<BenchmarkAccuracy> BenchmarkInputs::accuracy_of() const {
  const std::int64_t n = shape_.length;
  const auto wide_of = [](const at::Tensor& t) { return t.to(at::kCPU, at::kDouble); };
  std::vector<Map> wide;
  for (const Map& map : maps_) wide.push_back({wide_of(map.query), wide_of(map.key)});
  const at::Tensor wide_value = wide_of(value_);
  kernels::StatisticsRequest request;
  request.wanted = kernels::kRowStatistics | kernels::kColumnSums;
  kernels::HeadStatistics exact;
  std::vector<double> exact_context(static_cast<std::size_t>(n * value_dim_));
  kernels::reference_attention(problem<double>(0, wide.data(), wide_value), request, exact, exact_context);

  const at::Tensor context = at::empty({n, value_dim_}, place_.dtype(at::kFloat));
  std::vector<kernels::HeadJob<Input, float>> jobs(1);
  jobs[0].problem = problem<Input>(0, maps_.data(), value_);
  jobs[0].request = request;
  jobs[0].context = context.mutable_data_ptr<float>();
  jobs[0].context_stride = value_dim_;
  HEADROOM_TRY_VOID(run_jobs(jobs, {}));
  BenchmarkAccuracy accuracy;
  accuracy.shape = shape_;
  const auto error_of = [&](const at::Tensor& found) {
    return worst_row(exact_context, found.to(at::kCPU, at::kFloat).contiguous().const_data_ptr<float>(), n, value_dim_);
  };
  accuracy.context_error = error_of(context);
  accuracy.sdpa_context_error = error_of(sdpa_context());
  // The maps' own sums, which are positive; net ones may cancel to nothing.
  for (std::size_t m = 0; m < static_cast<std::size_t>(map_count_); ++m) {
    const std::vector<double>& sums = exact.maps[m].column_sum;
    for (std::size_t j = 0; j < sums.size(); ++j)
      accuracy.column_sum_error =
          std::max(accuracy.column_sum_error, std::abs(jobs[0].statistics.maps[m].column_sum[j] - sums[j]) / sums[j]);
  }
  return accuracy;
}

Result<BenchmarkAccuracy> BenchmarkInputs::accuracy() const {
  return place_.dtype() == at::kFloat ? accuracy_of<float>() : accuracy_of<kernels::BFloat16>();
}

}  // namespace headroom
