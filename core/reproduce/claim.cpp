#include "core/reproduce/claim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/base/format.h"

namespace headroom {
namespace {

// The 97.5 % point of Student's t; 1.96 is its limit.
double student_t(std::size_t degrees) {
  constexpr std::array kPoints = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  constexpr double kNormal = 1.96;
  return degrees <= kPoints.size() ? kPoints[degrees - 1] : kNormal * (1.0 + 1.5 / static_cast<double>(degrees));
}

}  // namespace

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agrees: return "agrees";
    case Verdict::Differs: return "does not agree";
    case Verdict::Undecided: return "undecided";
    case Verdict::Mixed: return "mixed";
  }
  return "";
}

Verdict verdict_of(const std::vector<bool>& holds) {
  const auto count = std::ranges::count(holds, true);
  if (count == 0) return Verdict::Differs;
  return count == static_cast<std::ptrdiff_t>(holds.size()) ? Verdict::Agrees : Verdict::Mixed;
}

Finding smaller(const std::string& what, const Side& left, const Side& right) {
  Spread difference;
  for (std::size_t i = 0; i < std::min(left.numbers.values.size(), right.numbers.values.size()); ++i)
    if (const double value = right.numbers.values[i] - left.numbers.values[i]; !std::isnan(value))
      difference.values.push_back(value);
  const std::size_t count = difference.values.size();
  Finding finding;
  finding.sentence = what + " is smaller in " + left.name + " than in " + right.name + ": " + left.numbers.text() +
                     " and " + right.numbers.text();
  finding.verdict = Verdict::Undecided;
  if (count < 2) {
    finding.sentence += "; one seed decides nothing.";
    return finding;
  }
  const double half = student_t(count - 1) * difference.deviation() / std::sqrt(static_cast<double>(count));
  const double low = difference.mean() - half, high = difference.mean() + half;
  finding.sentence += format("; difference %.3g, 95 %% interval [%.3g, %.3g].", difference.mean(), low, high);
  if (low > 0.0) finding.verdict = Verdict::Agrees;
  if (high < 0.0) finding.verdict = Verdict::Differs;
  return finding;
}

Finding below(const std::string& what, const Spread& numbers, double limit) {
  std::vector<bool> holds;
  for (const double value : numbers.values) holds.push_back(value < limit);
  return {what + format(" is below %g: ", limit) + numbers.text() + ".", verdict_of(holds)};
}

Verdict ClaimReport::verdict() const {
  const auto all = [&](Verdict verdict) {
    return std::ranges::all_of(findings, [&](const Finding& finding) { return finding.verdict == verdict; });
  };
  for (const Verdict same : {Verdict::Undecided, Verdict::Agrees, Verdict::Differs})
    if (all(same)) return same;
  return Verdict::Mixed;
}

}  // namespace headroom
