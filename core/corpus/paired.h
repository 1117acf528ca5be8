// Two corpora over the same sequences: what changes from the one to the other in each sequence, and whether documents
// agree on it. Definitions: core/corpus/CORPUS.md#two-corpora. HDF5: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/result.h"
#include "core/corpus/statistics.h"
#include "core/io/run_file.h"

namespace headroom {

// Of x_s(b) − x_s(a) over the sequences that have both.
struct PairedChange {
  static constexpr double kLevel = 0.05, kPower = 0.8;

  StatisticValues change{};  // NaN where nothing has both
  double mean_a = kNaN;      // of the same sequences
  double mean_b = kNaN;
  double p = kNaN;           // of the mean's being 0, by Student's t with documents as clusters
  std::int64_t in_one = 0;   // sequences of which only one file has the number
  double q = kNaN;           // p among all heads, by Benjamini and Hochberg
  double detectable = kNaN;  // the change that is seen at kLevel with kPower, given this standard error
};

struct PairedQuantity {
  std::string name;                      // a dataset of /sequences
  std::vector<std::string> axes;         // behind `sequence`
  std::vector<std::int64_t> shape;       // likewise
  std::vector<PairedChange> changes;     // row-major
  std::vector<PairedChange> over_heads;  // of each sequence's mean over its heads, by the axes behind layer and head
  [[nodiscard]] bool by_head() const { return shape.size() >= 2 && axes[0] == "layer" && axes[1] == "head"; }
};

struct PairedCorpora {
  std::int64_t sequences = 0, documents = 0;  // in both
  std::int64_t sequences_a = 0, sequences_b = 0;
  std::vector<std::int64_t> layers, heads;  // of both, where they are the same
  std::vector<double> epsilons;             // likewise
  struct Difference {
    std::string name, a, b;
  };
  std::vector<Difference> settings;        // what they were made with
  std::vector<std::string> left_out;       // why a quantity is not compared
  std::vector<PairedQuantity> quantities;  // next_token_loss and sink_rate first
  [[nodiscard]] bool equal() const;        // to the last bit, all that was compared
};

// InvalidArgument, with what differs, for corpora of other sequences or documents; Corrupt where one has not what it
// says; Cancelled by `stop`. `only`: quantities of heads that are compared; all without any. The loss and the sink rate
// always are.
[[nodiscard]] Result<PairedCorpora> compare_corpora(const RunFile& a, const RunFile& b,
                                                    const std::function<bool()>& stop,
                                                    std::span<const std::string_view> only = {});

}  // namespace headroom
