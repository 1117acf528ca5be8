// Compares two run files dataset by dataset, block by block so that memory stays small. One thread only, like HDF5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/io/run_file.h"

namespace headroom {

// Two numbers are equal where |a − b| ≤ absolute + relative · max(|a|, |b|); NaN equals NaN, an infinity itself.
struct CompareTolerance {
  double relative = 0.0;
  double absolute = 0.0;
};

enum class QuantityStatus { Equal, Different, OnlyInA, OnlyInB, AxesDiffer, TypesDiffer };

// A largest difference, where it is and between which values.
struct ExtremeDifference {
  double difference = 0.0;
  std::vector<std::int64_t> at;  // one index per axis; empty where there is no difference
  double value_a = 0.0;
  double value_b = 0.0;
  bool found = false;
};

struct QuantityComparison {
  std::string name;
  QuantityStatus status = QuantityStatus::Equal;
  std::vector<std::string> axes;      // of the file that has it, the first if both do
  std::vector<std::int64_t> shape_a;  // empty where it is missing or a scalar
  std::vector<std::int64_t> shape_b;
  std::string found_a;  // "layer 30 × head 9", "string": filled where axes or types differ
  std::string found_b;
  std::int64_t elements = 0;
  std::int64_t differing = 0;  // beyond the tolerance
  // Pairs of which only one is finite, or that are opposite infinities: no difference can be named.
  std::int64_t non_finite_mismatches = 0;
  ExtremeDifference absolute;          // over finite pairs: |a − b|
  ExtremeDifference relative;          // |a − b| / max(|a|, |b|)
  std::vector<std::int64_t> first_at;  // the first differing element (non-finite, or a string)
  std::string first_a;
  std::string first_b;
};

struct FileComparison {
  std::string path_a;
  std::string path_b;
  CompareTolerance tolerance;
  std::vector<QuantityComparison> quantities;  // in the order of a, then what only b has

  [[nodiscard]] bool equal() const;
};

[[nodiscard]] Result<FileComparison> compare_run_files(const RunFile& a, const RunFile& b,
                                                       const CompareTolerance& tolerance);

[[nodiscard]] std::string_view status_name(QuantityStatus status);  // "equal", "only_in_a", …

// "layer 3, head 2" or "–" for a scalar.
[[nodiscard]] std::string describe_place(const std::vector<std::string>& axes, const std::vector<std::int64_t>& at);

// A line per quantity that is not bit-equal, and a last line with the counts. Ends with a newline.
[[nodiscard]] std::string comparison_table(const FileComparison& comparison);
// The object that app/README.md describes, indented.
[[nodiscard]] std::string comparison_json(const FileComparison& comparison);

}  // namespace headroom
