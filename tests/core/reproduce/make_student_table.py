"""Makes student_table.h: points, tails and powers of Student's t, incomplete beta values and binomial tails by SciPy.

    pip install scipy; python make_student_table.py > student_table.h
"""
import numpy as np
import scipy
from scipy import special, stats
from scipy.optimize import brentq

DEGREES = (1, 1.7, 2, 3.14159, 5, 9, 10, 11.3, 17, 22, 30, 63.5, 200, 9999)


def power(effect, degrees, level):
    point = stats.t.isf(level / 2, degrees)
    below = stats.nct.cdf(-point, degrees, effect)
    return stats.nct.sf(point, degrees, effect) + (0.0 if np.isnan(below) else below)  # NaN: too small for it


def lines(name, fields, rows):
    print(f"\ninline constexpr {name} k{name}s[] = {{")
    for row in rows:
        print("    {" + ", ".join(repr(float(value)) if not isinstance(value, int) else str(value) for value in row) + "},")
    print("};")


print("// Made by make_student_table.py with SciPy", scipy.__version__)
print("#pragma once\n\n#include <cstdint>\n\nnamespace headroom::test {\n")
for name, fields in (("BetaValue", "a, b, x, value"), ("TwoSided", "t, degrees, p"), ("StudentPoint", "level, degrees, t"),
                     ("StudentPower", "effect, degrees, level, power"), ("Detectable", "degrees, level, power, effect")):
    print(f"struct {name} {{\n  double {fields};\n}};")
print("struct BinomialTail {\n  std::int64_t successes, trials;\n  double share, at_least;\n};")
print("struct BinomialTest {\n  std::int64_t successes, trials;\n  double share, p;\n};")
print("struct ExactShare {\n  std::int64_t successes, trials;\n  double level, low, high;\n};")

lines("BetaValue", 4, [(a, b, x, special.betainc(a, b, x)) for a in (0.5, 1, 2.5, 40, 500) for b in (0.5, 3, 77.7)
                       for x in (1e-6, 0.01, 0.3, 0.5, 0.77, 0.999)])
lines("TwoSided", 3, [(t, v, 2 * stats.t.sf(abs(t), v)) for v in DEGREES for t in (-3.5, 0.001, 0.7, 1.96, 4.3, 12.7, 80.0)])
lines("StudentPoint", 3, [(level, v, stats.t.isf(level / 2, v)) for v in DEGREES for level in (0.5, 0.05, 0.0125, 0.05 / 13, 1e-6)])
lines("StudentPower", 4, [(e, v, level, power(e, v, level)) for v in (1, 2, 4.6, 9, 17.2, 38, 200) for level in (0.05, 0.05 / 8)
                          for e in (0.0, 0.5, 2.0, 4.0, 7.0)])
lines("Detectable", 4, [(v, level, p, brentq(lambda e: power(e, v, level) - p, 0, 40 if v < 5 else 12, xtol=1e-12))
                        for v in (2, 9, 11, 17.2, 38) for level in (0.05, 0.05 / 8) for p in (0.8, 0.95)])
lines("BinomialTail", 4, [(k, n, s, stats.binom.sf(k - 1, n, s)) for n in (1, 3, 10, 270) for k in sorted({0, 1, n // 3, n // 2 + 1, n})
                          for s in (0.01, 0.3, 0.5, 0.9)])
lines("BinomialTest", 4, [(k, n, s, min(1.0, 2 * min(stats.binom.sf(k - 1, n, s), stats.binom.cdf(k, n, s))))
                          for n in (1, 3, 6, 10, 11) for k in range(n + 1) for s in (0.5, 0.02)])
rows = []
for n in (1, 3, 10, 33):
    for k in sorted({0, 1, n // 2, n}):
        for level in (0.05, 0.0125):
            found = stats.binomtest(k, n).proportion_ci(1 - level, "exact")
            rows.append((k, n, level, found.low, found.high))
lines("ExactShare", 5, rows)
print("\n}  // namespace headroom::test")
