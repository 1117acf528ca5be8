// A claim of the literature, what these models show of it, sentence by sentence, and a verdict for each that follows
// from numbers. Pure data and functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/reproduce/seed_test.h"
#include "core/reproduce/spread.h"

namespace headroom {

using Cell = std::variant<std::string, double, Spread>;

struct ClaimTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

// Undecided: what was found is no more than chance may do, or the two ways of comparing do not agree.
enum class Verdict { Agrees, Differs, Undecided };

[[nodiscard]] const char* verdict_text(Verdict verdict);

// One thing that a claim says, and what was found.
struct Sentence {
  std::string text;   // "The loss is smaller in diff_v2 than in wrong_pairing": no numbers of these models in it
  std::string found;  // the numbers
  Verdict verdict = Verdict::Undecided;
  // Absent where the sentence is about numbers that no chance is in (a config's, a bound's that holds or does not), or
  // where there are too few seeds to decide it.
  std::optional<SeedTest> test;
  // Set by decide(), of the test alone: the p corrected, and the level that it was held against.
  double adjusted_p = 1.0, level = kFamilyError;
};

struct ClaimReport {
  int number = 0;
  std::string title;
  std::string claim;  // what the text says, and where
  std::vector<ClaimTable> tables;
  std::vector<Sentence> sentences;
  std::string remarks;  // limits of what was measured

  [[nodiscard]] std::string id(std::size_t sentence) const;  // "3b"
};

// `what` is smaller in `left` than in `right`, over seeds.
struct Side {
  std::string name;
  const Spread& numbers;
};
[[nodiscard]] Sentence smaller(const std::string& what, const Side& left, const Side& right, const Start& start);
// `text` holds of more seeds than not; `numbers`, in words, are where it was seen.
[[nodiscard]] Sentence of_most(const std::string& text, const std::vector<bool>& holds, const std::string& numbers);
// The mean over seeds lies in (low, high).
[[nodiscard]] Sentence inside(const std::string& text, const Spread& numbers, double low, double high);
// No chance is in it.
[[nodiscard]] Sentence exact(const std::string& text, const std::string& found, bool holds);

// Verdicts of all sentences that have a test, by Holm's correction over them, in the way of comparing that the models'
// beginnings justify and in the other one: a sentence is decided where both decide it alike.
void decide(ClaimReport& report);

}  // namespace headroom
