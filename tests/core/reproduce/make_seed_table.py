"""Makes seed_table.h: paired and Welch's t tests with their intervals, tests of a mean, by SciPy; Holm's correction by statsmodels.

    pip install scipy statsmodels; python make_seed_table.py > seed_table.h
"""
import numpy as np
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests

LEVELS = (0.05, 0.05 / 13)


def number(value):
    return repr(float(value))


def array(values):
    return "{" + ", ".join(number(value) for value in values) + "}"


print("// Made by make_seed_table.py with SciPy", scipy.__version__, "and statsmodels", statsmodels.__version__)
print("#pragma once\n\n#include <vector>\n\nnamespace headroom::test {\n")
print("struct SeedsCase {\n  std::vector<double> left, right;\n  double level;\n"
      "  double paired_p, paired_low, paired_high;  // of the pairs that both sides have\n"
      "  double welch_p, welch_degrees, welch_low, welch_high;\n};\n")
print("struct MeanCase {\n  std::vector<double> numbers;\n  double bound, p, level, low, high;\n};\n")
print("struct HolmCase {\n  std::vector<double> p, adjusted;\n  std::vector<int> rejected;\n};\n")

random = np.random.default_rng(20260114)
cases = [([1.0, 2.0, 3.0], [3.0, 5.0, 7.0]), ([10.0, 200.0, 3000.0], [12.0, 203.0, 3004.0]), ([0.0, 0.0], [1.0, 3.0])]
for n, m in ((2, 2), (3, 3), (3, 10), (10, 10), (10, 4), (12, 12)):
    together = random.normal(size=max(n, m))  # what the two sides of a seed have in common
    for shift, common in ((0.0, 1.0), (0.4, 3.0), (-1.5, 0.0)):
        left = common * together[:n] + random.normal(scale=0.3, size=n)
        right = common * together[:m] + shift + random.normal(scale=0.7, size=m)
        cases.append(([round(v, 4) for v in left], [round(v, 4) for v in right]))
print("inline const std::vector<SeedsCase> kSeedsCases = {")
for left, right in cases:
    a, b = np.array(left), np.array(right)
    for level in LEVELS:
        pairs = min(len(a), len(b))
        paired, welch = stats.ttest_rel(b[:pairs], a[:pairs]), stats.ttest_ind(b, a, equal_var=False)
        inside, wide = paired.confidence_interval(1 - level), welch.confidence_interval(1 - level)
        print("    {" + ", ".join([array(left), array(right), *map(number, (level, paired.pvalue, inside.low, inside.high, welch.pvalue,
                                                                            welch.df, wide.low, wide.high))]) + "},")
print("};\n\ninline const std::vector<MeanCase> kMeanCases = {")
for n in (2, 3, 10):
    for bound in (0.0, 0.9, 1.3):
        values = [round(v, 4) for v in random.normal(loc=1.0, scale=0.2, size=n)]
        for level in LEVELS:
            test = stats.ttest_1samp(values, bound)
            interval = test.confidence_interval(1 - level)
            print("    {" + ", ".join([array(values), number(bound), number(test.pvalue), number(level), number(interval.low),
                                       number(interval.high)]) + "},")
print("};\n\ninline const std::vector<HolmCase> kHolmCases = {")
families = [[0.01], [0.04, 0.01], [0.04, 0.03, 0.02, 0.001], [0.2, 0.0001, 0.012, 0.012, 0.9], [0.049, 0.049], [0.001] * 5, [1.0, 1.0],
            [0.0124, 0.0126, 0.0167, 0.0249]]
families += [[round(v, 5) for v in random.beta(0.4, 3.0, size=n)] for n in (3, 8, 15)]
for family in families:
    rejected, adjusted, _, _ = multipletests(family, 0.05, "holm")
    print("    {" + ", ".join([array(family), array(adjusted), "{" + ", ".join(str(int(r)) for r in rejected) + "}"]) + "},")
print("};\n\n}  // namespace headroom::test")
