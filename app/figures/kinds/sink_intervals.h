// The figure `sinks` of a corpus: every head by its mean sink score with an interval over documents, and which heads
// are told from ε. Immutable once made; safe from any thread.
#pragma once

#include "app/figures/figure.h"
#include "core/base/result.h"

namespace headroom {

// Of a file of `headroom corpus`.
[[nodiscard]] bool is_corpus(const FigureRun& run);
// Unsupported where the file has no intervals of sink scores: one document, or values that were not kept.
[[nodiscard]] Result<void> check_sink_intervals(const FigureRun& run, const FigureChoice& choice);
[[nodiscard]] Result<Figure> make_sink_intervals(const FigureRun& run, const FigureChoice& choice);

}  // namespace headroom
