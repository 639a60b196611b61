# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside this file say of a median."""

import math


def interval(values):
    """The narrowest pair of order statistics around the median at 95 %."""
    values, n = sorted(values), len(values)
    outside, cut = 0.0, 0
    while cut < n // 2 and outside + math.comb(n, cut) * 2.0 ** (1 - n) <= 0.05:
        outside += math.comb(n, cut) * 2.0 ** (1 - n)
        cut += 1
    return (values[cut - 1], values[n - cut]) if cut > 0 else (0.0, math.inf)
