#include "core/run/lambda_relations.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "core/base/many_tests.h"
#include "core/base/student.h"
#include "core/run/ablation_summary.h"

namespace headroom {
namespace {

constexpr double kDetectablePower = 0.8;

// λ of every token; empty where the head has none of its own for each.
std::span<const float> lambda_rows(const RunSnapshot& run, HeadRef head) {
  const LayerSnapshot* layer = run.layer(head.layer);
  if (layer == nullptr || std::isfinite(layer->lambda_init)) return {};
  const std::span<const float> rows = layer->row_values("rows/lambda", head.head);
  return std::ranges::any_of(rows, [](float value) { return std::isfinite(value); }) ? rows : std::span<const float>();
}

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return values.empty() ? kNaN : sum / static_cast<double>(values.size());
}

// Of the tokens where both are finite; `lag` 1: the number of the token after.
double rank_with(std::span<const float> lambda, std::span<const double> other, std::size_t lag) {
  std::vector<double> a, b;
  for (std::size_t i = 0; i + lag < other.size() && i < lambda.size(); ++i)
    if (std::isfinite(lambda[i]) && std::isfinite(other[i + lag]))
      a.push_back(static_cast<double>(lambda[i])), b.push_back(other[i + lag]);
  return a.size() < 3 ? kNaN : rank_correlation(a, b);
}

struct TextNumbers {
  std::array<double, kTokenClasses> by_class{};
  std::array<double, kLambdaRanks> ranks{};
};

TextNumbers numbers_of(const LambdaText& text, std::span<const float> lambda) {
  TextNumbers found;
  found.by_class.fill(kNaN), found.ranks.fill(kNaN);
  std::vector<double> all;
  std::array<std::vector<double>, kTokenClasses> members;
  std::vector<double> positions(lambda.size());
  for (std::size_t i = 0; i < lambda.size(); ++i) {
    positions[i] = static_cast<double>(i);
    if (!std::isfinite(lambda[i])) continue;
    all.push_back(static_cast<double>(lambda[i]));
    if (i < text.classes.size())
      members[static_cast<std::size_t>(text.classes[i])].push_back(static_cast<double>(lambda[i]));
  }
  const double mean = mean_of(all);
  for (std::size_t c = 0; c < kTokenClasses; ++c) found.by_class[c] = mean_of(members[c]) - mean;
  found.ranks = {rank_with(lambda, positions, 0), rank_with(lambda, text.surprisal, 0),
                 rank_with(lambda, text.surprisal, 1)};
  return found;
}

// Sets `adjusted` of all; the number of tests, and what they see.
std::int64_t correct(std::span<OverTexts* const> tests, double& detectable) {
  std::vector<double> p, errors;
  for (const OverTexts* test : tests) {
    p.push_back(test->p);
    if (!std::isfinite(test->p)) continue;
    const double degrees = static_cast<double>(test->texts) - 1.0;
    errors.push_back(0.5 * (test->high - test->low) / student_point(OverTexts::kLevel, degrees) *
                     student_detectable(degrees, OverTexts::kLevel, kDetectablePower));
  }
  const std::vector<double> adjusted = benjamini_hochberg(p);
  for (std::size_t i = 0; i < tests.size(); ++i) tests[i]->adjusted = adjusted[i];
  if (errors.empty()) return 0;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  detectable = *middle;
  return static_cast<std::int64_t>(errors.size());
}

}  // namespace

OverTexts over_texts(std::span<const double> values) {
  OverTexts found;
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  found.texts = std::ssize(finite), found.mean = mean_of(finite);
  if (finite.size() < 2) return found;
  const double n = static_cast<double>(finite.size());
  double squares = 0.0;
  for (const double value : finite) squares += (value - found.mean) * (value - found.mean);
  const double error = std::sqrt(squares / (n - 1.0) / n);
  if (!(error > 0.0)) return found;  // equal to the last bit: nothing to test
  const double half = student_point(OverTexts::kLevel, n - 1.0) * error;
  found.low = found.mean - half, found.high = found.mean + half;
  found.p = student_two_sided(found.mean / error, n - 1.0);
  return found;
}

AllLambdaRelations lambda_relations(std::span<const LambdaText> texts, std::span<const HeadRef> heads) {
  AllLambdaRelations all;
  for (const LambdaText& text : texts)
    for (const TokenClass one : text.classes) ++all.tokens[static_cast<std::size_t>(one)];
  for (const HeadRef& head : heads) {
    std::array<std::vector<double>, kTokenClasses> by_class;
    std::array<std::vector<double>, kLambdaRanks> ranks;
    bool any = false;
    for (const LambdaText& text : texts) {
      const std::span<const float> lambda = lambda_rows(*text.run, head);
      if (lambda.empty()) continue;
      any = true;
      const TextNumbers numbers = numbers_of(text, lambda);
      for (std::size_t c = 0; c < kTokenClasses; ++c) by_class[c].push_back(numbers.by_class[c]);
      for (std::size_t r = 0; r < kLambdaRanks; ++r) ranks[r].push_back(numbers.ranks[r]);
    }
    if (!any) continue;
    LambdaRelations one;
    one.head = head;
    for (std::size_t c = 0; c < kTokenClasses; ++c) one.by_class[c] = over_texts(by_class[c]);
    for (std::size_t r = 0; r < kLambdaRanks; ++r) one.ranks[r] = over_texts(ranks[r]);
    all.heads.push_back(one);
  }
  std::vector<OverTexts*> class_tests, rank_tests;
  for (LambdaRelations& one : all.heads) {
    for (OverTexts& test : one.by_class) class_tests.push_back(&test);
    for (OverTexts& test : one.ranks) rank_tests.push_back(&test);
  }
  all.class_tests = correct(class_tests, all.class_detectable);
  all.rank_tests = correct(rank_tests, all.rank_detectable);
  return all;
}

}  // namespace headroom
