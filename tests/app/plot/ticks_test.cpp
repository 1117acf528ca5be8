// Ticks over many random ranges: 1-2-5 steps, gaps kept, labels unique and true; and the axis there and back.
#include "app/plot/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/near.h"

namespace headroom::test {
namespace {

constexpr int kRounds = 3000;

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks) {
    if (!tick.label.empty()) out.push_back(tick.label);
  }
  return out;
}

bool is_one_two_five(double step) {
  const double mantissa = step / std::pow(10.0, std::floor(std::log10(step) + 1e-6));
  return std::abs(mantissa - 1.0) < 1e-6 || std::abs(mantissa - 2.0) < 1e-6 || std::abs(mantissa - 5.0) < 1e-6;
}

using Words = std::vector<std::string>;

CATCH_TEST_CASE("Linear ticks as the pictures have them") {
  CATCH_CHECK(labels(linear_ticks(0.0, 1.0, 200.0, 30.0)) == Words{"0", "0.2", "0.4", "0.6", "0.8", "1"});
  CATCH_CHECK(labels(linear_ticks(0.0, 1.0, 100.0, 40.0)) == Words{"0", "0.5", "1"});
  CATCH_CHECK(labels(linear_ticks(-2.3, 0.4, 120.0, 30.0)) == Words{"−2", "−1", "0"});
  CATCH_CHECK(labels(linear_ticks(0.1, 0.3, 300.0, 60.0)) == Words{"0.10", "0.15", "0.20", "0.25", "0.30"});
  CATCH_CHECK(labels(linear_ticks(0.0, 40000.0, 300.0, 60.0)) ==
              Words{"0", "10\u2009000", "20\u2009000", "30\u2009000", "40\u2009000"});
  CATCH_CHECK(labels(linear_ticks(0.0, 3e-5, 300.0, 90.0)) == Words{"0", "1e−5", "2e−5", "3e−5"});
  CATCH_CHECK(labels(linear_ticks(5.0, 5.0, 300.0, 60.0)) == Words{"5.00"});
}

CATCH_TEST_CASE("Linear ticks of any range keep steps, gap and range, and their labels differ") {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int round = 0; round < kRounds; ++round) {
    const double width = std::pow(10.0, -9.0 + 18.0 * unit(random));
    const double low = (unit(random) - 0.5) * width * std::pow(10.0, 4.0 * unit(random)), high = low + width;
    const double length = 20.0 + 800.0 * unit(random), gap = 12.0 + 60.0 * unit(random);
    CATCH_INFO(low << " … " << high << " on " << length << " px, gap " << gap);
    const std::vector<Tick> ticks = linear_ticks(low, high, length, gap);
    const double per_pixel = (high - low) / length, slack = 1e-6 * width;
    bool good = true;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      good = good && ticks[i].value >= low - slack && ticks[i].value <= high + slack && !ticks[i].label.empty();
      if (i == 0) continue;
      const double step = ticks[i].value - ticks[i - 1].value;
      good = good && step >= gap * per_pixel * (1.0 - 1e-6);
    }
    if (ticks.size() > 1) {
      const double step = (ticks.back().value - ticks.front().value) / static_cast<double>(ticks.size() - 1);
      good = good && is_one_two_five(step);
      // The next smaller step would break the gap: at most 2.5 times as many would fit.
      good = good && step <= 2.5 * gap * per_pixel * (1.0 + 1e-6);
    } else {
      good = good && length < 2.0 * 2.5 * gap;
    }
    const Words words = labels(ticks);
    good = good && std::set<std::string>(words.begin(), words.end()).size() == words.size();
    CATCH_CHECK(good);
  }
}

CATCH_TEST_CASE("A label says its tick's value") {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int round = 0; round < 500; ++round) {
    const double low = -1.0 + unit(random), high = low + std::pow(10.0, -2.0 + 4.0 * unit(random));
    for (const Tick& tick : linear_ticks(low, high, 300.0, 40.0)) {
      std::string ascii = tick.label;
      for (std::size_t at; (at = ascii.find("−")) != std::string::npos;) ascii.replace(at, 3, "-");
      for (std::size_t at; (at = ascii.find("\u2009")) != std::string::npos;) ascii.erase(at, 3);
      CATCH_CHECK(std::stod(ascii) == near(tick.value, 1e-9, 1e-12));
    }
  }
}

CATCH_TEST_CASE("Ticks of indices are whole") {
  CATCH_CHECK(labels(index_ticks(0, 29, 180.0, 30.0)) == Words{"0", "5", "10", "15", "20", "25"});
  CATCH_CHECK(labels(index_ticks(0, 8, 800.0, 20.0)) == Words{"0", "1", "2", "3", "4", "5", "6", "7", "8"});
  CATCH_CHECK(labels(index_ticks(3, 3, 100.0, 20.0)) == Words{"3"});
  CATCH_CHECK(labels(index_ticks(0, 131071, 500.0, 60.0)) ==
              Words{"0", "20\u2009000", "40\u2009000", "60\u2009000", "80\u2009000", "100\u2009000", "120\u2009000"});
  std::mt19937 random(3);
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t low = static_cast<std::int64_t>(random() % 5000), high = low + 1 + random() % 100000;
    const double length = 10.0 + static_cast<double>(random() % 900), gap = 12.0 + static_cast<double>(random() % 60);
    const std::vector<Tick> ticks = index_ticks(low, high, length, gap);
    bool good = true;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      good = good && ticks[i].value == std::round(ticks[i].value) && ticks[i].value >= static_cast<double>(low) &&
             ticks[i].value <= static_cast<double>(high);
      if (i > 0) {
        good = good &&
               (ticks[i].value - ticks[i - 1].value) * length / static_cast<double>(high - low) >= gap * (1 - 1e-9);
      }
    }
    CATCH_INFO(low << " … " << high << " on " << length << " px, gap " << gap);
    CATCH_CHECK(good);
  }
}

CATCH_TEST_CASE("Log ticks as the pictures have them") {
  CATCH_CHECK(labels(log_ticks(1.0, 512.0, 216.0, 40.0)) == Words{"1", "10", "100"});
  CATCH_CHECK(labels(log_ticks(0.05, 2.0, 250.0, 26.0)) == Words{"0.05", "0.1", "0.2", "0.5", "1", "2"});
  CATCH_CHECK(labels(log_ticks(1e-9, 1.0, 300.0, 80.0)) == Words{"10⁻⁹", "10⁻⁶", "10⁻³", "1"});
  CATCH_CHECK(labels(log_ticks(0.02, 1.0, 160.0, 50.0)) == Words{"0.1", "1"});
  CATCH_CHECK(labels(log_ticks(2e-6, 5e-5, 300.0, 40.0)) == Words{"2·10⁻⁶", "5·10⁻⁶", "10⁻⁵", "2·10⁻⁵", "5·10⁻⁵"});
  // Between two of 1, 2, 5 the steps are linear.
  CATCH_CHECK(labels(log_ticks(3.0, 4.0, 200.0, 45.0)).size() >= 3);
  CATCH_CHECK(log_ticks(0.0, 1.0, 200.0, 40.0).empty());
  CATCH_CHECK(log_ticks(-1.0, 1.0, 200.0, 40.0).empty());
}

CATCH_TEST_CASE("Log ticks of any range ascend inside it, their labels differ and keep the gap") {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int round = 0; round < kRounds; ++round) {
    const double low = std::pow(10.0, -12.0 + 18.0 * unit(random));
    const double high = low * std::pow(10.0, 0.01 + 12.0 * unit(random) * unit(random));
    const double length = 30.0 + 700.0 * unit(random), gap = 12.0 + 60.0 * unit(random);
    CATCH_INFO(low << " … " << high << " on " << length << " px, gap " << gap);
    const Axis axis{low, high, true, 0.0f, static_cast<float>(length)};
    bool good = true;
    double before = -1e9, value_before = 0.0;
    for (const Tick& tick : axis.ticks(gap)) {
      good = good && tick.value > value_before && tick.value >= low * (1 - 1e-6) && tick.value <= high * (1 + 1e-6);
      value_before = tick.value;
      if (tick.label.empty()) continue;
      const double at = static_cast<double>(axis.pixel(tick.value));
      good = good && at - before >= gap - 0.01;
      before = at;
    }
    const Words words = labels(axis.ticks(gap));
    good = good && std::set<std::string>(words.begin(), words.end()).size() == words.size();
    CATCH_CHECK(good);
  }
}

CATCH_TEST_CASE("Ranges that are none have no ticks and never hang") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const auto& [low, high] : {std::pair{nan, 1.0}, {0.0, inf}, {-inf, inf}, {2.0, 1.0}, {-1e308, 1e308}}) {
    CATCH_CHECK(linear_ticks(low, high, 100.0, 20.0).size() <= 6);
    CATCH_CHECK(log_ticks(low, high, 100.0, 20.0).empty());
  }
  CATCH_CHECK(linear_ticks(nan, 1.0, 100.0, 20.0).empty());
  CATCH_CHECK(linear_ticks(0.0, 1.0, 0.0, 20.0).empty());
  CATCH_CHECK(linear_ticks(0.0, 1.0, -5.0, 20.0).empty());
  CATCH_CHECK(linear_ticks(1e16, 1e16 + 8.0, 100.0, 10.0).size() <= 11);
  CATCH_CHECK(index_ticks(5, 2, 100.0, 20.0).empty());
  CATCH_CHECK(log_ticks(5e-324, 1e300, 100.0, 20.0).size() < 50);
}

CATCH_TEST_CASE("An axis goes from values to pixels and back") {
  const Axis up{0.0, 4.0, false, 300.0f, 100.0f};
  CATCH_CHECK(up.pixel(0.0) == 300.0f);
  CATCH_CHECK(up.pixel(4.0) == 100.0f);
  CATCH_CHECK(up.pixel(1.0) == 250.0f);
  CATCH_CHECK(up.value(150.0f) == near(3.0, 1e-9));
  const Axis log{0.01, 1.0, true, 0.0f, 200.0f};
  CATCH_CHECK(log.pixel(0.1) == near(100.0, 1e-6));
  CATCH_CHECK(log.value(50.0f) == near(std::pow(10.0, -1.5), 1e-9));
  CATCH_CHECK(std::isnan(log.pixel(0.0)));
  CATCH_CHECK(std::isnan(log.pixel(-1.0)));
  CATCH_CHECK(std::isnan(up.pixel(std::nan(""))));
  CATCH_CHECK(Axis{2.0, 2.0, false, 0.0f, 10.0f}.pixel(7.0) == 5.0f);
}

CATCH_TEST_CASE("A symlog axis is linear round zero and logarithmic beyond, and names both sides") {
  // ±0.01 is ±1, a decade more is one more.
  CATCH_CHECK(symlog_place(0.005, 0.01) == near(0.5, 1e-12));
  CATCH_CHECK(symlog_place(-0.1, 0.01) == near(-2.0, 1e-12));
  for (const double value : {-3.0, -0.01, -0.002, 0.0, 0.004, 0.01, 0.7})
    CATCH_CHECK(symlog_value(symlog_place(value, 0.01), 0.01) == near(value, 1e-12, 1e-15));
  const Axis axis{-0.1, 1.0, false, 300.0f, 50.0f, 0.01};  // from −2 to 3: 50 pixels for one
  CATCH_CHECK(axis.pixel(-0.1) == 300.0f);
  CATCH_CHECK(axis.pixel(0.0) == near(200.0, 1e-6));
  CATCH_CHECK(axis.pixel(0.01) == near(150.0, 1e-6));
  CATCH_CHECK(axis.pixel(0.1) == near(100.0, 1e-6));
  CATCH_CHECK(axis.value(175.0f) == near(0.005, 1e-9));
  CATCH_CHECK(axis.value(275.0f) == near(-std::pow(10.0, -1.5), 1e-9));
  CATCH_CHECK(std::isnan(axis.pixel(std::nan(""))));
  const auto labels = [&](double gap) {
    std::vector<std::string> texts;
    for (const Tick& tick : axis.ticks(gap)) texts.push_back(tick.label);
    return texts;
  };
  CATCH_CHECK(labels(40.0) == std::vector<std::string>{"\u22120.1", "\u22120.01", "0", "0.01", "0.1", "1"});
  CATCH_CHECK(labels(14.0) == std::vector<std::string>{"\u22120.1", "\u22120.05", "\u22120.02", "\u22120.01", "0",
                                                       "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"});
  CATCH_CHECK(symlog_ticks(0.0, 0.0, 0.01, 100.0, 20.0).empty());
  CATCH_CHECK(symlog_ticks(-1.0, 1.0, 0.0, 100.0, 20.0).empty());
}

CATCH_TEST_CASE("Ranges widen to 1-2-5 ends") {
  const auto check = [](double low, double high, bool log, double expected_low, double expected_high) {
    const Range range = nice_range(low, high, log);
    CATCH_INFO(low << " … " << high << (log ? " log" : ""));
    CATCH_CHECK(range.low == near(expected_low, 1e-9, 1e-300));
    CATCH_CHECK(range.high == near(expected_high, 1e-9, 1e-300));
  };
  check(0.03, 0.93, false, 0.0, 1.0);
  check(3.0, 19.0, false, 0.0, 20.0);
  check(-0.7, 1.3, false, -1.0, 1.5);
  check(0.0, 0.0, false, 0.0, 1.0);
  check(7.0, 7.0, false, 0.0, 8.0);
  check(-7.0, -7.0, false, -8.0, 0.0);
  check(0.03, 0.93, true, 0.02, 1.0);
  check(1.0, 512.0, true, 1.0, 1000.0);
  check(0.1, 0.1, true, 0.05, 0.2);
  check(0.0, 1.0, true, 1e-3, 1.0);
  check(std::nan(""), 1.0, false, 0.0, 1.0);
  check(-3.0, -1.0, true, 0.1, 1.0);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  for (int round = 0; round < kRounds; ++round) {
    const double a = std::pow(10.0, -6.0 + 12.0 * unit(random)), b = a * (1.0 + 100.0 * unit(random));
    for (const bool log : {false, true}) {
      const Range range = nice_range(a, b, log);
      CATCH_CHECK((range.low <= a * (1 + 1e-9) && range.high >= b * (1 - 1e-9) && range.low < range.high));
      CATCH_CHECK(
          (log ? range.high < 2.6 * b && range.low > a / 2.6 : range.high - range.low <= 3.0 * (b - a) + a + b));
    }
  }
}

}  // namespace
}  // namespace headroom::test
