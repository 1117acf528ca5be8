#include "core/reproduce/claim.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/format.h"

namespace headroom {
namespace {

constexpr const char* kTooFew = "; one seed decides nothing";

Sentence tested(std::string text, std::string found, const std::optional<SeedTest>& test) {
  Sentence sentence;
  sentence.text = std::move(text);
  sentence.found = std::move(found) + (test ? "" : kTooFew);
  sentence.test = test;
  return sentence;
}

// What a test says once Holm has let it speak.
Verdict side_of(const HolmStep& step, double effect) {
  if (!step.rejected || effect == 0.0) return Verdict::Undecided;
  return effect > 0.0 ? Verdict::Agrees : Verdict::Differs;
}

}  // namespace

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agrees: return "agrees";
    case Verdict::Differs: return "does not agree";
    case Verdict::Undecided: return "undecided";
  }
  return "";
}

std::string ClaimReport::id(std::size_t sentence) const {
  constexpr std::size_t kLetters = 26;
  std::string letters(1, static_cast<char>('a' + sentence % kLetters));
  if (sentence >= kLetters) letters.insert(letters.begin(), static_cast<char>('a' + sentence / kLetters - 1));
  return std::to_string(number) + letters;
}

Sentence smaller(const std::string& what, const Side& left, const Side& right, const Start& start) {
  return tested(what + " is smaller in " + left.name + " than in " + right.name,
                left.numbers.text() + " and " + right.numbers.text(), test_smaller(left.numbers, right.numbers, start));
}

Sentence of_most(const std::string& text, const std::vector<bool>& holds, const std::string& numbers) {
  const auto successes = static_cast<std::int64_t>(std::ranges::count(holds, true));
  const auto trials = static_cast<std::int64_t>(holds.size());
  return tested(
      text, format("%lld of %lld seeds, ", static_cast<long long>(successes), static_cast<long long>(trials)) + numbers,
      test_share(successes, trials));
}

Sentence inside(const std::string& text, const Spread& numbers, double low, double high) {
  return tested(text, numbers.text(), test_inside(numbers, low, high));
}

Sentence exact(const std::string& text, const std::string& found, bool holds) {
  Sentence sentence;
  sentence.text = text;
  sentence.found = found;
  sentence.verdict = holds ? Verdict::Agrees : Verdict::Differs;
  return sentence;
}

void decide(ClaimReport& report) {
  std::vector<Sentence*> family;
  std::vector<double> p, other_p;
  for (Sentence& sentence : report.sentences) {
    if (!sentence.test) continue;
    family.push_back(&sentence);
    p.push_back(sentence.test->p);
    other_p.push_back(sentence.test->other ? sentence.test->other->p : sentence.test->p);
  }
  const std::vector<HolmStep> steps = holm(p), other_steps = holm(other_p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    const SeedTest& test = *family[i]->test;
    family[i]->level = steps[i].level;
    family[i]->adjusted_p = steps[i].adjusted;
    const Verdict verdict = side_of(steps[i], test.effect);
    const Verdict other = side_of(other_steps[i], test.other ? test.other->effect : test.effect);
    family[i]->verdict = verdict == other ? verdict : Verdict::Undecided;
  }
}

}  // namespace headroom
