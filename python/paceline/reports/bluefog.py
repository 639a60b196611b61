# SPDX-License-Identifier: Apache-2.0
"""Prints each run as BlueFog's examples/pytorch_benchmark.py does, to the character.

    python3 -m paceline.reports.bluefog text < RECORDS

Each run has one line per ten steps with rank 0's rate, one line per rank, and the rate of all
ranks. The error behind "+-" is the original's: 1.96 standard deviations of the rates of ten steps,
so it is not a standard error. Steps after the last full ten are left out. Runs that failed, or that
have fewer than ten steps, have no lines.
"""

import sys

from .run_log import rate, rate_text, run_log, run_module

_STEPS = 10  # steps of one iteration of the original


def _rates(rank: dict, batch_size: int) -> list:
    """Returns a rank's examples per second, one value for every ten of its steps."""
    steps = rank["step_ns"]
    return [
        rate(float(batch_size) * _STEPS, float(sum(steps[begin : begin + _STEPS])) * 1e-9)
        for begin in range(0, len(steps) - _STEPS + 1, _STEPS)
    ]


def _block(run: dict, _case: dict) -> str:
    c = run["configuration"]
    steps = c["steps"] or 0
    rates = [_rates(rank, c["batch_size"]) for rank in run["ranks"]]
    sums = [0.0] * max(map(len, rates))
    for of_rank in rates:
        for i, one in enumerate(of_rank):
            sums[i] += one
    if not sums or len(rates[0]) != len(sums):
        return f"# no iteration: {_STEPS} steps make one, and the case has {steps}\n"
    device = "CPU" if c["device"] == "cpu" else "GPU"
    text = f"Model: {c['model'] or ''}\nBatch size: {c['batch_size']}\nNumber of {device}s: {c['ranks']}\n"
    text += "Running warmup...\nRunning benchmark...\n"
    for i, one in enumerate(rates[0]):
        text += f"Iter #{i}: {one:.1f} img/sec per {device}\n"
    for rank, of_rank in zip(run["ranks"], rates, strict=True):
        if of_rank:
            text += f"[{rank['rank']}] Img/sec per {device}: {rate_text(of_rank)}\n"
    text += f"Total img/sec on {c['ranks']} {device}(s): {rate_text(sums)}\n"
    if len(sums) == 1:
        text += "# one iteration has no spread: +-0.0 says nothing\n"
    if left := steps % _STEPS:
        text += f"# the last {left} of {steps} steps are in no iteration of {_STEPS}\n"
    return text


def text(given: dict) -> str:
    return run_log(given, _block)


if __name__ == "__main__":
    sys.exit(run_module({"text": text}))
