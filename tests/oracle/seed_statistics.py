"""What decides over seeds, written once more: Student's t in pairs and Welch's, and Holm's correction."""
import math

import numpy as np


def tail(t, degrees):
    """P(|T| ≥ |t|) of Student's t: with T = √degrees·tan θ the density is cos^(degrees − 1) θ."""
    def area(begin):
        angles = np.linspace(begin, math.pi / 2, 400_001)
        return np.trapezoid(np.cos(angles)**(degrees - 1), angles)

    return area(math.atan(abs(t) / math.sqrt(degrees))) / area(0.0)


def compared(left, right):
    """(difference, p in pairs, p by Welch) of two lists of numbers."""
    a, b = np.array(left), np.array(right)
    d = b - a
    paired = tail(d.mean() / (d.std(ddof=1) / math.sqrt(len(d))), len(d) - 1)
    v, w = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    degrees = (v + w)**2 / (v**2 / (len(a) - 1) + w**2 / (len(b) - 1))
    return d.mean(), paired, tail((b.mean() - a.mean()) / math.sqrt(v + w), degrees)


def holm(p):
    """Corrected: the k-th smallest times what is left, and never below one before it."""
    order = np.argsort(p, kind="stable")
    corrected, highest = np.empty(len(p)), 0.0
    for k, index in enumerate(order):
        highest = max(highest, min(1.0, (len(p) - k) * p[index]))
        corrected[index] = highest
    return corrected
