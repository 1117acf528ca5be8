#include "kernels/cuda/heads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cuda/head_plan.h"
#include "kernels/cuda/net_rows.cuh"
#include "kernels/cuda/shared_use.h"

namespace headroom::kernels::cuda {
namespace {

// A batch ends at this much scratch memory, too.
constexpr double kBatchBytes = 1 << 30;

template <class Input>
double bytes_of(const HeadJob<Input, float>& job) {
  const double length = static_cast<double>(job.problem.mask.length),
               pooled = static_cast<double>(job.request.pool_blocks);
  return length * 256.0 + (length / kTile * 2.0 + pooled) * pooled * kPooledKinds * 4.0;
}

template <class Input>
double work_of(const HeadJob<Input, float>& job) {
  const double length = static_cast<double>(job.problem.mask.length);
  return length * length * static_cast<double>(job.problem.head_dim + job.problem.value_dim);
}

template <class Input>
SharedUse first_pass_shared(std::int64_t head_dim, int values, std::size_t limit) {
  return use_shared(head_dim, 1, 1, limit,
                    [&](int slab, int, int) { return first_pass_elements<Input>(slab, values) * sizeof(Half); });
}

template <class Input>
class Batch {
 public:
  Batch(Machine& machine, std::span<HeadJob<Input, float>> jobs, const ParallelFor& parallel)
      : machine_(machine),
        parallel_(parallel),
        jobs_(jobs),
        regions_{Region(machine), Region(machine), Region(machine)} {}

  KernelStatus run() {
    const Part heads = regions_.inputs.template reserve<HeadParameters<Input>>(static_cast<std::int64_t>(jobs_.size()));
    for_each_head([&](std::size_t h) { resize(jobs_[h]); });
    for (HeadJob<Input, float>& job : jobs_) plans_.push_back(reserve(job, value_chunk(job.problem), regions_));
    if (std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.problem.mask.length == 0; }))
      return {};
    HEADROOM_KERNEL_TRY(regions_.inputs.allocate(Image::Up));
    HEADROOM_KERNEL_TRY(regions_.outputs.allocate(Image::Down));
    HEADROOM_KERNEL_TRY(regions_.scratch.allocate(Image::None));
    heads_.resize(jobs_.size());
    for_each_head([&](std::size_t h) { heads_[h] = parameters(jobs_[h], plans_[h], regions_); });
    std::copy(heads_.begin(), heads_.end(), regions_.inputs.template host<HeadParameters<Input>>(heads));
    HEADROOM_KERNEL_TRY(regions_.inputs.upload());
    arguments_.heads = regions_.inputs.template device<HeadParameters<Input>>(heads);
    HEADROOM_KERNEL_TRY(launch());
    HEADROOM_KERNEL_TRY(regions_.outputs.download());
    HEADROOM_KERNEL_TRY(machine_.wait());
    for_each_head([&](std::size_t h) { finish(jobs_[h], plans_[h], regions_); });
    return {};
  }

 private:
  using Head = HeadParameters<Input>;

  template <class Body>
  void for_each_head(const Body& body) const {
    const auto one = [&](std::int64_t h) { body(static_cast<std::size_t>(h)); };
    const auto heads = static_cast<std::int64_t>(jobs_.size());
    if (parallel_) return parallel_(heads, one);
    for (std::int64_t h = 0; h < heads; ++h) one(h);
  }

  // Wide chunks read the scores less often; the choice depends on this head alone.
  int value_chunk(const HeadProblem<Input>& problem) const {
    const bool wide =
        problem.value_dim > 64 && first_pass_shared<Input>(problem.head_dim, 128, machine_.shared_limit()).slab >= 64;
    return wide ? 128 : 64;
  }

  template <class Value>
  int largest(const Value& value) const {
    int result = 0;
    for (const Head& head : heads_) result = std::max(result, static_cast<int>(value(head)));
    return result;
  }
  int tiles() const {
    return largest([](const Head& head) { return (head.mask.length + kTile - 1) / kTile; });
  }

  KernelStatus launch(Kernel kernel, int x, int z, const SharedUse& shared, int map = 0) {
    arguments_.map = map;
    arguments_.slab = shared.slab;
    arguments_.resident = shared.resident;
    return machine_.launch(kernel, {x, static_cast<int>(jobs_.size()), z}, shared.bytes, arguments_);
  }

  KernelStatus launch() {
    const int length = largest([](const Head& head) { return head.mask.length; });
    const int warps = (length + kWarps - 1) / kWarps;
    HEADROOM_KERNEL_TRY(launch(Kernel::ValueSquares, warps, 2, {}));
    for (int map = 0; map < 2; ++map)
      for (const int chunk : {64, 128}) HEADROOM_KERNEL_TRY(launch_first_pass(map, chunk));
    HEADROOM_KERNEL_TRY(launch(Kernel::OddContexts, warps, 2, {}));
    HEADROOM_KERNEL_TRY(launch_second_pass());
    if (largest([](const Head& head) { return head.net_rows != nullptr; }) > 0) {
      const SharedUse shared = use_shared(largest([](const Head& head) { return head.head_dim; }), 2, kStreamed<Input>,
                                          machine_.shared_limit(), net_rows_bytes<Input>);
      if (shared.slab == 0) return kLittleShared;
      HEADROOM_KERNEL_TRY(launch(Kernel::NetRows, tiles(), 1, shared));
    }
    if (largest([](const Head& head) { return head.maps[0].named != nullptr || head.maps[1].named != nullptr; }) > 0)
      HEADROOM_KERNEL_TRY(launch(Kernel::NamedKeys, warps, 2, {}));
    if (const int blocks = largest([](const Head& head) { return head.pool_blocks; }); blocks > 0)
      HEADROOM_KERNEL_TRY(launch(Kernel::FoldPools, (blocks * blocks + kThreads - 1) / kThreads, 1, {}));
    return {};
  }

  KernelStatus launch_first_pass(int map, int chunk) {
    const auto takes_part = [&](const Head& head) {
      return head.value_chunk == chunk && head.maps[map].query.data != nullptr;
    };
    const int head_dim = largest([&](const Head& head) { return takes_part(head) ? head.head_dim : 0; });
    const int value_dim = largest([&](const Head& head) { return takes_part(head) ? head.value_dim : 0; });
    if (head_dim == 0) return {};
    const SharedUse shared = first_pass_shared<Input>(head_dim, chunk, machine_.shared_limit());
    if (shared.slab == 0) return kLittleShared;
    return launch(chunk == 64 ? Kernel::FirstPass64 : Kernel::FirstPass128, tiles(), (value_dim + chunk - 1) / chunk,
                  shared, map);
  }

  KernelStatus launch_second_pass() {
    for (const bool net : {false, true}) {
      const auto takes_part = [&](const Head& head) {
        return head.sweep && (head.maps[1].query.data != nullptr) == net;
      };
      const int head_dim = largest([&](const Head& head) { return takes_part(head) ? head.head_dim : 0; });
      const int bins = largest(
          [&](const Head& head) { return takes_part(head) ? head.logit_bins.bins + head.weight_bins.bins : 0; });
      if (head_dim == 0) continue;
      const SharedUse shared = use_shared(
          head_dim, net ? 2 : 1, kStreamed<Input>, machine_.shared_limit(),
          [&](int slab, int own, int streamed) { return second_pass_bytes<Input>(slab, own, streamed, bins); });
      if (shared.slab == 0) return kLittleShared;
      HEADROOM_KERNEL_TRY(launch(net ? Kernel::NetSecondPass : Kernel::SecondPass, tiles(), 1, shared));
    }
    return {};
  }

  Machine& machine_;
  const ParallelFor& parallel_;
  std::span<HeadJob<Input, float>> jobs_;
  Regions regions_;
  std::vector<HeadPlan> plans_;
  std::vector<Head> heads_;
  Arguments<Input> arguments_;
};

}  // namespace

template <class Input>
KernelStatus run_heads(Machine& machine, std::span<HeadJob<Input, float>> jobs, const StopRequested& stop,
                       const ParallelFor& parallel, double batch_work) {
  for (const HeadJob<Input, float>& job : jobs) HEADROOM_KERNEL_TRY(check(job));
  for (std::size_t begin = 0; begin < jobs.size();) {
    if (stop && stop()) return {StatusCode::Cancelled, "stopped"};
    double work = 0.0, bytes = 0.0;
    std::size_t end = begin;
    do {
      work += work_of(jobs[end]);
      bytes += bytes_of(jobs[end]);
      ++end;
    } while (end < jobs.size() && end - begin < 1024 && work + work_of(jobs[end]) <= batch_work &&
             bytes + bytes_of(jobs[end]) <= kBatchBytes);
    Batch<Input> batch(machine, jobs.subspan(begin, end - begin), parallel);
    HEADROOM_KERNEL_TRY(batch.run());
    begin = end;
  }
  return {};
}

template KernelStatus run_heads(Machine&, std::span<HeadJob<float, float>>, const StopRequested&, const ParallelFor&,
                                double);
template KernelStatus run_heads(Machine&, std::span<HeadJob<BFloat16, float>>, const StopRequested&, const ParallelFor&,
                                double);
template KernelStatus run_heads(Machine&, std::span<HeadJob<Float16, float>>, const StopRequested&, const ParallelFor&,
                                double);

}  // namespace headroom::kernels::cuda
