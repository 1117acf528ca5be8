// One quantity of the heads of two sides: means over the texts of each, and differences text by text. Pure functions
// but for corpora, whose files are read: one thread at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/figures/figure.h"
#include "app/figures/figure_kinds.h"

namespace headroom {

inline constexpr double kCompareLevel = 0.05;

struct HeadDifference {
  HeadRef head;
  double a = std::numeric_limits<double>::quiet_NaN(), b = a;  // means over texts
  double mean = a, low = a, high = a;                          // of b − a over texts; 95 %, NaN with one text
  double q = a;        // of corpora: p among all heads (Benjamini and Hochberg); NaN where nothing is tested
  std::int64_t n = 0;  // texts or sequences

  [[nodiscard]] bool has_interval() const { return low <= high; }
  [[nodiscard]] bool apart() const {
    return std::isnan(q) ? has_interval() && (low > 0.0 || high < 0.0) : q <= kCompareLevel;
  }
};

struct TwoSides {
  bool paired = false;  // heads are the same heads: one checkpoint, or asked for
  bool corpora = false;
  std::int64_t texts_a = 0, texts_b = 0;  // of corpora: sequences
  std::string count_a, count_b;           // "8 texts", "600 sequences"
  std::string of_a, of_b;                 // "8 texts", "600 sequences of 145 documents"
  std::string over_all;                   // of corpora, for the caption: the mean over heads, the loss
  double detectable = std::numeric_limits<double>::quiet_NaN();  // of corpora: median over heads, core/corpus/paired.h
  std::string name_a, name_b;
  std::vector<HeadDifference> heads;   // by layer and head; paired: those with a value on both sides
  std::vector<double> only_a, only_b;  // means of all heads, ascending, not paired
  std::int64_t left_out = 0;           // heads with a value that is not finite

  [[nodiscard]] std::int64_t intervals() const {
    return std::ranges::count_if(heads, [](const HeadDifference& one) { return one.has_interval(); });
  }
  [[nodiscard]] std::int64_t apart() const {
    return std::ranges::count_if(heads, [](const HeadDifference& one) { return one.apart(); });
  }
};

// Mean over the differences, and the interval that Student's t gives it: `level` 0.05 for 95 %. NaN without enough.
struct MeanInterval {
  double mean = std::numeric_limits<double>::quiet_NaN(), low = mean, high = mean;
};
[[nodiscard]] MeanInterval mean_interval(std::span<const double> values, double level);

// Unsupported where runs of one kind of figure differ in more than their texts, or two have the same text.
[[nodiscard]] Result<void> one_model_many_texts(const std::string& kind, std::span<const FigureRun> runs);

// InvalidArgument where the lists do not match; Unsupported where runs are no pair: other tokens, other settings within
// a side.
[[nodiscard]] Result<TwoSides> compare_sides(std::span<const FigureRun> a, std::span<const FigureRun> b,
                                             const QuantityRef& quantity, const FigureChoice& choice);

// Of two corpora over the same sequences: core/corpus/paired.h.
[[nodiscard]] Result<void> check_kept(const FigureRun& corpus, const QuantityRef& quantity);
[[nodiscard]] Result<TwoSides> compare_corpus_sides(const FigureRun& a, const FigureRun& b, const QuantityRef& quantity,
                                                    const FigureChoice& choice);

// What a side is called beside the other: its model, its what-ifs, or its file.
[[nodiscard]] std::string side_name(const FigureRun& run, const FigureRun& other);

}  // namespace headroom
