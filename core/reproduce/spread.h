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
  // "0.372 ± 0.014": three significant digits of the mean, and the standard deviation as long as it.
  [[nodiscard]] std::string text() const;
};

}  // namespace headroom
