#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts systems of reference/modern from others that train the same job.

Each request is `predict --measured` with the figures of the others: of the smaller system of a
pair, and of all other systems of a series. The error is that of the throughput of the system that
is left out, beside that of linear scaling from the measured system with the nearest number of
ranks.

    studies/measured_figures/pairs.py [PROGRAM] [FOLDER OF reference/modern]
"""

import sys
from itertools import combinations
from pathlib import Path

import tables
from jobs import Question, print_errors

ROOT = Path(__file__).resolve().parents[2]


def kind_of(series, small, large):
    if not series.kind.startswith("mlperf"):
        return series.kind
    if large.ranks > 8 * small.ranks:
        return f"{series.kind}, beyond 8 times the nodes"
    return f"{series.kind}, {'same' if small.batch == large.batch else 'other'} batch"


def pairs_of(series):
    """Of MLPerf every pair of a series; else each system from the first one."""
    every = series.kind.startswith("mlperf")
    for small, large in combinations(series.figures, 2):
        if every or small is series.figures[0]:
            yield Question(kind_of(series, small, large), series.job, (small,), large)


def left_out_of(series):
    """Each system from all the others."""
    for left_out in series.figures:
        others = tuple(one for one in series.figures if one is not left_out)
        yield Question(series.kind, series.job, others, left_out)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/paceline"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "reference/modern"
    read = [one for table in (tables.mlperf, tables.dgx, tables.gpt, tables.cloud) for one in table(folder)]
    series = [one for one in read if not isinstance(one, str)]
    for title, questions_of in (
        ("the larger system of each pair, from the smaller one", pairs_of),
        ("each system of a series, from all the others", left_out_of),
    ):
        print(f"# {title}")
        print_errors(program, [question for one in series for question in questions_of(one)])
        print()
    for reason in (one for one in read if isinstance(one, str)):
        print(f"left out: {reason}")


if __name__ == "__main__":
    main()
