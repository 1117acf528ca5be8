// Numbers as people read them: U+2212 as minus, no sign on a difference that rounds to zero. Pure functions; safe from
// any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

// "0.793", "−12.3"; NaN is "–". `decimals` ≥ 0.
[[nodiscard]] std::string fixed_text(double value, int decimals);
// With a sign always: "+0.013", "−0.791", "0.000".
[[nodiscard]] std::string signed_text(double value, int decimals);
// Three significant digits of the readout: "0.470", "11.2", "5.0e−5" below 10⁻³, "0" for zero.
[[nodiscard]] std::string readout_text(double value);
// Up to three significant digits without zeros at the end: "512", "0.3", "0.0133", "131 072", "10⁻⁴", "2.5e−7"; ends of
// axes and of colour bars.
[[nodiscard]] std::string short_text(double value);
// Inside cells and on bars of a linear scale: ".54", "1.0"; "·" where |value| < 0.005.
[[nodiscard]] std::string cell_text(double value);
// Inside cells of a logarithmic scale, with two significant digits and with one: ".0043" and ".004", "4.3e−5" and
// "4e−5", "0" for zero alone. The second is for cells in which the first has no room.
[[nodiscard]] std::array<std::string, 2> log_cell_texts(double value);
// Every digit, as a file or a script wants it: "0.79314422607421875", "nan"; ASCII minus.
[[nodiscard]] std::string full_text(double value);
// "131 072": thousands parted by a thin no-break space (U+2009 if narrow, else U+00A0).
[[nodiscard]] std::string grouped_text(std::int64_t value);
// "1.2 GB" (powers of 1000).
[[nodiscard]] std::string size_text(double bytes);
// "1.84 s", "38 s", "3 min 10 s".
[[nodiscard]] std::string seconds_text(double seconds);
// Of an estimate, which has no fractions of a second: "9 s", "4 min 50 s".
[[nodiscard]] std::string estimated_seconds_text(double seconds);
// "10⁻⁴", "10", "1" for a power of ten on a log axis.
[[nodiscard]] std::string power_text(int exponent);

}  // namespace headroom
