#include "core/reproduce/spread.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/format.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr int kDigits = 3;
constexpr int kMostDecimals = 5;  // three digits of 0.00123
constexpr int kMoreDecimals = 4;  // for the sake of a small deviation
constexpr double kLeastPlain = 1e-3, kMostPlain = 1e5;

std::vector<double> numbers(const std::vector<double>& values) {
  std::vector<double> result;
  std::ranges::copy_if(values, std::back_inserter(result), [](double value) { return !std::isnan(value); });
  return result;
}

}  // namespace

double Spread::mean() const {
  const std::vector<double> all = numbers(values);
  double sum = 0.0;
  for (const double value : all) sum += value;
  return all.empty() ? kNaN : sum / static_cast<double>(all.size());
}

double Spread::deviation() const {
  const std::vector<double> all = numbers(values);
  if (all.size() < 2) return kNaN;
  const double center = mean();
  double squares = 0.0;
  for (const double value : all) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(all.size() - 1));
}

double Spread::least() const {
  const std::vector<double> all = numbers(values);
  return all.empty() ? kNaN : *std::ranges::min_element(all);
}

double Spread::most() const {
  const std::vector<double> all = numbers(values);
  return all.empty() ? kNaN : *std::ranges::max_element(all);
}

std::string Spread::text() const {
  const double center = mean(), width = deviation();
  if (std::isnan(center)) return "–";
  const double size = std::abs(center);
  if (center != 0.0 && (size < kLeastPlain || size >= kMostPlain))
    return std::isnan(width) ? format("%.2e", center) : format("%.2e ± %.1e", center, width);
  const int magnitude = size > 0.0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  int decimals = kDigits - 1 - magnitude;
  if (width > 0.0)  // a digit of the deviation, where that is not far behind
    decimals = std::max(decimals, std::min(kMoreDecimals, -static_cast<int>(std::floor(std::log10(width)))));
  decimals = std::clamp(decimals, 0, kMostDecimals);
  std::string text = format("%.*f", decimals, center);
  if (std::isnan(width)) return text;
  const std::string deviation = format("%.*f", decimals, width);
  const bool nothing = deviation.find_first_not_of("0.") == std::string::npos;
  return text + " ± " + (nothing ? "0" : deviation);
}

}  // namespace headroom
