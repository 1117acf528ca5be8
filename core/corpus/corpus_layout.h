// What is measured of every sequence, as columns of its record, and what of it is kept. Immutable after construction;
// safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/curve.h"
#include "core/corpus/sketch.h"
#include "core/measure/quantity.h"
#include "core/run/run_layout.h"

namespace headroom {

// Columns of a record that are one dataset: elements [layers, heads, …], row-major.
struct CorpusDataset {
  const Quantity* quantity = nullptr;    // null: a curve, or
  const CurveQuantity* curve = nullptr;  // null: the indicator of sinks, by epsilon and map before layer and head
  std::string name;                      // among all of them; of a curve "curve_NAME"
  std::size_t first = 0, size = 0;
  std::vector<std::string> axes;
  std::vector<std::int64_t> extents;
  bool kept = true;
};

// Bins of all heads, one after another, in the counts of a record.
struct CorpusBins {
  const Quantity* histogram = nullptr;       // of the group hist, or
  const SketchedQuantity* sketch = nullptr;  // of the group sketch
  std::size_t first = 0, per_head = 0;       // per_head: components × bins
  std::size_t first_extreme = 0;             // of a sketch: place among extremes, components per head
};

class CorpusLayout {
 public:
  // Curves are measured with `curves`, and never kept. `shape` of a run over one sequence. `keep`: "all", "core",
  // "none" or names separated by commas, which must be float quantities of the root: InvalidArgument with the name.
  // `epsilons` ascending, in (0, 1).
  [[nodiscard]] static Result<CorpusLayout> create(RunShape shape, std::string_view keep, std::vector<double> epsilons,
                                                   bool curves = false);

  [[nodiscard]] const RunShape& shape() const { return shape_; }
  [[nodiscard]] const std::vector<double>& epsilons() const { return epsilons_; }
  [[nodiscard]] const std::vector<CorpusDataset>& floats() const { return floats_; }      // averaged
  [[nodiscard]] const std::vector<CorpusDataset>& integers() const { return integers_; }  // positions: kept or not
  [[nodiscard]] const std::vector<CorpusBins>& bins() const { return bins_; }
  [[nodiscard]] const CorpusDataset& sinks() const { return floats_[sinks_]; }
  [[nodiscard]] std::int64_t curve_bins() const { return curve_bins_; }  // 0: no curves
  [[nodiscard]] const CorpusDataset* find(std::string_view name) const;

  [[nodiscard]] std::size_t heads() const { return shape_.layers.size() * shape_.heads.size(); }
  [[nodiscard]] std::size_t float_columns() const { return float_columns_; }
  [[nodiscard]] std::size_t integer_columns() const { return integer_columns_; }
  [[nodiscard]] std::size_t rates() const { return 3 * epsilons_.size(); }  // sink_rate: by epsilon and map
  [[nodiscard]] std::size_t count_bins() const { return count_bins_; }
  [[nodiscard]] std::size_t extremes() const { return extremes_; }  // pairs: smallest and largest row of a sketch
  [[nodiscard]] std::size_t kept_bytes() const;                     // of a sequence in the file

 private:
  void add_curves();

  RunShape shape_;
  std::vector<double> epsilons_;
  std::vector<CorpusDataset> floats_, integers_;
  std::vector<CorpusBins> bins_;
  std::size_t float_columns_ = 0, integer_columns_ = 0, count_bins_ = 0, extremes_ = 0, sinks_ = 0;
  std::int64_t curve_bins_ = 0;
};

// The maps of sink_rate: first, second, net.
[[nodiscard]] const std::vector<std::string>& sink_maps();

}  // namespace headroom
