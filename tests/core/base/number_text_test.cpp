// Numbers as people read them: digits per quantity, the true minus, no sign on what rounds to zero.
#include "core/base/number_text.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include "tests/support/catch.h"

namespace headroom::test {
namespace {

const double kNaN = std::nan(""), kInf = std::numeric_limits<double>::infinity();

CATCH_TEST_CASE("Fixed decimals") {
  CATCH_CHECK(fixed_text(0.793144, 3) == "0.793");
  CATCH_CHECK(fixed_text(-12.34, 1) == "−12.3");
  CATCH_CHECK(fixed_text(-0.0004, 3) == "0.000");
  CATCH_CHECK(fixed_text(-0.0, 2) == "0.00");
  CATCH_CHECK(fixed_text(-0.0006, 3) == "−0.001");
  CATCH_CHECK(fixed_text(11.2, 0) == "11");
  CATCH_CHECK(fixed_text(kNaN, 3) == "–");
  CATCH_CHECK(fixed_text(-kInf, 3) == "−∞");
  CATCH_CHECK(fixed_text(1e300, 0).size() == 301);
}

CATCH_TEST_CASE("Differences have a sign unless they round to zero") {
  CATCH_CHECK(signed_text(0.013, 3) == "+0.013");
  CATCH_CHECK(signed_text(-0.791, 3) == "−0.791");
  CATCH_CHECK(signed_text(0.0, 3) == "0.000");
  CATCH_CHECK(signed_text(0.0004, 3) == "0.000");
  CATCH_CHECK(signed_text(-0.0004, 3) == "0.000");
  CATCH_CHECK(signed_text(0.0005001, 3) == "+0.001");
  CATCH_CHECK(signed_text(kNaN, 3) == "–");
  CATCH_CHECK(signed_text(kInf, 1) == "+∞");
}

CATCH_TEST_CASE("The readout has three significant digits") {
  CATCH_CHECK(readout_text(0.47) == "0.470");
  CATCH_CHECK(readout_text(11.23) == "11.2");
  CATCH_CHECK(readout_text(-0.0387) == "−0.0387");
  CATCH_CHECK(readout_text(0.00362) == "0.00362");
  CATCH_CHECK(readout_text(0.001) == "0.00100");
  CATCH_CHECK(readout_text(5.0e-5) == "5.0e−5");
  CATCH_CHECK(readout_text(-3.14e-7) == "−3.1e−7");
  CATCH_CHECK(readout_text(0.0) == "0");
  CATCH_CHECK(readout_text(1.0) == "1.00");
  CATCH_CHECK(readout_text(0.99951) == "1.00");
  CATCH_CHECK(readout_text(9.996) == "10.0");
  CATCH_CHECK(readout_text(316.2) == "316");
  CATCH_CHECK(readout_text(131072.0) == "131072");
  CATCH_CHECK(readout_text(1.5e9) == "1.50e9");
  CATCH_CHECK(readout_text(9.9999e-4) == "0.00100");
  CATCH_CHECK(readout_text(9.97e-4) == "0.00100");  // "10.0e−4" and "1.0e−3" are no three digits of it
  CATCH_CHECK(readout_text(kNaN) == "–");
}

CATCH_TEST_CASE("Ends of axes keep no zeros at their end") {
  CATCH_CHECK(short_text(512.0) == "512");
  CATCH_CHECK(short_text(0.3) == "0.3");
  CATCH_CHECK(short_text(static_cast<double>(0.6f)) == "0.6");
  CATCH_CHECK(short_text(0.01333) == "0.0133");
  CATCH_CHECK(short_text(-2.5) == "−2.5");
  CATCH_CHECK(short_text(131072.0) == "131\u2009072");
  CATCH_CHECK(short_text(1e-4) == "10⁻⁴");
  CATCH_CHECK(short_text(2.5e-7) == "2.5e−7");
  CATCH_CHECK(short_text(-1e-5) == "−1e−5");
  CATCH_CHECK(short_text(120.4) == "120");
  CATCH_CHECK(short_text(0.0) == "0");
}

CATCH_TEST_CASE("In cells the leading zero goes") {
  CATCH_CHECK(cell_text(0.54) == ".54");
  CATCH_CHECK(cell_text(-0.791) == "−.79");
  CATCH_CHECK(cell_text(1.0) == "1.0");
  CATCH_CHECK(cell_text(0.996) == "1.0");
  CATCH_CHECK(cell_text(0.994) == ".99");
  CATCH_CHECK(cell_text(9.96) == "10");
  CATCH_CHECK(cell_text(-12.4) == "−12");
  CATCH_CHECK(cell_text(0.005) == ".01");
  CATCH_CHECK(cell_text(0.0049) == "·");
  CATCH_CHECK(cell_text(-0.0049) == "·");
  CATCH_CHECK(cell_text(0.0) == "·");
  CATCH_CHECK(cell_text(kNaN) == "–");
}

CATCH_TEST_CASE(
    "Cells of a logarithmic scale: two significant digits, one where there is less room, 0 for zero alone") {
  using Texts = std::array<std::string, 2>;
  CATCH_CHECK(log_cell_texts(0.0) == Texts{"0", "0"});
  CATCH_CHECK(log_cell_texts(0.543) == Texts{".54", ".5"});
  CATCH_CHECK(log_cell_texts(0.00432) == Texts{".0043", ".004"});
  CATCH_CHECK(log_cell_texts(0.0432) == Texts{".043", ".04"});
  CATCH_CHECK(log_cell_texts(-0.0432) == Texts{"−.043", "−.04"});
  CATCH_CHECK(log_cell_texts(4.32e-5) == Texts{"4.3e−5", "4e−5"});
  CATCH_CHECK(log_cell_texts(0.000999) == Texts{".0010", ".001"});
  CATCH_CHECK(log_cell_texts(0.996) == Texts{"1.0", "1"});
  CATCH_CHECK(log_cell_texts(1.0) == Texts{"1.0", "1"});
  CATCH_CHECK(log_cell_texts(12.4) == Texts{"12", "12"});
  CATCH_CHECK(log_cell_texts(1e-40) == Texts{"1.0e−40", "1e−40"});
  CATCH_CHECK(log_cell_texts(kNaN) == Texts{"–", "–"});
}

CATCH_TEST_CASE("Full precision reads back as the same number") {
  CATCH_CHECK(full_text(0.79314422607421875) == "0.79314422607421875");
  CATCH_CHECK(full_text(kNaN) == "nan");
  CATCH_CHECK(full_text(-0.5) == "-0.5");
  CATCH_CHECK(full_text(-kInf) == "-inf");
  for (const double value : {0.1, 1.0 / 3.0, -2.2250738585072014e-308, 6.02214076e23, 123456789.123456789}) {
    CATCH_CHECK(std::strtod(full_text(value).c_str(), nullptr) == value);
  }
}

CATCH_TEST_CASE("Thousands, sizes, times and powers") {
  CATCH_CHECK(grouped_text(7) == "7");
  CATCH_CHECK(grouped_text(512) == "512");
  CATCH_CHECK(grouped_text(1024) == "1\u2009024");
  CATCH_CHECK(grouped_text(131072) == "131\u2009072");
  CATCH_CHECK(grouped_text(-1234567) == "−1\u2009234\u2009567");
  CATCH_CHECK(grouped_text(std::numeric_limits<std::int64_t>::min()) ==
              "−9\u2009223\u2009372\u2009036\u2009854\u2009775\u2009808");
  CATCH_CHECK(size_text(1.2e9) == "1.2 GB");
  CATCH_CHECK(size_text(41e6) == "41 MB");
  CATCH_CHECK(size_text(999600) == "1.0 MB");
  CATCH_CHECK(size_text(512) == "512 B");
  CATCH_CHECK(size_text(9960) == "10 kB");
  CATCH_CHECK(size_text(0) == "0 B");
  CATCH_CHECK(size_text(kNaN) == "–");
  CATCH_CHECK(seconds_text(1.84) == "1.84 s");
  CATCH_CHECK(seconds_text(38.2) == "38 s");
  CATCH_CHECK(seconds_text(190) == "3 min 10 s");
  CATCH_CHECK(seconds_text(59.6) == "1 min 0 s");
  CATCH_CHECK(seconds_text(9.996) == "10 s");
  CATCH_CHECK(seconds_text(0.045) == "45 ms");
  CATCH_CHECK(seconds_text(0.0021) == "2.1 ms");
  CATCH_CHECK(seconds_text(0.0) == "0 ms");
  CATCH_CHECK(seconds_text(7500) == "2 h 5 min");
  CATCH_CHECK(seconds_text(-1) == "–");
  CATCH_CHECK(estimated_seconds_text(8.2) == "9 s");
  CATCH_CHECK(estimated_seconds_text(0.02) == "1 s");
  CATCH_CHECK(estimated_seconds_text(59.2) == "1 min 0 s");
  CATCH_CHECK(estimated_seconds_text(289.6) == "4 min 50 s");
  CATCH_CHECK(estimated_seconds_text(-1) == "–");
  CATCH_CHECK(power_text(-4) == "10⁻⁴");
  CATCH_CHECK(power_text(0) == "1");
  CATCH_CHECK(power_text(1) == "10");
  CATCH_CHECK(power_text(12) == "10¹²");
}

}  // namespace
}  // namespace headroom::test
