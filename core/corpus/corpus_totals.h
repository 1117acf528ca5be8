// What is added up over sequences in whole numbers: rows in bins, extremes of rows, and exact sums of what is not kept.
// In any order, in any parts, it comes to the same bits. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/corpus/corpus_layout.h"
#include "core/corpus/exact_sum.h"
#include "core/corpus/sequence_record.h"

namespace headroom {

struct CorpusTotals {
  explicit CorpusTotals(const CorpusLayout& layout);
  void add(const SequenceRecord& record);

  std::vector<std::int64_t> counts;   // by bin of the layout
  std::vector<double> extremes;       // smallest and largest row of each sketch's place; NaN for none
  std::vector<ExactMoments> moments;  // by float column, of what is not kept

 private:
  const CorpusLayout& layout_;
};

// The smaller and the larger of two pairs, NaN for none.
void widen(double* extremes, double least, double most);

}  // namespace headroom
