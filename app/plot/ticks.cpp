#include "app/plot/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/base/number_text.h"
#include "core/base/numbers.h"

namespace headroom {
namespace {

constexpr std::array kDigits{1, 2, 5};

// digit · 10^exponent, exact multiples of which are correctly rounded.
struct Step {
  int digit = 1, exponent = 0;
  [[nodiscard]] double times(double count) const {
    const double whole = count * digit;
    return exponent >= 0 ? whole * std::pow(10.0, exponent) : whole / std::pow(10.0, -exponent);
  }
};

// The smallest step that is at least `least`; `least` > 0 and finite.
Step step_of_at_least(double least) {
  for (int exponent = static_cast<int>(std::floor(std::log10(least))) - 1;; ++exponent) {
    for (const int digit : kDigits) {
      if (const Step step{digit, exponent}; step.times(1.0) >= least * (1.0 - 1e-12)) return step;
    }
  }
}

// "5e−5", "1.25e7": as many digits as tell values apart whose smallest place is 10^place.
std::string scientific(double value, int place) {
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  return fixed_text(value / std::pow(10.0, exponent), std::clamp(exponent - place, 0, 15)) + "e" +
         fixed_text(exponent, 0);
}

// Whole numbers stand without decimals among 0.5s, as 0 and 1 do on most axes.
std::string label_of(double value, int place, double largest) {
  if (value == 0.0) return "0";
  if (largest >= 1e7 || largest < 1e-3) return scientific(value, place);
  const double whole = std::round(value);
  if (std::abs(value - whole) < 1e-9 * std::pow(10.0, place)) return grouped_text(static_cast<std::int64_t>(whole));
  return fixed_text(value, std::max(0, -place));
}

bool has_ticks(double low, double high, double length, double least_gap) {
  return std::isfinite(low) && std::isfinite(high) && std::isfinite(high - low) && high >= low && length > 0.0 &&
         least_gap > 0.0;
}

std::vector<Tick> stepped(double low, double high, Step step) {
  const double unit = step.times(1.0), first = std::ceil(low / unit - 1e-9), last = std::floor(high / unit + 1e-9);
  // Beyond 2^52 steps from zero the multiples are no longer apart.
  if (!(std::max(std::abs(first), std::abs(last)) < 4.5e15)) return {};
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  for (double i = first; i <= last; i += 1.0) {
    const double value = step.times(i);
    ticks.push_back({value == 0.0 ? 0.0 : value, label_of(value, step.exponent, largest)});
  }
  return ticks;
}

// Plain decimals where all of the axis is of everyday size, powers of ten otherwise.
std::string log_label(int digit, int exponent, bool plain) {
  const double value = Step{digit, exponent}.times(1.0);
  if (plain)
    return exponent >= 0 ? grouped_text(static_cast<std::int64_t>(std::llround(value))) : fixed_text(value, -exponent);
  return digit == 1 ? power_text(exponent) : std::to_string(digit) + "·" + power_text(exponent);
}

// On less than a decade 1, 2 and 5 may all miss: linear steps, with the gap kept where they are closest.
std::vector<Tick> linear_on_log(double low, double high, double length, double least_gap) {
  const double whole = std::log(high / low);
  for (double gap = least_gap; gap <= 2.0 * length; gap *= 1.5) {
    std::vector<Tick> ticks = linear_ticks(low, high, length, gap);
    bool apart = true;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      apart = apart && std::log(ticks[i].value / ticks[i - 1].value) / whole * length >= least_gap;
    }
    if (apart) return ticks;
  }
  return {};
}

}  // namespace

std::vector<Tick> linear_ticks(double low, double high, double length, double least_gap) {
  if (!has_ticks(low, high, length, least_gap)) return {};
  if (low == high) return {{low, readout_text(low)}};
  const double least = (high - low) * least_gap / length;
  return least > 0.0 && std::isfinite(least) ? stepped(low, high, step_of_at_least(least)) : std::vector<Tick>{};
}

std::vector<Tick> index_ticks(std::int64_t low, std::int64_t high, double length, double least_gap) {
  if (high < low || !(length > 0.0) || !(least_gap > 0.0)) return {};
  if (low == high) return {{static_cast<double>(low), grouped_text(low)}};
  const double from = static_cast<double>(low), to = static_cast<double>(high);
  std::vector<Tick> ticks = stepped(from, to, step_of_at_least(std::max(1.0, (to - from) * least_gap / length)));
  for (Tick& tick : ticks) tick.label = grouped_text(std::llround(tick.value));
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, double length, double least_gap) {
  if (!has_ticks(low, high, length, least_gap) || !(low > 0.0)) return {};
  if (low == high) return {{low, readout_text(low)}};
  const double decades = std::log10(high / low), decade = length / decades;
  const bool plain = low >= 0.999e-3 && high < 1e7;
  const bool small_steps = decades < 2.0 && std::log10(2.0) * decade >= least_gap;
  const bool small_marks = std::log10(2.0) * decade >= 6.0;
  int every = 1;
  for (const int skip : {1, 2, 3, 5, 10, 20, 50, 100}) {
    every = skip;
    if (skip * decade >= least_gap) break;
  }
  std::vector<Tick> ticks;
  std::size_t labelled = 0;
  for (int e = static_cast<int>(std::floor(std::log10(low) - 1e-9)); e <= std::floor(std::log10(high) + 1e-9); ++e) {
    for (const int digit : kDigits) {
      const double value = Step{digit, e}.times(1.0);
      if (value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9)) continue;
      const bool label = digit == 1 ? e % every == 0 : small_steps;
      if (!label && (digit != 1 ? !small_marks : decade < 6.0)) continue;
      ticks.push_back({value, label ? log_label(digit, e, plain) : std::string()});
      if (label) ++labelled;
    }
  }
  if (labelled >= 2 || decades >= 2.0) return ticks;
  std::vector<Tick> linear = linear_on_log(low, high, length, least_gap);
  return linear.size() > labelled ? linear : ticks;
}

double symlog_place(double value, double linear) {
  const double magnitude = std::abs(value) / linear;
  return std::copysign(magnitude <= 1.0 ? magnitude : 1.0 + std::log10(magnitude), value);
}

double symlog_value(double place, double linear) {
  const double magnitude = std::abs(place);
  return std::copysign(linear * (magnitude <= 1.0 ? magnitude : std::pow(10.0, magnitude - 1.0)), place);
}

std::vector<Tick> symlog_ticks(double low, double high, double linear, double length, double least_gap) {
  if (!has_ticks(low, high, length, least_gap) || !(linear > 0.0) || low == high) return {};
  const double from = symlog_place(low, linear), to = symlog_place(high, linear);
  const auto pixel = [&](double value) { return (symlog_place(value, linear) - from) / (to - from) * length; };
  std::vector<Tick> ticks;
  const auto offer = [&](double value, std::string label) {
    if (value < low || value > high) return;
    const bool room = std::ranges::all_of(
        ticks, [&](const Tick& tick) { return std::abs(pixel(tick.value) - pixel(value)) >= least_gap; });
    if (room) ticks.push_back({value, std::move(label)});
  };
  offer(0.0, "0");
  const int first = static_cast<int>(std::floor(std::log10(linear) + 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(std::max(std::abs(low), std::abs(high))) + 1e-9));
  // From the outermost decade inwards, so that the ends are named; what both sides have stands on both.
  for (const int digit : kDigits)
    for (int e = last; e >= first; --e) {
      const double value = Step{digit, e}.times(1.0);
      if (value < linear * (1.0 - 1e-9)) continue;
      for (const double sign : {1.0, -1.0})
        offer(sign * value, (sign < 0.0 ? "\u2212" : "") + log_label(digit, e, true));
    }
  std::ranges::sort(ticks, {}, &Tick::value);
  return ticks;
}

float Axis::pixel(double v) const {
  const double span = static_cast<double>(to) - static_cast<double>(from);
  if (std::isnan(v)) return std::numeric_limits<float>::quiet_NaN();
  if (low == high) return static_cast<float>(static_cast<double>(from) + 0.5 * span);
  if (linear > 0.0) {
    const double first = symlog_place(low, linear), last = symlog_place(high, linear);
    return static_cast<float>(static_cast<double>(from) + (symlog_place(v, linear) - first) / (last - first) * span);
  }
  if (log && !(v > 0.0 && low > 0.0 && high > 0.0)) return std::numeric_limits<float>::quiet_NaN();
  const double share = log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return static_cast<float>(static_cast<double>(from) + share * span);
}

double Axis::value(float pixel) const {
  if (from == to) return low;
  const double share =
      (static_cast<double>(pixel) - static_cast<double>(from)) / (static_cast<double>(to) - static_cast<double>(from));
  if (linear > 0.0) {
    const double first = symlog_place(low, linear), last = symlog_place(high, linear);
    return symlog_value(first + share * (last - first), linear);
  }
  if (!log) return low + share * (high - low);
  return low > 0.0 && high > 0.0 ? low * std::pow(high / low, share) : kNaN;
}

std::vector<Tick> Axis::ticks(double least_gap) const {
  const double length = std::abs(static_cast<double>(to) - static_cast<double>(from));
  const double first = std::min(low, high), last = std::max(low, high);
  if (linear > 0.0) return symlog_ticks(first, last, linear, length, least_gap);
  return log ? log_ticks(first, last, length, least_gap) : linear_ticks(first, last, length, least_gap);
}

namespace {

// The largest of 1, 2, 5 · 10ᵏ that is at most `value` > 0, or the smallest that is at least it.
double log_end(double value, bool up) {
  const int start = static_cast<int>(std::floor(std::log10(value))) - 1;
  double below = Step{1, start}.times(1.0);
  for (int e = start;; ++e) {
    for (const int digit : kDigits) {
      const double step = Step{digit, e}.times(1.0);
      if (up && step >= value * (1.0 - 1e-12)) return step;
      if (!up && step > value * (1.0 + 1e-12)) return below;
      below = step;
    }
  }
}

}  // namespace

Range nice_range(double low, double high, bool log) {
  if (high < low) std::swap(low, high);
  if (log) {
    if (!std::isfinite(low) || !std::isfinite(high) || !(high > 0.0)) return {0.1, 1.0};
    if (!(low > 0.0)) low = high * 1e-3;
    low = log_end(low, false);
    high = log_end(high, true);
    return low < high ? Range{low, high} : Range{log_end(0.75 * low, false), log_end(1.25 * high, true)};
  }
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low)) return {0.0, 1.0};
  if (low == high) {
    if (low == 0.0) return {0.0, 1.0};
    (low > 0.0 ? low : high) = 0.0;
  }
  const Step step = step_of_at_least((high - low) / 5.0);
  const double unit = step.times(1.0), first = std::floor(low / unit + 1e-9), last = std::ceil(high / unit - 1e-9);
  // A range far from zero that is narrower than a double's last places stays as it is.
  if (!(std::max(std::abs(first), std::abs(last)) < 4.5e15)) return {low, high};
  return {step.times(first) == 0.0 ? 0.0 : step.times(first), step.times(last) == 0.0 ? 0.0 : step.times(last)};
}

}  // namespace headroom
