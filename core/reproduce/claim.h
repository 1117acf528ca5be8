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

// Undecided: the seeds do not tell, the 95 % interval of the difference holds 0. Mixed: some seeds show it and some do
// not, or several findings do not say the same.
enum class Verdict { Agrees, Differs, Undecided, Mixed };

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

  // Agrees, Differs or Undecided where all findings are; Undecided without any; otherwise Mixed.
  [[nodiscard]] Verdict verdict() const;
};

// Whether `holds(seed)` is true for all, some or none of the seeds.
[[nodiscard]] Verdict verdict_of(const std::vector<bool>& holds);
// `what` is smaller in `left` than in `right`: the difference right − left of each seed, its mean and 95 % interval by
// Student's t. One seed decides nothing.
struct Side {
  std::string name;
  const Spread& numbers;
};
[[nodiscard]] Finding smaller(const std::string& what, const Side& left, const Side& right);
// `what` of every seed is below the limit.
[[nodiscard]] Finding below(const std::string& what, const Spread& numbers, double limit);

}  // namespace headroom
