// What a corpus's file says of the rows of one head, over all of its sequences: how many lie where, and what they do as
// they see more keys. Definitions: core/corpus/CORPUS.md#sketches, #curves. What is read is immutable and safe from any
// thread; reading is HDF5: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/curve.h"
#include "core/corpus/opened_corpus.h"
#include "core/corpus/sketch.h"

namespace headroom {

// Rows in the bins of a sketch; of each map of the head, or of the head alone.
struct RowCounts {
  const SketchedQuantity* sketched = nullptr;
  struct OfMap {
    std::vector<std::int64_t> counts;  // [sketched->bins.bins]
    double least = 0.0, most = 0.0;    // exact; NaN where no row is counted
    [[nodiscard]] std::int64_t rows() const;
  };
  std::vector<OfMap> maps;
};

// Means by how many keys a row sees, and their standard errors over sequences, which are taken for independent.
struct KeyCurve {
  const CurveQuantity* curve = nullptr;
  struct OfMap {
    std::vector<double> mean, error;  // [bins]; NaN where no row sees so many keys
  };
  std::vector<OfMap> maps;
};

struct CorpusRows {
  std::int64_t step = -1;                                // as in CorpusStatistics
  std::size_t head = 0;                                  // position in [layers, heads]
  std::map<std::string, RowCounts, std::less<>> counts;  // by SketchedQuantity::name
  std::map<std::string, KeyCurve, std::less<>> curves;   // by CurveQuantity::name; empty: made without --curves
  std::vector<CurveBin> visible;                         // the bins of the curves
};

// Corrupt where its datasets do not fit its axes. A file without sketches, as of a series, has none: they are empty.
[[nodiscard]] Result<std::shared_ptr<const CorpusRows>> read_corpus_rows(const OpenedCorpus& corpus, std::size_t head,
                                                                         std::int64_t step);

// Which of these a quantity of heads is taken over: "context_rms_relative_mean" over context_rms_relative; the sink
// score over the weights of key 0. Null: over none.
[[nodiscard]] const SketchedQuantity* sketch_of(const QuantityRef& ref);
[[nodiscard]] const CurveQuantity* curve_of(const QuantityRef& ref);

// Bars of a sketch: neighbouring bins together, at most `bars` of equal width (of ln x where bins are logarithmic) from
// the first counted bin to the last.
struct RowBar {
  double low = 0.0, high = 0.0;
  std::int64_t count = 0;
};
[[nodiscard]] std::vector<RowBar> row_bars(const SketchBins& bins, const std::vector<std::int64_t>& counts,
                                           std::size_t bars);

}  // namespace headroom
