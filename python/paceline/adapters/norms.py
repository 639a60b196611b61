# SPDX-License-Identifier: Apache-2.0
"""Norms of weights and of their updates, by which two trainings are compared.

They are computed on a sample of the parameters of more than one dimension, because a bias
may have no gradient except a rounding error. src/paceline/rank/weight_norms.cc samples
the same elements.
"""

import math

SAMPLE = 1 << 14  # largest number of sampled elements of a parameter
RECORDED_STEP = 5


def stride_of(elements):
    """Returns the stride of the sample, which has elements 0, stride, 2 * stride, ... in
    PyTorch's layout."""
    return max(1, -(-elements // SAMPLE))


class WeightNorms:
    """Records norms of weights and of their updates. `sample()` returns one vector of float64 for
    each parameter of more than one dimension, or None if this rank does not have all of them."""

    def __init__(self, sample):
        self.sample = sample
        self.start = sample()
        self.found = {}

    def __call__(self, done, warmup):
        """Called after `done` steps. Records the norms after the fifth step if that is a warm-up
        step, so that no measured step waits for them."""
        if done == RECORDED_STEP <= warmup:
            self.note("fifth")

    def note(self, name):
        now = self.sample()
        if now is None or self.start is None:
            return
        self.found[f"weights_norm_{name}"] = _norm(now)
        self.found[f"update_norm_{name}"] = _norm(
            [a - b for a, b in zip(now, self.start)]
        )


def _norm(vectors):
    return math.sqrt(sum(float((v * v).sum()) for v in vectors))
