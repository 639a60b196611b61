# SPDX-License-Identifier: Apache-2.0
"""Writes logs in the formats of other programs, one run after the other.

The modules read the JSON that the program writes to their stdin: {"records": [...], "cases":
[{"runs": [0, ...], ...}]}. It has the records of a file, and each case with the indices of its
runs.
"""

import functools
import json
import math
import operator
import sys

from .markdown import counted, printable


def mean(values: list) -> float:
    """Returns the mean.  The values are summed from the first to the last, as the C++ program does."""
    return functools.reduce(operator.add, values, 0.0) / len(values)


def deviations(values: list) -> float:
    """Returns the sum of the squared distances from the mean."""
    center = mean(values)
    return functools.reduce(operator.add, ((value - center) * (value - center) for value in values), 0.0)


def spread(values: list) -> float:
    """Returns 1.96 standard deviations of the population, which the original programs print behind "+-"."""
    return 1.96 * math.sqrt(deviations(values) / len(values))


def rate(samples: float, seconds: float) -> float:
    return samples / seconds if seconds else math.inf


def rate_text(rates: list) -> str:
    return f"{mean(rates):.1f} +-{spread(rates):.1f}"


def has_steps(run: dict) -> bool:
    return any(rank["step_ns"] for rank in run["ranks"])


def _head(run: dict) -> str:
    c = run["configuration"]
    strategy = c["label"] or "" if c["strategy"] is None else c["strategy"]
    seed = f", seed {c['seed']}" if c["seed"] else ""
    origin = ", predicted, not measured" if run["source"] == "predicted" else ""
    return f"# {strategy} on {counted(c['ranks'] or 1, 'rank')}{seed}{origin}"


def _no_lines_reason(run: dict, case: dict) -> str:
    """Returns why the log has no lines of a run; empty if it has some."""
    if run["error"] is not None or not has_steps(run):
        return f" failed: {'no rank left samples' if run['error'] is None else run['error']}"
    if run["configuration"]["batch_size"] is None or run["configuration"]["ranks"] is None:
        return ": its source does not say how many samples a step has"
    return ": the samples of a step vary; --format trainers counts them" if case["job"] else ""


def run_log(given: dict, block) -> str:
    """Returns the text that `block` writes for each run. Lines that begin with '#' precede it: one
    that names the case if it differs from the one before, and one for each warning of the run. A
    run that failed, or whose steps have no fixed number of samples, has only the first of these
    lines. Runs of discarded cases are left out."""
    printed = before = ""
    case_of = {run: case for case in given["cases"] for run in case["runs"]}
    for index, case in sorted(case_of.items()):
        run = given["records"][index]
        head, why = _head(run), _no_lines_reason(run, case)
        if why:
            printed += f"{head}{why}\n"
        else:
            printed += "" if head == before else f"{head}\n"
            for one in run["warnings"]:
                printed += printable(f"# {one['code']}: {one['seen']}: {one['why']}") + "\n"
            printed += block(run, case)
        before = head
    return printed


def run_module(commands: dict) -> int:
    """Runs the command that the arguments name on the JSON from stdin, and prints its text."""
    made = commands[sys.argv[1]](json.load(sys.stdin))
    sys.stdout.buffer.write(made.encode("utf-8", errors="replace"))
    return 0
