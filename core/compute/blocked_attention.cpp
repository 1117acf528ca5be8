#include "core/compute/blocked_attention.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/compute/parallel.h"
#include "kernels/cpu/row_statistics.h"

namespace headroom {
namespace {

using kernels::HeadProblem;
using kernels::HeadStatistics;
using kernels::KeyRange;
using kernels::MapInput;
using kernels::MapStatistics;
using kernels::StatisticsRequest;

constexpr std::int64_t kStripElements = 1 << 18;

std::int64_t rows_per_strip(std::int64_t length) {
  return std::clamp<std::int64_t>(kStripElements / std::max<std::int64_t>(length, 1), 8, 128);
}

template <typename Real>
at::Tensor view(const Real* data, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  return at::from_blob(const_cast<Real*>(data), {rows, columns}, {stride, 1},
                       at::TensorOptions().dtype(c10::CppTypeToScalarType<Real>::value));
}

// r_j² of the concatenated values, [length].
template <typename Real>
std::vector<Real> value_mean_squares(const MapInput<Real>& map, std::int64_t length, std::int64_t value_dim) {
  std::vector<Real> result(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < length; ++j) {
    double sum = 0.0;
    for (std::int64_t c = 0; c < value_dim; ++c) {
      const double v = static_cast<double>(map.value[j * map.value_stride + c]);
      sum += v * v;
    }
    result[static_cast<std::size_t>(j)] = static_cast<Real>(sum / static_cast<double>(value_dim));
  }
  return result;
}

// The keys that any row of [row, row + rows) may see.
template <typename Real>
KeyRange strip_range(const HeadProblem<Real>& problem, std::int64_t row, std::int64_t rows) {
  return {visible_range(problem, row).begin, visible_range(problem, row + rows - 1).end};
}

template <typename Real>
void multiply_scores(const HeadProblem<Real>& problem, const MapInput<Real>& map, std::int64_t row, std::int64_t rows,
                     const KeyRange& keys, Real* scores) {
  const std::int64_t count = keys.end - keys.begin;
  at::Tensor out = view(scores, rows, count, count);
  at::mm_out(out, view(map.query + row * map.query_stride, rows, problem.head_dim, map.query_stride),
             view(map.key + keys.begin * map.key_stride, count, problem.head_dim, map.key_stride).t());
}

// Zeroes what the segments leave of one strip row, so that it can be multiplied with the values.
template <typename Real>
void clear_masked(Real* weights, const KeyRange& keys, std::span<const KeyRange> segments) {
  std::int64_t at = keys.begin;
  for (const KeyRange& segment : segments) {
    std::fill(weights + (at - keys.begin), weights + (segment.begin - keys.begin), Real(0));
    at = segment.end;
  }
  std::fill(weights + (at - keys.begin), weights + (keys.end - keys.begin), Real(0));
}

template <typename Real>
kernels::MapRowInput<Real> row_input(const HeadProblem<Real>& problem, const KeyRange& keys,
                                     std::span<const KeyRange> segments, std::int64_t row, Real* scores, Real* weights) {
  kernels::MapRowInput<Real> input;
  input.scores = scores;
  input.weights = weights;
  input.first_key = keys.begin;
  input.segments = segments;
  input.row = row;
  input.scale = problem.scale;
  input.softcap = problem.softcap;
  input.temperature = problem.temperature;
  input.has_sink = problem.has_sink;
  input.sink = problem.sink;
  return input;
}

// What one task adds to a head beyond its own rows.
struct TaskSums {
  struct Map {
    std::vector<double> column_sum;
    double logit_max_raw = 0.0;
    std::vector<std::int64_t> logit_histogram, weight_histogram;
    std::vector<double> pooled_sum, pooled_max;
  };
  std::array<Map, 2> maps;
  std::vector<double> column_sum;
  std::vector<double> pooled_sum, pooled_max_abs, pooled_positive, pooled_negative;
};

template <typename Real>
class HeadTask {
 public:
  HeadTask(kernels::HeadJob<Real>& head, std::array<const Real*, 2> mean_squares, std::int64_t begin, std::int64_t end)
      : head_(head), problem_(head.problem), mean_squares_(mean_squares), begin_(begin), end_(end) {
    pair_ = problem_.maps[0].present() && problem_.maps[1].present();
    statistics_ = head.request.wanted != 0;
    if (!statistics_) return;
    const auto length = static_cast<std::size_t>(problem_.length);
    const auto cells = static_cast<std::size_t>(head.statistics.pool_blocks * head.statistics.pool_blocks);
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem_.maps[m].present()) continue;
      TaskSums::Map& map = sums_.maps[m];
      map.column_sum.assign(length, 0.0);
      map.logit_max_raw = head.statistics.maps[m].logit_max_raw;
      map.logit_histogram.assign(head.statistics.maps[m].logit_histogram.size(), 0);
      map.weight_histogram.assign(head.statistics.maps[m].weight_histogram.size(), 0);
      map.pooled_sum.assign(cells, 0.0);
      map.pooled_max.assign(cells, 0.0);
      partial_[m].assign(length, Real(0));
    }
    if (!problem_.maps[0].present() || pair_) sums_.column_sum.assign(length, 0.0);
    if (pair_) partial_[2].assign(length, Real(0));
    for (auto* pooled : {&sums_.pooled_sum, &sums_.pooled_max_abs, &sums_.pooled_positive, &sums_.pooled_negative})
      pooled->assign(cells, 0.0);
  }

  // False when stopped.
  bool run(const kernels::StopRequested& stop) {
    const std::int64_t step = rows_per_strip(problem_.length);
    const KeyRange widest = strip_range(problem_, std::max(begin_, end_ - step), std::min(step, end_ - begin_));
    const std::int64_t reach = std::min(problem_.length, widest.end - widest.begin + step);
    const auto size = static_cast<std::size_t>(step * reach);
    scores_ = std::make_unique_for_overwrite<Real[]>(size);
    for (std::size_t m = 0; m < (pair_ ? 3u : 2u); ++m)
      if (m == 2 || problem_.maps[m].present()) weights_[m] = std::make_unique_for_overwrite<Real[]>(size);
    for (std::int64_t row = begin_; row < end_; row += step) {
      if (stop && stop()) return false;
      run_strip(row, std::min(step, end_ - row));
    }
    scores_.reset();
    for (auto& strip : weights_) strip.reset();
    return true;
  }

  void fold_into(HeadStatistics& statistics) const {
    if (!statistics_) return;
    for (std::size_t m = 0; m < 2; ++m) {
      if (!problem_.maps[m].present()) continue;
      MapStatistics& map = statistics.maps[m];
      add(map.column_sum, sums_.maps[m].column_sum);
      add(map.logit_histogram, sums_.maps[m].logit_histogram);
      add(map.weight_histogram, sums_.maps[m].weight_histogram);
      add(map.pooled_sum, sums_.maps[m].pooled_sum);
      raise(map.pooled_max, sums_.maps[m].pooled_max);
      map.logit_max_raw = std::max(map.logit_max_raw, sums_.maps[m].logit_max_raw);
    }
    if (!sums_.column_sum.empty()) add(statistics.column_sum, sums_.column_sum);
    add(statistics.pooled_sum, sums_.pooled_sum);
    raise(statistics.pooled_max_abs, sums_.pooled_max_abs);
    add(statistics.pooled_positive, sums_.pooled_positive);
    add(statistics.pooled_negative, sums_.pooled_negative);
  }

 private:
  template <typename T>
  static void add(std::vector<T>& target, const std::vector<T>& source) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] += source[i];
  }
  static void raise(std::vector<double>& target, const std::vector<double>& source) {
    for (std::size_t i = 0; i < target.size(); ++i) target[i] = std::max(target[i], source[i]);
  }

  void run_strip(std::int64_t row, std::int64_t rows) {
    const KeyRange keys = strip_range(problem_, row, rows);
    const std::int64_t count = keys.end - keys.begin;
    std::array<at::Tensor, 2> contexts;
    for (std::size_t m = 0; m < 2; ++m) {
      const MapInput<Real>& map = problem_.maps[m];
      if (!map.present()) continue;
      multiply_scores(problem_, map, row, rows, keys, scores_.get());
      for (std::int64_t r = 0; r < rows; ++r) run_map_row(m, row + r, keys, r * count);
      contexts[m] = at::mm(view(weights_[m].get(), rows, count, count),
                           view(map.value + keys.begin * map.value_stride, count, problem_.value_dim, map.value_stride));
    }
    for (std::int64_t r = 0; r < rows; ++r) combine_contexts(contexts, row + r, r);
    if (!statistics_) return;
    for (std::int64_t r = 0; r < rows; ++r) run_net_row(row + r, keys, r * count);
    for (std::size_t m = 0; m < 2; ++m)
      if (problem_.maps[m].present()) drain(partial_[m], sums_.maps[m].column_sum, keys);
    if (pair_) drain(partial_[2], sums_.column_sum, keys);
  }

  // Column sums of one strip, in Real, go to the task's in double.
  static void drain(std::vector<Real>& partial, std::vector<double>& total, const KeyRange& keys) {
    for (std::int64_t j = keys.begin; j < keys.end; ++j) {
      total[static_cast<std::size_t>(j)] += static_cast<double>(partial[static_cast<std::size_t>(j)]);
      partial[static_cast<std::size_t>(j)] = Real(0);
    }
  }

  void run_map_row(std::size_t m, std::int64_t i, const KeyRange& keys, std::int64_t offset) {
    visible_segments(problem_, i, segments_);
    Real* weights = weights_[m].get() + offset;
    clear_masked(weights, keys, segments_);
    kernels::MapRowInput<Real> input = row_input(problem_, keys, segments_, i, scores_.get() + offset, weights);
    input.statistics = statistics_;
    TaskSums::Map& sums = sums_.maps[m];
    if (statistics_) {
      input.value_mean_square = mean_squares_[m];
      input.column_sum = partial_[m].data();
      input.logit_bins = head_.request.logit_bins;
      input.log10_weight_bins = head_.request.log10_weight_bins;
      input.logit_histogram = sums.logit_histogram.data();
      input.weight_histogram = sums.weight_histogram.data();
    }
    kernels::MapRowResult result;
    kernels::map_row(input, result);
    if (!statistics_) return;
    MapStatistics& map = head_.statistics.maps[m];
    const auto r = static_cast<std::size_t>(i);
    map.lse[r] = result.lse;
    map.logit_max[r] = result.logit_max;
    map.logit_min[r] = result.logit_min;
    map.entropy[r] = result.entropy;
    map.weight_max[r] = result.weight_max;
    map.weight_l2_squared[r] = result.weight_l2_squared;
    map.weight_sum[r] = result.weight_sum;
    map.mean_distance[r] = result.mean_distance;
    map.rounds_to_one[r] = result.rounds_to_one;
    const auto weight_at = [&](std::int64_t key) {
      return key >= keys.begin && key < keys.end ? static_cast<double>(weights[key - keys.begin]) : 0.0;
    };
    map.first_key_weight[r] = weight_at(0);
    map.self_weight[r] = weight_at(i);
    map.previous_weight[r] = weight_at(i - 1);
    if (problem_.induction_key && problem_.induction_key[i] >= 0)
      map.induction_weight[r] = weight_at(problem_.induction_key[i]);
    sums.logit_max_raw = std::max(sums.logit_max_raw, result.logit_max_raw);
    const auto strip_row = static_cast<std::size_t>(offset / (keys.end - keys.begin));
    for (auto* rows : {&value_energy_[m], &weight_total_[m]})
      rows->resize(static_cast<std::size_t>(rows_per_strip(problem_.length)));
    value_energy_[m][strip_row] = result.value_energy;
    weight_total_[m][strip_row] = result.weight_total;
  }

  void combine_contexts(const std::array<at::Tensor, 2>& contexts, std::int64_t i, std::int64_t strip_row) {
    Real* out = head_.context + i * head_.context_stride;
    std::fill(out, out + problem_.value_dim, Real(0));
    for (std::size_t m = 0; m < 2; ++m) {
      if (!contexts[m].defined()) continue;
      const double coefficient = m == 0 ? 1.0 : -problem_.lambda[i];
      const Real* context = contexts[m].const_data_ptr<Real>() + strip_row * problem_.value_dim;
      double energy = 0.0;
      for (std::int64_t c = 0; c < problem_.value_dim; ++c) {
        energy += static_cast<double>(context[c]) * static_cast<double>(context[c]);
        out[c] += static_cast<Real>(coefficient) * context[c];
      }
      if (statistics_) head_.statistics.maps[m].context_energy[static_cast<std::size_t>(i)] = energy;
    }
  }

  void run_net_row(std::int64_t i, const KeyRange& keys, std::int64_t offset) {
    HeadStatistics& statistics = head_.statistics;
    const auto r = static_cast<std::size_t>(i);
    const std::int64_t count = keys.end - keys.begin;
    const auto strip_row = static_cast<std::size_t>(offset / count);
    const Real* net = nullptr;
    double factor = 1.0;  // w = factor · a with a single map
    if (pair_) {
      kernels::NetRowInput<Real> input;
      input.first = weights_[0].get() + offset;
      input.second = weights_[1].get() + offset;
      input.count = count;
      input.lambda = problem_.lambda[i];
      input.value_mean_square = mean_squares_[0] + keys.begin;
      input.net = weights_[2].get() + offset;
      input.column_sum = partial_[2].data() + keys.begin;
      kernels::NetRowResult result;
      kernels::net_row(input, result);
      net = input.net;
      statistics.weight_sum[r] = result.weight_sum;
      statistics.weight_l1[r] = result.weight_l1;
      statistics.weight_l2_squared[r] = result.weight_l2_squared;
      statistics.cross[r] = result.cross;
      const bool same_values = problem_.maps[0].value == problem_.maps[1].value;
      statistics.uncorrelated_energy[r] =
          same_values ? result.value_energy
                      : value_energy_[0][strip_row] + input.lambda * input.lambda * value_energy_[1][strip_row];
    } else {
      const std::size_t m = problem_.maps[0].present() ? 0 : 1;
      factor = m == 0 ? 1.0 : -problem_.lambda[i];
      const MapStatistics& map = statistics.maps[m];
      net = weights_[m].get() + offset;
      statistics.weight_sum[r] = factor * weight_total_[m][strip_row];
      statistics.weight_l1[r] = std::abs(factor) * weight_total_[m][strip_row];
      statistics.weight_l2_squared[r] = factor * factor * map.weight_l2_squared[r];
      statistics.uncorrelated_energy[r] = factor * factor * value_energy_[m][strip_row];
      if (m == 1) add_scaled(net, factor, keys);
    }
    if (keys.begin == 0) {
      statistics.first_key_net[r] = factor * static_cast<double>(net[0]);
      statistics.first_key_absolute[r] = std::abs(statistics.first_key_net[r]);
    }
    if (statistics.pool_blocks > 0) pool(net, factor, i, keys, offset);
  }

  // Column sums of −λ a² where the second map stands alone.
  void add_scaled(const Real* weights, double factor, const KeyRange& keys) {
    for (std::int64_t j = keys.begin; j < keys.end; ++j)
      sums_.column_sum[static_cast<std::size_t>(j)] += factor * static_cast<double>(weights[j - keys.begin]);
  }

  void pool(const Real* net, double factor, std::int64_t i, const KeyRange& keys, std::int64_t offset) {
    const std::int64_t size = head_.statistics.pool_size;
    const std::int64_t first_cell = i / size * head_.statistics.pool_blocks;
    for (std::int64_t begin = keys.begin; begin < keys.end;) {
      const std::int64_t block = begin / size;
      const std::int64_t end = std::min(keys.end, (block + 1) * size);
      const auto cell = static_cast<std::size_t>(first_cell + block);
      double sum = 0.0, largest = 0.0, positive = 0.0;
      for (std::int64_t j = begin; j < end; ++j) {
        const double w = factor * static_cast<double>(net[j - keys.begin]);
        sum += w;
        positive += std::max(w, 0.0);
        largest = std::max(largest, std::abs(w));
      }
      sums_.pooled_sum[cell] += sum;
      sums_.pooled_positive[cell] += positive;
      sums_.pooled_negative[cell] += positive - sum;
      sums_.pooled_max_abs[cell] = std::max(sums_.pooled_max_abs[cell], largest);
      for (std::size_t m = 0; m < 2; ++m) {
        if (!problem_.maps[m].present()) continue;
        const Real* weights = weights_[m].get() + offset;
        double map_sum = 0.0;
        Real map_max = Real(0);
        for (std::int64_t j = begin; j < end; ++j) {
          map_sum += static_cast<double>(weights[j - keys.begin]);
          map_max = std::max(map_max, weights[j - keys.begin]);
        }
        sums_.maps[m].pooled_sum[cell] += map_sum;
        sums_.maps[m].pooled_max[cell] = std::max(sums_.maps[m].pooled_max[cell], static_cast<double>(map_max));
      }
      begin = end;
    }
  }

  kernels::HeadJob<Real>& head_;
  const HeadProblem<Real>& problem_;
  std::array<const Real*, 2> mean_squares_;
  std::int64_t begin_, end_;
  bool pair_ = false;
  bool statistics_ = true;
  std::unique_ptr<Real[]> scores_;
  std::array<std::unique_ptr<Real[]>, 3> weights_;  // a¹, a², w
  std::array<std::vector<Real>, 3> partial_;        // column sums of one strip
  std::array<std::vector<double>, 2> value_energy_, weight_total_;  // Σ a² r² and Σ a of the strip's rows
  std::vector<KeyRange> segments_;
  TaskSums sums_;
};

// Row boundaries of the tasks of one head: of about equal area under a causal mask, the same for any thread count.
std::vector<std::int64_t> task_boundaries(std::int64_t length, bool triangular) {
  const std::int64_t parts = length >= 4096 ? 4 : length >= 512 ? 2 : 1;
  const std::int64_t step = rows_per_strip(length);
  std::vector<std::int64_t> boundaries = {0};
  for (std::int64_t part = 1; part < parts; ++part) {
    const double share = static_cast<double>(part) / static_cast<double>(parts);
    const double row = static_cast<double>(length) * (triangular ? std::sqrt(share) : share);
    const std::int64_t aligned = static_cast<std::int64_t>(row) / step * step;
    if (aligned > boundaries.back()) boundaries.push_back(aligned);
  }
  boundaries.push_back(length);
  return boundaries;
}

}  // namespace

template <typename Real>
bool blocked_attention(std::span<kernels::HeadJob<Real>> heads, const kernels::StopRequested& stop) {
  struct Work {
    std::size_t head;
    std::int64_t begin, end;
  };
  std::vector<Work> works;
  std::vector<std::array<std::vector<Real>, 2>> mean_squares(heads.size());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadProblem<Real>& problem = heads[h].problem;
    resize_statistics(problem, heads[h].request, heads[h].statistics);
    const auto boundaries = task_boundaries(problem.length, problem.causal && problem.window == 0);
    for (std::size_t t = 0; t + 1 < boundaries.size(); ++t) works.push_back({h, boundaries[t], boundaries[t + 1]});
  }
  run_tasks(static_cast<std::int64_t>(heads.size()), [&](std::int64_t h) {
    const HeadProblem<Real>& problem = heads[static_cast<std::size_t>(h)].problem;
    auto& squares = mean_squares[static_cast<std::size_t>(h)];
    for (std::size_t m = 0; m < 2; ++m)
      if (problem.maps[m].present())
        squares[m] = m == 1 && problem.maps[0].value == problem.maps[1].value
                         ? squares[0]
                         : value_mean_squares(problem.maps[m], problem.length, problem.value_dim);
  });
  std::vector<std::unique_ptr<HeadTask<Real>>> tasks(works.size());
  std::atomic<bool> complete{true};
  run_tasks(static_cast<std::int64_t>(works.size()), [&](std::int64_t index) {
    const Work& work = works[static_cast<std::size_t>(index)];
    const auto& squares = mean_squares[work.head];
    auto task = std::make_unique<HeadTask<Real>>(heads[work.head], std::array{squares[0].data(), squares[1].data()},
                                                 work.begin, work.end);
    if (!complete || !task->run(stop)) complete = false;
    tasks[static_cast<std::size_t>(index)] = std::move(task);
  });
  for (std::size_t t = 0; t < works.size(); ++t) tasks[t]->fold_into(heads[works[t].head].statistics);
  // With the first map alone the net column sums are its own.
  for (kernels::HeadJob<Real>& head : heads)
    if (head.request.wanted != 0 && head.problem.maps[0].present() && !head.problem.maps[1].present())
      head.statistics.column_sum = head.statistics.maps[0].column_sum;
  return complete;
}

template <typename Real>
void blocked_weights(const HeadProblem<Real>& problem, std::size_t map, std::int64_t row, std::int64_t rows,
                     std::span<Real> weights) {
  const KeyRange keys = strip_range(problem, row, rows);
  const std::int64_t count = keys.end - keys.begin;
  std::vector<Real> scores(static_cast<std::size_t>(rows * count));
  std::vector<Real> strip(scores.size(), Real(0));
  multiply_scores(problem, problem.maps[map], row, rows, keys, scores.data());
  std::fill(weights.begin(), weights.end(), Real(0));
  std::vector<KeyRange> segments;
  for (std::int64_t r = 0; r < rows; ++r) {
    visible_segments(problem, row + r, segments);
    kernels::MapRowInput<Real> input =
        row_input<Real>(problem, keys, segments, row + r, scores.data() + r * count, strip.data() + r * count);
    input.statistics = false;
    kernels::MapRowResult result;
    kernels::map_row(input, result);
    std::copy_n(strip.data() + r * count, count, weights.data() + r * problem.length + keys.begin);
  }
}

template bool blocked_attention<float>(std::span<kernels::HeadJob<float>>, const kernels::StopRequested&);
template bool blocked_attention<double>(std::span<kernels::HeadJob<double>>, const kernels::StopRequested&);
template void blocked_weights<float>(const HeadProblem<float>&, std::size_t, std::int64_t, std::int64_t,
                                     std::span<float>);
template void blocked_weights<double>(const HeadProblem<double>&, std::size_t, std::int64_t, std::int64_t,
                                      std::span<double>);

}  // namespace headroom
