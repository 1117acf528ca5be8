// A number measured several times, once for each seed. Pure; safe from any thread.
#pragma once

#include <string>
#include <vector>

namespace headroom {

struct Spread {
  std::vector<double> values;  // NaN where a seed has none

  [[nodiscard]] double mean() const;       // NaN without values
  [[nodiscard]] double deviation() const;  // standard deviation of the sample (n − 1); NaN for fewer than two
  [[nodiscard]] double least() const;
  [[nodiscard]] double most() const;
  // "0.372 ± 0.014": three significant digits of the mean, or up to four decimals where they show a digit of the
  // standard deviation; at most five decimals. "± 0": smaller than the digits shown. In powers of ten below 1e-3 and
  // from 1e5.
  [[nodiscard]] std::string text() const;
};

}  // namespace headroom
