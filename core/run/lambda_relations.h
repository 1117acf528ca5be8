// What λ of differential heads goes with, token by token: the class of the token, its position, how surprising it was.
// Numbers of one text each, and over texts: tokens of one text are no independent observations, so intervals and tests
// are over texts alone. Pure; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/numbers.h"
#include "core/model/head_address.h"
#include "core/run/run_snapshot.h"
#include "core/run/token_class.h"

namespace headroom {

// A number that each text has: its mean over the texts that have one, and with two or more of them the 95 % interval
// of Student's t and the p of its being 0, alone and among all tests that are made together (Benjamini and Hochberg).
struct OverTexts {
  double mean = kNaN, low = kNaN, high = kNaN, p = kNaN, adjusted = kNaN;
  std::int64_t texts = 0;

  [[nodiscard]] bool apart() const { return adjusted <= kLevel; }
  static constexpr double kLevel = 0.05;
};
[[nodiscard]] OverTexts over_texts(std::span<const double> values);  // NaN: no value; adjusted stays NaN

// The tokens of one text. `surprisal` has one number a token, nats, NaN for the first; empty: not known.
struct LambdaText {
  const RunSnapshot* run = nullptr;
  std::vector<TokenClass> classes;  // empty: not known
  std::vector<double> surprisal;
};

enum class LambdaRank : std::uint8_t { Position, Surprisal, NextSurprisal };
inline constexpr std::size_t kLambdaRanks = 3;

// One head: λ of the tokens of a class less the mean λ of all tokens of the text; Spearman's rank correlation of λ with
// the position, the surprisal of the token itself and that of the token after it.
struct LambdaRelations {
  HeadRef head;
  std::array<OverTexts, kTokenClasses> by_class;
  std::array<OverTexts, kLambdaRanks> ranks;
};

struct AllLambdaRelations {
  std::vector<LambdaRelations> heads;                // in the order asked for, those with a λ for each token
  std::array<std::int64_t, kTokenClasses> tokens{};  // of each class, over all texts
  std::int64_t class_tests = 0, rank_tests = 0;      // corrected for together; 0 with one text
  // The size that a test sees in 80 of 100 cases before correction, at the median standard error; NaN with one text.
  double class_detectable = kNaN, rank_detectable = kNaN;
};
[[nodiscard]] AllLambdaRelations lambda_relations(std::span<const LambdaText> texts, std::span<const HeadRef> heads);

}  // namespace headroom
