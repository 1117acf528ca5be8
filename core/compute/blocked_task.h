// A run of rows of one head in the blocked backend: strip after strip, what a row yields straight into its arrays, what
// rows share into sums of the task's own. Tasks of one head may run on several threads; fold_into follows in order.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/compute/blocked_head.h"
#include "kernels/attention.h"

namespace headroom {

[[nodiscard]] std::int64_t rows_per_strip(std::int64_t keys, at::Device device);

template <typename Real>
class BlockedTask {
 public:
  // Rows [begin, end). The job's statistics have their size.
  BlockedTask(kernels::HeadJob<Real>& job, const BlockedHead<Real>& head, std::int64_t begin, std::int64_t end,
              at::Device device);

  // False when stopped.
  [[nodiscard]] bool run(const kernels::StopRequested& stop);

  // Adds the sums over rows to the head's. On the calling thread, task by task.
  void fold_into(kernels::HeadStatistics& statistics) const;

 private:
  // A per-row array of the job and, off the CPU, what stands for it on the device until the rows are done.
  struct RowArray {
    at::Tensor host, device;  // [end − begin]
  };
  struct Pooled {
    at::Tensor sum, largest, positive, negative, least;  // [blocks, blocks]; the last three for the net map only
  };
  struct Sums {
    at::Tensor column_sum;                         // [keys], double
    at::Tensor logit_histogram, weight_histogram;  // int64
    at::Tensor logit_max_raw;
    Pooled pooled;
  };
  // What the net map takes over from a map that stands alone, [rows].
  struct MapRows {
    at::Tensor sum, l2_squared, value_energy;
  };

  void make_sums();
  void run_strip(const Strip& strip);
  void fill_padding(const Strip& strip);
  MapRows map_statistics(std::size_t m, const Strip& strip, const at::Tensor& hidden, const RowNorms& norms);
  void histograms(std::size_t m, const Strip& strip, const at::Tensor& hidden, const RowNorms& norms);
  void named_keys(std::size_t m, const Strip& strip);
  void net_statistics(const Strip& strip, const at::Tensor& hidden, const std::array<MapRows, 2>& maps);
  void pool(const Strip& strip, const at::Tensor& weights, Pooled& pooled, bool is_net);

  template <typename Value>
  void put(std::vector<Value>& array, const Strip& strip, const at::Tensor& values);
  [[nodiscard]] bool wants(kernels::StatisticSet set) const { return (job_.request.wanted & set) != 0; }

  kernels::HeadJob<Real>& job_;
  const kernels::HeadProblem<Real>& problem_;
  const BlockedHead<Real>& head_;
  const std::int64_t begin_, end_;
  const at::Device device_;
  const bool pair_;
  at::Tensor context_;                 // [rows, value_dim]
  std::array<at::Tensor, 6> buffers_;  // flat; the strip's tensors below lie in them
  at::Tensor z_, shifted_, scratch_;   // [rows, keys]
  std::array<at::Tensor, 3> weights_;  // a¹, a², w
  std::vector<std::pair<void*, RowArray>> rows_;
  std::array<Sums, 2> maps_;
  Sums net_;
};

}  // namespace headroom
