// When a finding agrees: intervals of differences by Student's t, bounds that hold for every seed, and what becomes of
// a claim with several findings.
#include "core/reproduce/claim.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/reproduce/claims.h"
#include "tests/support/catch.h"

namespace headroom::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Finding compare(const std::vector<double>& left, const std::vector<double>& right) {
  const Spread a{left}, b{right};
  return smaller("The loss", {"A", a}, {"B", b});
}

bool says(const Finding& finding, const std::string& words) {
  return finding.sentence.find(words) != std::string::npos;
}

Verdict together(const std::vector<Verdict>& verdicts) {
  ClaimReport report;
  for (const Verdict verdict : verdicts) report.findings.push_back({"", verdict});
  return report.verdict();
}

}  // namespace

CATCH_TEST_CASE("claim: the interval of the seeds' differences decides") {
  // Differences 2, 3, 4: 3 ± 4.303·1/√3 = 3 ± 2.484.
  const Finding agrees = compare({1, 2, 3}, {3, 5, 7});
  CATCH_CHECK(agrees.verdict == Verdict::Agrees);
  CATCH_CHECK(
      agrees.sentence ==
      "The loss is smaller in A than in B: 2.00 ± 1.00 and 5.00 ± 2.00; difference 3, 95 % interval [0.516, 5.48].");
  // The same turned round.
  const Finding differs = compare({3, 5, 7}, {1, 2, 3});
  CATCH_CHECK(differs.verdict == Verdict::Differs);
  CATCH_CHECK(says(differs, "difference -3, 95 % interval [-5.48, -0.516]."));
  // 1, 2, 3: 2 ± 2.484, although every seed says the same.
  const Finding undecided = compare({0, 0, 0}, {1, 2, 3});
  CATCH_CHECK(undecided.verdict == Verdict::Undecided);
  CATCH_CHECK(says(undecided, "95 % interval [-0.484, 4.48]."));
  // Seeds are compared in pairs: the spread of either side is larger than the difference.
  CATCH_CHECK(compare({10, 200, 3000}, {12, 203, 3004}).verdict == Verdict::Agrees);
  CATCH_CHECK(compare({10, 200, 3000}, {203, 3004, 12}).verdict == Verdict::Undecided);
  // Equal numbers are not smaller.
  CATCH_CHECK(compare({1, 2, 3}, {1, 2, 3}).verdict == Verdict::Undecided);
}

CATCH_TEST_CASE("claim: the interval is Student's at every number of seeds") {
  // 97.5 % points by integrating the density (Simpson, 20,000 intervals); beyond ten degrees the program's own may be
  // up to 1.5 % wide of them.
  const std::pair<int, double> points[] = {
      {1, 12.7062}, {2, 4.3027},  {3, 3.1824},  {4, 2.7764},  {5, 2.5706},  {6, 2.4469},  {7, 2.3646},  {8, 2.3060},
      {9, 2.2622},  {10, 2.2281}, {11, 2.2010}, {15, 2.1314}, {20, 2.0860}, {30, 2.0423}, {60, 2.0003}, {120, 1.9799}};
  for (const auto& [degrees, t] : points) {
    CATCH_INFO(degrees);
    // n numbers 1 apart: their variance is n(n + 1)/12, that of the mean (n + 1)/12.
    const auto n = static_cast<std::size_t>(degrees + 1);
    const double half = t * std::sqrt(static_cast<double>(n + 1) / 12.0);
    const auto verdict = [&](double mean) {
      std::vector<double> left(n, 0.0), right;
      for (std::size_t i = 0; i < n; ++i)
        right.push_back(mean + static_cast<double>(i) - 0.5 * static_cast<double>(n - 1));
      return compare(left, right).verdict;
    };
    const double slack = degrees <= 10 ? 1.001 : 1.015;
    CATCH_CHECK(verdict(half * slack) == Verdict::Agrees);
    CATCH_CHECK(verdict(half / 1.001) == Verdict::Undecided);
    CATCH_CHECK(verdict(-half / 1.001) == Verdict::Undecided);
    CATCH_CHECK(verdict(-half * slack) == Verdict::Differs);
  }
}

CATCH_TEST_CASE("claim: one seed decides nothing, and a seed that one side lacks does not count") {
  for (const Finding& finding : {compare({1}, {100}), compare({1, kNaN}, {100, 200}), compare({1, 2}, {100}),
                                 compare({}, {}), compare({kNaN, kNaN}, {kNaN, kNaN})}) {
    CATCH_CHECK(finding.verdict == Verdict::Undecided);
    CATCH_CHECK(says(finding, "; one seed decides nothing."));
    CATCH_CHECK_FALSE(says(finding, "interval"));
  }
  // 2, 3, 4 are left; the pairs stay pairs.
  const Finding finding = compare({1, kNaN, 2, 3, 50}, {3, 70, 5, 7, kNaN});
  CATCH_CHECK(finding.verdict == Verdict::Agrees);
  CATCH_CHECK(says(finding, "difference 3, 95 % interval [0.516, 5.48]."));
}

CATCH_TEST_CASE("claim: below a limit, seed by seed") {
  CATCH_CHECK(below("It", Spread{{0.1, 0.2}}, 0.3).verdict == Verdict::Agrees);
  CATCH_CHECK(below("It", Spread{{0.3, 0.4}}, 0.3).verdict == Verdict::Differs);  // the limit itself is not below it
  CATCH_CHECK(below("It", Spread{{0.1, 0.4}}, 0.3).verdict == Verdict::Mixed);
  CATCH_CHECK(below("It", Spread{{0.1, kNaN}}, 0.3).verdict == Verdict::Mixed);
  CATCH_CHECK(below("The score", Spread{{0.125}}, 0.3).sentence == "The score is below 0.3: 0.125.");
  CATCH_CHECK(verdict_of({true}) == Verdict::Agrees);
  CATCH_CHECK(verdict_of({false}) == Verdict::Differs);
  CATCH_CHECK(verdict_of({}) == Verdict::Differs);
  CATCH_CHECK(verdict_of({true, false, true}) == Verdict::Mixed);
}

CATCH_TEST_CASE("claim: several findings agree where all do") {
  using enum Verdict;
  CATCH_CHECK(together({Agrees}) == Agrees);
  CATCH_CHECK(together({Agrees, Agrees}) == Agrees);
  CATCH_CHECK(together({Differs, Differs}) == Differs);
  CATCH_CHECK(together({Agrees, Differs}) == Mixed);
  CATCH_CHECK(together({Agrees, Mixed}) == Mixed);
  CATCH_CHECK(together({Mixed, Mixed}) == Mixed);
  CATCH_CHECK(together({Agrees, Undecided}) == Mixed);
  CATCH_CHECK(together({Differs, Undecided}) == Mixed);
  // One seed: nothing was decided, which is not the same as mixed.
  CATCH_CHECK(together({Undecided, Undecided}) == Undecided);
  CATCH_CHECK(together({}) == Undecided);
  CATCH_CHECK(std::string(verdict_text(Agrees)) == "agrees");
  CATCH_CHECK(std::string(verdict_text(Differs)) == "does not agree");
  CATCH_CHECK(std::string(verdict_text(Undecided)) == "undecided");
  CATCH_CHECK(std::string(verdict_text(Mixed)) == "mixed");
}

CATCH_TEST_CASE("claim: eight of them, in order; the last two need no model") {
  CATCH_REQUIRE(claims().size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CATCH_INFO(i + 1);
    const Claim& claim = claims()[i];
    CATCH_CHECK(claim.number == static_cast<int>(i + 1));
    CATCH_CHECK(claim.examine != nullptr);
    CATCH_CHECK(claim.recipes.empty() == (i >= 6));
    CATCH_CHECK(claim.initial == (i < 2));
  }
}

}  // namespace headroom::test
