// A claim of the literature, what these models show of it, and the sentence that may be claimed: every word of it from
// numbers. Pure data.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/reproduce/spread.h"

namespace headroom {

using Cell = std::variant<std::string, double, Spread>;

struct ClaimTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

enum class Verdict { Agrees, Differs, Mixed };

[[nodiscard]] const char* verdict_text(Verdict verdict);

// One thing that a claim says, and whether every seed, some or none shows it.
struct Finding {
  std::string sentence;  // with its numbers
  Verdict verdict = Verdict::Mixed;
};

struct ClaimReport {
  int number = 0;
  std::string title;
  std::string claim;  // what the text says, and where
  std::vector<ClaimTable> tables;
  std::vector<Finding> findings;
  std::string remarks;  // limits of what was measured

  // All findings agree; none does; or mixed.
  [[nodiscard]] Verdict verdict() const;
};

// Whether `holds(seed)` is true for all, some or none of the seeds.
[[nodiscard]] Verdict verdict_of(const std::vector<bool>& holds);
// a[i] < b[i] for all, some or none of the seeds; a seed where either is NaN does not hold.
[[nodiscard]] Verdict smaller(const Spread& a, const Spread& b);

}  // namespace headroom
