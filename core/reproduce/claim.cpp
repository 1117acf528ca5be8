#include "core/reproduce/claim.h"

#include <algorithm>

namespace headroom {

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agrees: return "agrees";
    case Verdict::Differs: return "does not agree";
    case Verdict::Mixed: return "mixed";
  }
  return "";
}

Verdict verdict_of(const std::vector<bool>& holds) {
  const auto count = std::ranges::count(holds, true);
  if (count == 0) return Verdict::Differs;
  return count == static_cast<std::ptrdiff_t>(holds.size()) ? Verdict::Agrees : Verdict::Mixed;
}

Verdict smaller(const Spread& a, const Spread& b) {
  std::vector<bool> holds;
  for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) holds.push_back(a.values[i] < b.values[i]);
  return verdict_of(holds);
}

Verdict ClaimReport::verdict() const {
  const auto all = [&](Verdict verdict) {
    return std::ranges::all_of(findings, [&](const Finding& finding) { return finding.verdict == verdict; });
  };
  return all(Verdict::Agrees) ? Verdict::Agrees : all(Verdict::Differs) ? Verdict::Differs : Verdict::Mixed;
}

}  // namespace headroom
