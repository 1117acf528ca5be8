// Sentences and their verdicts on planted numbers: what Holm's correction takes back, where both ways of comparing must
// agree, and what needs no test.
#include "core/reproduce/claim.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/reproduce/claims.h"
#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Start kAlike = {true, true}, kSameData = {true, false};
// Ten seeds that differ by far less than 1.
const std::vector<double> kTen = {0.01, -0.02, 0.03, 0.0, -0.01, 0.02, -0.03, 0.015, -0.005, 0.025};

std::vector<double> shifted(std::vector<double> numbers, double by) {
  for (double& number : numbers) number += by;
  return numbers;
}

Sentence compare(const std::vector<double>& left, const std::vector<double>& right, const Start& start) {
  const Spread a{left}, b{right};
  return smaller("The loss", {"A", a}, {"B", b}, start);
}

// The verdicts of a claim of these sentences.
std::vector<Verdict> decided(std::vector<Sentence> sentences) {
  ClaimReport report;
  report.sentences = std::move(sentences);
  decide(report);
  std::vector<Verdict> verdicts;
  for (const Sentence& sentence : report.sentences) verdicts.push_back(sentence.verdict);
  return verdicts;
}

Verdict alone(const Sentence& sentence) { return decided({sentence}).front(); }

}  // namespace

CATCH_TEST_CASE("claim: a planted difference is seen on both sides, none where there is none") {
  using enum Verdict;
  for (const Start& start : {kAlike, kSameData}) {
    CATCH_CHECK(alone(compare(kTen, shifted(kTen, 1.0), start)) == Agrees);
    CATCH_CHECK(alone(compare(shifted(kTen, 1.0), kTen, start)) == Differs);
    CATCH_CHECK(alone(compare(kTen, kTen, start)) == Undecided);
    const std::vector<double> turned(kTen.rbegin(), kTen.rend());
    CATCH_CHECK(alone(compare(kTen, turned, start)) == Undecided);
  }
  const Sentence sentence = compare({1, 2, 3}, {3, 5, 7}, kAlike);
  CATCH_CHECK(sentence.text == "The loss is smaller in A than in B");
  CATCH_CHECK(sentence.found == "2.00 ± 1.00 and 5.00 ± 2.00");
}

CATCH_TEST_CASE("claim: where the two ways of comparing disagree nothing is decided") {
  // In pairs 2, 3, 4 (p 0.035); beside each other the sides spread by more than they differ (p 0.1).
  CATCH_CHECK(alone(compare({1, 2, 3}, {3, 5, 7}, kAlike)) == Verdict::Undecided);
  CATCH_CHECK(alone(compare({1, 2, 3}, {3, 5, 7}, kSameData)) == Verdict::Undecided);
  // SciPy: beside each other p 0.030, in pairs 0.077.
  const std::vector<double> left = {1, 5, 1, 5}, right = {21, 9, 19, 9};
  const Sentence welch = compare(left, right, kSameData);
  CATCH_REQUIRE(welch.test.has_value());
  CATCH_CHECK(welch.test->p < 0.05);
  CATCH_CHECK(welch.test->other->p > 0.05);
  CATCH_CHECK(alone(welch) == Verdict::Undecided);
}

CATCH_TEST_CASE("claim: what is decided alone may not be among others") {
  // SciPy: Welch's p 0.0316, in pairs 0.0303.
  const Sentence weak = compare({0.8, 0.3, 0.7, -1.1, 0.9, 0.6}, {0.1, 3.2, 4.0, 0.9, 1.8, 3.1}, kSameData);
  CATCH_REQUIRE(weak.test.has_value());
  CATCH_CHECK(weak.test->p == near(0.03162075998158713, 1e-9));
  CATCH_CHECK(weak.test->other->p == near(0.03032301569768434, 1e-9));
  const Sentence strong = compare(kTen, shifted(kTen, 1.0), kSameData), nothing = compare(kTen, kTen, kSameData);
  CATCH_CHECK(alone(weak) == Verdict::Agrees);
  // Twice 0.03 is no longer below 5 %.
  CATCH_CHECK(decided({weak, weak}) == std::vector<Verdict>(2, Verdict::Undecided));
  // A strong one is taken whatever stands beside it.
  CATCH_CHECK(decided({nothing, strong, nothing, weak})[1] == Verdict::Agrees);
  // Sentences without a test are no part of the family.
  const Sentence certain = exact("It is so", "3 of 3", true);
  CATCH_CHECK(decided({weak, certain, certain, certain})[0] == Verdict::Agrees);
}

CATCH_TEST_CASE("claim: the corrected p and the level that the interval is shown at") {
  ClaimReport report;
  report.sentences = {compare(kTen, kTen, kSameData), compare(kTen, shifted(kTen, 1.0), kSameData),
                      exact("It is so", "", true)};
  decide(report);
  CATCH_CHECK(report.sentences[1].level == 0.025);
  CATCH_CHECK(report.sentences[1].adjusted_p == near(2.0 * report.sentences[1].test->p, 1e-15));
  CATCH_CHECK(report.sentences[0].level == 0.05);
  CATCH_CHECK(report.sentences[0].adjusted_p == 1.0);
}

CATCH_TEST_CASE("claim: one seed decides nothing") {
  for (const Sentence& sentence :
       {compare({1}, {100}, kAlike), compare({1, kNaN}, {100, 200}, kAlike), compare({1, 2}, {100}, kSameData),
        compare({}, {}, kSameData), of_most("It", {true}, "0.5"), inside("It", Spread{{0.5}}, 0.0, 1.0)}) {
    CATCH_CHECK_FALSE(sentence.test.has_value());
    CATCH_CHECK(sentence.found.find("; one seed decides nothing") != std::string::npos);
    CATCH_CHECK(alone(sentence) == Verdict::Undecided);
  }
}

CATCH_TEST_CASE("claim: most seeds, by the exact binomial test") {
  const auto verdict = [](int yes, int no) {
    std::vector<bool> holds(static_cast<std::size_t>(yes), true);
    holds.resize(static_cast<std::size_t>(yes + no), false);
    return alone(of_most("It", holds, "0.5"));
  };
  // Of ten, nine decide (22/1024), eight do not (112/1024); three never do.
  CATCH_CHECK(verdict(10, 0) == Verdict::Agrees);
  CATCH_CHECK(verdict(9, 1) == Verdict::Agrees);
  CATCH_CHECK(verdict(8, 2) == Verdict::Undecided);
  CATCH_CHECK(verdict(1, 9) == Verdict::Differs);
  CATCH_CHECK(verdict(3, 0) == Verdict::Undecided);
  CATCH_CHECK(of_most("It", {true, false, true}, "0.5 ± 0.1").found == "2 of 3 seeds, 0.5 ± 0.1");
}

CATCH_TEST_CASE("claim: a mean inside an interval, outside, and on its edge") {
  CATCH_CHECK(alone(inside("It", Spread{shifted(kTen, 1.0)}, 0.9, 1.1)) == Verdict::Agrees);
  CATCH_CHECK(alone(inside("It", Spread{shifted(kTen, 2.0)}, 0.9, 1.1)) == Verdict::Differs);
  CATCH_CHECK(alone(inside("It", Spread{shifted(kTen, 1.1)}, 0.9, 1.1)) == Verdict::Undecided);
}

CATCH_TEST_CASE("claim: what no chance is in is decided as it is") {
  CATCH_CHECK(alone(exact("It is so", "3 of 3", true)) == Verdict::Agrees);
  CATCH_CHECK(alone(exact("It is so", "2 of 3", false)) == Verdict::Differs);
  CATCH_CHECK(std::string(verdict_text(Verdict::Agrees)) == "agrees");
  CATCH_CHECK(std::string(verdict_text(Verdict::Differs)) == "does not agree");
  CATCH_CHECK(std::string(verdict_text(Verdict::Undecided)) == "undecided");
}

CATCH_TEST_CASE("claim: a sentence has its claim's number and a letter") {
  ClaimReport report;
  report.number = 3;
  CATCH_CHECK(report.id(0) == "3a");
  CATCH_CHECK(report.id(25) == "3z");
  CATCH_CHECK(report.id(26) == "3aa");
  CATCH_CHECK(report.id(53) == "3bb");
}

CATCH_TEST_CASE("claim: nine of them, in order, parameters and decoding need no model") {
  CATCH_REQUIRE(claims().size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    CATCH_INFO(i + 1);
    const Claim& claim = claims()[i];
    CATCH_CHECK(claim.number == static_cast<int>(i + 1));
    CATCH_CHECK(claim.examine != nullptr);
    CATCH_CHECK(claim.recipes.empty() == (i == 6 || i == 7));
    CATCH_CHECK(claim.initial == (i < 2));
  }
}

}  // namespace headroom::test
