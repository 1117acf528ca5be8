// One head on the device: which arrays its statistics need, what the kernels are told of it, and how their sums become
// the statistics of attention.h. Plain functions for one thread.
#pragma once

#include <array>

#include "kernels/attention.h"
#include "kernels/cuda/region.h"

namespace headroom::kernels::cuda {

struct MapPlan {
  Part rows, energy, value_square, odd_keys, odd_count, named, column_sum, rounds_to_one, histograms;
};

struct HeadPlan {
  std::array<MapPlan, 2> maps;
  Part lambda, flags, induction_key, bias;  // inputs
  Part net_rows, net_column_sum, pooled;
  Part pool_parts;  // scratch
  int value_chunk = 0;
  int pool_size = 0, pool_blocks = 0, pool_columns = 0;
  bool keep_rows = false;  // the rows' arrays are statistics, not only a step to others
};

struct Regions {
  Region inputs, outputs, scratch;
};

// Ok when the kernels can take the job.
template <class Input>
KernelStatus check(const HeadJob<Input, float>& job);

// resize_statistics() of attention.h for any input.
template <class Input>
void resize(HeadJob<Input, float>& job);

// Reserves what the job needs; its statistics have their sizes already.
template <class Input>
[[nodiscard]] HeadPlan reserve(const HeadJob<Input, float>& job, int value_chunk, Regions& regions);

// Fills the inputs' image and returns what the kernels are told; the regions are allocated.
template <class Input>
[[nodiscard]] HeadParameters<Input> parameters(const HeadJob<Input, float>& job, const HeadPlan& plan,
                                               Regions& regions);

// From the outputs' image to the job's statistics.
template <class Input>
void finish(HeadJob<Input, float>& job, const HeadPlan& plan, Regions& regions);

}  // namespace headroom::kernels::cuda
