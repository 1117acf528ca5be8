// Runs the CPU kernels on the heads of an attention case, and compares answers bit by bit. Plain functions.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/attention.h"
#include "kernels/reference/attention.h"
#include "tests/kernels/float_bounds.h"
#include "tests/support/attention_cases.h"
#include "tests/support/catch.h"
#include "tests/support/narrow_tensors.h"

namespace headroom::test {

inline void serial(std::int64_t tasks, const std::function<void(std::int64_t)>& body) {
  for (std::int64_t task = 0; task < tasks; ++task) body(task);
}

struct CpuAnswer {
  std::vector<kernels::HeadStatistics> statistics;
  std::vector<float> context;  // [length, heads, value_dim]
  bool complete = false;

  // Of one head, [length, value_dim].
  [[nodiscard]] std::vector<double> context_of(std::int64_t head, std::int64_t value_dim) const {
    std::vector<double> rows;
    const auto heads = static_cast<std::int64_t>(statistics.size());
    for (auto at = context.begin() + head * value_dim; at < context.end(); at += heads * value_dim) {
      rows.insert(rows.end(), at, at + value_dim);
      if (context.end() - at < heads * value_dim) break;
    }
    return rows;
  }
};

inline constexpr float kUntouched = -77.0f;

// The heads' contexts lie interleaved, as a layer's output does.
template <typename Input>
[[nodiscard]] CpuAnswer run_cpu(const std::vector<kernels::HeadProblem<Input>>& problems,
                                const kernels::StatisticsRequest& request,
                                const kernels::ParallelFor& parallel_for = serial,
                                const kernels::StopRequested& stop = nullptr,
                                std::int64_t kept_bytes = kernels::kKeptBytes) {
  CpuAnswer answer;
  const auto heads = static_cast<std::int64_t>(problems.size());
  const std::int64_t channels = problems[0].value_dim;
  answer.context.assign(static_cast<std::size_t>(problems[0].mask.length * heads * channels), kUntouched);
  std::vector<kernels::HeadJob<Input, float>> jobs;
  for (std::int64_t h = 0; h < heads; ++h)
    jobs.push_back(
        {problems[static_cast<std::size_t>(h)], request, answer.context.data() + h * channels, heads * channels, {}});
  answer.complete = kernels::cpu_attention<Input>(std::span(jobs), parallel_for, stop, kept_bytes);
  for (kernels::HeadJob<Input, float>& job : jobs) answer.statistics.push_back(std::move(job.statistics));
  return answer;
}

template <typename Input>
[[nodiscard]] std::vector<kernels::HeadProblem<Input>> heads_of(const Tensors<Input>& tensors) {
  std::vector<kernels::HeadProblem<Input>> problems;
  for (std::int64_t h = 0; h < tensors.data().shape.heads; ++h) problems.push_back(tensors.problem(h));
  return problems;
}

// Holds every head of the case to the reference within the bounds of float_bounds.h.
template <typename Input>
void check_cpu(const AttentionCase& shape, std::int64_t length, std::uint64_t seed,
               const kernels::StatisticsRequest& request = full_request(),
               std::int64_t kept_bytes = kernels::kKeptBytes) {
  const Tensors<Input> tensors(random_attention<float>(shape, length, seed));
  const CpuAnswer answer = run_cpu(heads_of(tensors), request, serial, nullptr, kept_bytes);
  CATCH_REQUIRE(answer.complete);
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    CATCH_INFO(shape.name << ", d " << shape.head_dim << ", values " << shape.value_dim << ", length " << length
                          << ", head " << h << ", seed " << seed << ", " << kernels::cpu_kernel_target());
    const kernels::HeadProblem<double> exact = tensors.wide(h);
    kernels::HeadStatistics expected;
    std::vector<double> context(static_cast<std::size_t>(length * exact.value_dim));
    kernels::reference_attention(exact, request, expected, context);
    const FloatBounds bound = float_bounds(exact, request, expected);
    CATCH_CHECK(beyond_bounds(answer.statistics[static_cast<std::size_t>(h)], expected, bound.statistics) == "");
    BoundedMatch match;
    match.values("context", answer.context_of(h, exact.value_dim), context, bound.context);
    CATCH_CHECK(match.report() == "");
    for (std::size_t m = 0; m < 2; ++m) {
      const kernels::MapStatistics& map = answer.statistics[static_cast<std::size_t>(h)].maps[m];
      if (map.lse.empty()) continue;
      std::int64_t visible = 0, logits = 0, weights = 0;
      std::vector<kernels::KeyRange> segments;
      for (std::int64_t i = 0; i < length; ++i) {
        exact.mask.segments(i, segments);
        for (const kernels::KeyRange& segment : segments) visible += segment.end - segment.begin;
      }
      for (const std::int64_t count : map.logit_histogram) logits += count;
      for (const std::int64_t count : map.weight_histogram) weights += count;
      if (request.logit_bins.bins > 0) CATCH_CHECK(logits == visible);
      if (request.log10_weight_bins.bins > 0) CATCH_CHECK(weights == visible);
    }
  }
}

template <typename T>
[[nodiscard]] bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// The name of the first array whose bits differ; empty: none.
[[nodiscard]] inline std::string different_bits(const kernels::HeadStatistics& a, const kernels::HeadStatistics& b) {
  using kernels::HeadStatistics;
  using kernels::MapStatistics;
  for (std::size_t m = 0; m < 2; ++m) {
    const MapStatistics &x = a.maps[m], &y = b.maps[m];
    const std::string map = "map " + std::to_string(m + 1) + " array ";
    int index = 0;
    for (auto array :
         {&MapStatistics::lse, &MapStatistics::logit_max, &MapStatistics::logit_min, &MapStatistics::entropy,
          &MapStatistics::weight_max, &MapStatistics::weight_l2_squared, &MapStatistics::weight_sum,
          &MapStatistics::first_key_weight, &MapStatistics::self_weight, &MapStatistics::previous_weight,
          &MapStatistics::induction_weight, &MapStatistics::mean_distance, &MapStatistics::context_energy,
          &MapStatistics::column_sum, &MapStatistics::pooled_sum, &MapStatistics::pooled_max}) {
      if (!same_bits(x.*array, y.*array)) return map + std::to_string(index);
      ++index;
    }
    if (!same_bits(x.rounds_to_one, y.rounds_to_one)) return map + "rounds_to_one";
    if (!same_bits(x.logit_histogram, y.logit_histogram)) return map + "logit_histogram";
    if (!same_bits(x.weight_histogram, y.weight_histogram)) return map + "weight_histogram";
    if (std::memcmp(&x.logit_max_raw, &y.logit_max_raw, sizeof(double)) != 0) return map + "logit_max_raw";
  }
  int index = 0;
  for (auto array : {&HeadStatistics::weight_sum, &HeadStatistics::weight_l1, &HeadStatistics::weight_l2_squared,
                     &HeadStatistics::cross, &HeadStatistics::uncorrelated_energy, &HeadStatistics::first_key_net,
                     &HeadStatistics::first_key_absolute, &HeadStatistics::column_sum, &HeadStatistics::pooled_sum,
                     &HeadStatistics::pooled_highest, &HeadStatistics::pooled_lowest, &HeadStatistics::pooled_positive,
                     &HeadStatistics::pooled_negative}) {
    if (!same_bits(a.*array, b.*array)) return "array " + std::to_string(index);
    ++index;
  }
  return "";
}

[[nodiscard]] inline std::string different_bits(const CpuAnswer& a, const CpuAnswer& b) {
  if (!same_bits(a.context, b.context)) return "context";
  for (std::size_t h = 0; h < a.statistics.size(); ++h) {
    const std::string name = different_bits(a.statistics[h], b.statistics[h]);
    if (!name.empty()) return "head " + std::to_string(h) + " " + name;
  }
  return "";
}

}  // namespace headroom::test
