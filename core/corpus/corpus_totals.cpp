#include "core/corpus/corpus_totals.h"

#include <cmath>
#include <cstddef>

#include "core/base/numbers.h"

namespace headroom {

CorpusTotals::CorpusTotals(const CorpusLayout& layout)
    : counts(layout.count_bins(), 0),
      extremes(2 * layout.extremes(), kNaN),
      moments(layout.float_columns()),
      layout_(layout) {}

void widen(double* extremes, double least, double most) {
  if (std::isnan(least)) return;
  if (std::isnan(extremes[0]) || least < extremes[0]) extremes[0] = least;
  if (std::isnan(extremes[1]) || most > extremes[1]) extremes[1] = most;
}

void CorpusTotals::add(const SequenceRecord& record) {
  for (const auto& [bin, count] : record.counts) counts[bin] += static_cast<std::int64_t>(count);
  for (std::size_t i = 0; i < extremes.size(); i += 2)
    widen(extremes.data() + i, record.extremes[i], record.extremes[i + 1]);
  for (const CorpusDataset& dataset : layout_.floats())
    if (!dataset.kept)
      for (std::size_t c = dataset.first; c < dataset.first + dataset.size; ++c) moments[c].add(record.floats[c]);
}

}  // namespace headroom
