#include "app/figures/kinds/compare_heads.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>

#include "core/base/number_text.h"
#include "core/base/numbers.h"
#include "core/base/student.h"
#include "core/run/head_values.h"

namespace headroom {
namespace {

constexpr std::size_t kHashShown = 12;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all.empty() ? "none" : all;
}

Error no_pair(const std::string& message) { return {ErrorCode::Unsupported, "compare: " + message}; }

Result<void> same_texts(std::span<const FigureRun> a, std::span<const FigureRun> b) {
  if (a.size() != b.size())
    return Error(ErrorCode::InvalidArgument, "compare: " + std::to_string(a.size()) + " run files and " +
                                                 std::to_string(b.size()) +
                                                 " with --against; they are paired in the order given");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string hash = a[i].attribute("prompt_sha256");
    if (hash == b[i].attribute("prompt_sha256")) continue;
    std::string message =
        "prompt_sha256 differs in pair " + std::to_string(i + 1) + " (" + a[i].name() + ", " + b[i].name() + ")";
    if (std::ranges::none_of(b, [&](const FigureRun& run) { return run.attribute("prompt_sha256") == hash; }))
      message += "; no run of --against is of the text " + hash.substr(0, kHashShown);
    return no_pair(message);
  }
  return {};
}

// Means over the texts of a side; not finite where one of them is not.
double side_mean(std::span<const FigureRun> runs, const QuantityRef& quantity, const HeadRef& head) {
  double sum = 0.0;
  for (const FigureRun& run : runs) sum += head_value(*run.run, quantity, head.layer, head.head);
  return sum / static_cast<double>(runs.size());
}

}  // namespace

std::string side_name(const FigureRun& run, const FigureRun& other) {
  if (run.attribute("checkpoint_sha256") != other.attribute("checkpoint_sha256") &&
      run.run->model_name != other.run->model_name)
    return run.run->model_name;
  if (run.run->what_ifs != other.run->what_ifs)
    return run.run->what_ifs.empty() ? std::string("unchanged") : joined(run.run->what_ifs);
  return run.path.stem().string();
}

MeanInterval mean_interval(std::span<const double> values, double level) {
  MeanInterval result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  double sum = 0.0, squares = 0.0;
  for (const double value : values) sum += value;
  result.mean = sum / n;
  if (values.size() < 2) return result;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double half = student_point(level, n - 1.0) * std::sqrt(squares / (n - 1.0) / n);
  result.low = result.mean - half, result.high = result.mean + half;
  return result;
}

Result<void> one_model_many_texts(const std::string& kind, std::span<const FigureRun> runs) {
  const auto refusal = [&](const std::string& message) { return Error(ErrorCode::Unsupported, kind + ": " + message); };
  std::set<std::string> texts;
  const FigureRun& first = runs.front();
  for (const FigureRun& run : runs) {
    for (const char* name : {"checkpoint_sha256", "dtype_compute"})
      if (run.attribute(name) != first.attribute(name))
        return refusal(std::string(name) + " of " + run.name() + " is not that of " + first.name() +
                       ": its runs are of one model");
    if (run.run->what_ifs != first.run->what_ifs)
      return refusal("what-ifs of " + run.name() + " (" + joined(run.run->what_ifs) + ") are not those of " +
                     first.name() + " (" + joined(first.run->what_ifs) + ")");
    if (!texts.insert(run.attribute("prompt_sha256")).second)
      return refusal("the text of " + run.name() + " (" + run.attribute("prompt_sha256").substr(0, kHashShown) +
                     ") is given twice: intervals are over different texts");
  }
  return {};
}

Result<TwoSides> compare_sides(std::span<const FigureRun> a, std::span<const FigureRun> b, const QuantityRef& quantity,
                               const FigureChoice& choice) {
  HEADROOM_TRY_VOID(one_model_many_texts("compare", a));
  HEADROOM_TRY_VOID(one_model_many_texts("compare", b));
  TwoSides sides;
  sides.texts_a = std::ssize(a), sides.texts_b = std::ssize(b);
  const auto texts = [](std::int64_t count) { return grouped_text(count) + (count == 1 ? " text" : " texts"); };
  sides.of_a = sides.count_a = texts(sides.texts_a), sides.of_b = sides.count_b = texts(sides.texts_b);
  sides.paired = choice.paired || a.front().attribute("checkpoint_sha256") == b.front().attribute("checkpoint_sha256");
  sides.name_a = side_name(a.front(), b.front()), sides.name_b = side_name(b.front(), a.front());
  HEADROOM_TRY(const DrawnHeads drawn, drawn_heads(a.front(), choice));
  if (!sides.paired) {
    HEADROOM_TRY(const DrawnHeads drawn_b, drawn_heads(b.front(), choice));
    const auto means = [&](std::span<const FigureRun> runs, const DrawnHeads& of, std::vector<double>& into) {
      for (const std::int64_t layer : of.layers)
        for (const std::int64_t head : of.heads) {
          const double value = side_mean(runs, quantity, {layer, head});
          if (std::isfinite(value))
            into.push_back(value);
          else
            ++sides.left_out;
        }
      std::ranges::sort(into);
    };
    means(a, drawn, sides.only_a);
    means(b, drawn_b, sides.only_b);
    if (sides.only_a.empty() || sides.only_b.empty())
      return no_pair(quantity_text(quantity) + ": no head of " +
                     (sides.only_a.empty() ? a.front().name() : b.front().name()) + " has a value");
    return sides;
  }
  HEADROOM_TRY_VOID(same_texts(a, b));
  for (const FigureRun& run : b)
    if (run.run->layers != a.front().run->layers || run.run->heads != a.front().run->heads)
      return no_pair(run.name() + " has other layers or heads than " + a.front().name());
  for (const std::int64_t layer : drawn.layers)
    for (const std::int64_t head : drawn.heads) {
      HeadDifference one{{layer, head}};
      one.n = sides.texts_a;
      one.a = side_mean(a, quantity, one.head), one.b = side_mean(b, quantity, one.head);
      if (!std::isfinite(one.a) || !std::isfinite(one.b)) {
        ++sides.left_out;
        continue;
      }
      std::vector<double> differences;
      for (std::size_t i = 0; i < a.size(); ++i)
        differences.push_back(head_value(*b[i].run, quantity, layer, head) -
                              head_value(*a[i].run, quantity, layer, head));
      const MeanInterval found = mean_interval(differences, kCompareLevel);
      one.mean = found.mean, one.low = found.low, one.high = found.high;
      sides.heads.push_back(one);
      sides.only_a.push_back(one.a), sides.only_b.push_back(one.b);
    }
  if (sides.heads.empty())
    return no_pair(quantity_text(quantity) + ": no head has a value in both " + a.front().name() + " and " +
                   b.front().name());
  std::ranges::sort(sides.only_a);
  std::ranges::sort(sides.only_b);
  return sides;
}

}  // namespace headroom
