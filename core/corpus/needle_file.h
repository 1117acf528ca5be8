// The file of a needle test (core/corpus/NEEDLES.md#the-file): laid out before the first cell, written cell by cell.
// One thread: HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/corpus/needle_observer.h"
#include "core/corpus/needle_prompts.h"
#include "core/corpus/statistics.h"
#include "core/io/run_file_writer.h"

namespace headroom {

// What is measured of the heads by span: [span, layer, head, map] of each sample.
struct NeedleQuantity {
  std::string_view name;
  std::string_view units, long_name, formula;
  std::vector<double> NeedleMeasures::* values;  // null: `share`, which is made of absolute
};
[[nodiscard]] std::span<const NeedleQuantity> needle_quantities();

// Of a sample, [span, layer, head, map].
[[nodiscard]] std::vector<double> needle_values(const NeedleQuantity& quantity, const NeedleMeasures& measures);
// Its mean over the heads that have it: [span, map].
[[nodiscard]] std::vector<double> over_heads(std::span<const double> values);

class NeedleFile {
 public:
  // Borrows writer, haystack and heads.
  NeedleFile(RunFileWriter& writer, const NeedleHaystack& haystack, const NeedleHeads& heads, bool by_sample,
             bool with_ids)
      : writer_(writer), haystack_(haystack), heads_(heads), by_sample_(by_sample), with_ids_(with_ids) {}

  [[nodiscard]] Result<void> define();
  // The prompts and what they follow from; attributes of the root.
  [[nodiscard]] Result<void> write_prompts(const std::string& ids_sha256);
  // [statistic, columns] of a dataset of one cell, whose axes after statistic, length and depth have these extents.
  [[nodiscard]] Result<void> write_cell(const std::string& path, std::size_t length, std::size_t depth,
                                        std::vector<std::int64_t> extents, std::span<const StatisticValues> results);
  // [samples, columns] of one cell, in /samples.
  [[nodiscard]] Result<void> write_samples(const std::string& name, std::size_t length, std::size_t depth,
                                           std::vector<std::int64_t> extents, std::span<const double> values);
  // [statistic, columns] over all cells, in /overall.
  [[nodiscard]] Result<void> write_overall(const std::string& name, std::vector<std::int64_t> extents,
                                           std::span<const StatisticValues> results);

 private:
  Result<void> define_axes();
  Result<void> define_samples();

  RunFileWriter& writer_;
  const NeedleHaystack& haystack_;
  const NeedleHeads& heads_;
  bool by_sample_, with_ids_;
};

}  // namespace headroom
