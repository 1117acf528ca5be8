// Rank correlations with their intervals over heads, on a thread of their own: their draws take longer than a frame.
// Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/worker.h"
#include "core/run/ablation_summary.h"

namespace headroom {

// Two numbers of each head; finite, and as many of one as of the other.
struct HeadPairs {
  std::vector<double> a, b;
  friend bool operator==(const HeadPairs&, const HeadPairs&) = default;
};

class RankIntervals {
 public:
  RankIntervals();
  ~RankIntervals();  // stops what is being drawn
  RankIntervals(const RankIntervals&) = delete;
  RankIntervals& operator=(const RankIntervals&) = delete;

  // The correlations of these groups, NaN of those that are not there yet. Other groups than before stop what is being
  // drawn.
  struct Answer {
    std::vector<Bootstrapped> of;  // by group
    std::size_t there = 0;         // how many of them, from the first
  };
  [[nodiscard]] Answer of(const std::vector<HeadPairs>& groups);

 private:
  struct Shared;

  std::vector<HeadPairs> asked_;
  std::shared_ptr<Shared> shared_;
  std::uint64_t times_asked_ = 0;
  Worker worker_;
};

}  // namespace headroom
