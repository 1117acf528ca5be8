// CATCH_CHECK(found == near(expected, 1e-9)): equality within a relative and an absolute bound, printed on failure; the
// two versions of Catch2 have no common name for theirs. Immutable.
#pragma once

#include <cmath>
#include <ostream>

namespace headroom::test {

struct Near {
  double value, relative, absolute;

  friend bool operator==(double found, const Near& expected) {
    return std::abs(found - expected.value) <= expected.absolute + expected.relative * std::abs(expected.value);
  }
  friend std::ostream& operator<<(std::ostream& out, const Near& expected) {
    const std::streamsize precision = out.precision(17);
    out << expected.value;
    out.precision(precision);
    return out << " within " << expected.relative << " of it or " << expected.absolute;
  }
};

[[nodiscard]] inline Near near(double value, double relative, double absolute = 0.0) {
  return {value, relative, absolute};
}

}  // namespace headroom::test
