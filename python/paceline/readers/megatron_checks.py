# SPDX-License-Identifier: Apache-2.0
"""Checks that successive lines of Megatron-LM agree: on samples, on work, on time stamps."""

from dataclasses import dataclass

from .checks import Invalid, figure
from .step_log import Steps

_FLOPS = "throughput per GPU (TFLOP/s/GPU)"
_MOMENT_TOLERANCE_S = 0.1  # tolerance in seconds between the end of the timed iterations and the line's time
                # stamp


@dataclass
class Iterations(Steps):
    consumed: int | None  # samples since the start
    stamp: float | None = None  # when the line was written, seconds
    stamp_digit: float = 0  # of `stamp`: a unit of its last digit
    is_first: bool = False  # in the log


def check_flops(fields: dict, one: Iterations, line, known):
    """Checks that the work, TFLOP/s x time, is equal in all lines with the same batch. Returns
    (low, high, batch)."""
    if _FLOPS not in fields:
        return known
    rate = figure(fields[_FLOPS], line, _FLOPS, least=0)
    low, high = rate.low * (one.seconds - one.half), rate.high * (one.seconds + one.half)
    if known and known[2] == one.examples:
        if low > known[1] or high < known[0]:
            raise Invalid(
                line,
                f"{rate.text} TFLOP/s in {one.seconds:.6g} s is {rate.value * one.seconds:.6g} "
                f"TFLOP, and the lines before say {(known[0] + known[1]) * 0.5:.6g}",
            )
        low, high = max(low, known[0]), min(high, known[1])
    return low, high, one.examples


def check_stamps(a: Iterations, b: Iterations) -> None:
    """Checks that the iterations of a line took no longer than the time since the line before; a
    checkpoint or an evaluation may lie in between. Since 2026 the program writes a separate line
    for the first iteration, which the mean in the next line counts again. If the time stamps show
    this, the first iteration is taken out of that mean."""
    if a.stamp is None or b.stamp is None:
        return
    steps, between = b.number - a.number, b.stamp - a.stamp
    most = (between + a.stamp_digit + _MOMENT_TOLERANCE_S) / steps
    if b.seconds - b.half <= most:
        return
    rest = (b.seconds * (steps + 1) - a.seconds) / steps
    half = (b.half * (steps + 1) + a.half) / steps
    if not a.is_first or rest <= 0 or rest - half > most:
        raise Invalid(
            b.line,
            f"the log says {b.seconds:.6g} s an iteration, and {steps} of them end {between:.6g} s after line {a.line.number}",
        )
    b.seconds, b.half = rest, half


def check_samples(lines: list) -> None:
    """Checks that the consumed samples grow by the batch in each iteration.  The batch may grow (ramp-up) but not fall.
    """
    first = lines[0]
    if None in (first.consumed, first.examples):
        return
    if first.consumed > first.number * first.examples:
        raise Invalid(
            first.line,
            f"the log says {first.consumed} consumed samples, and {first.number} iterations of "
            f"{first.examples} are {first.number * first.examples}",
        )
    for a, b in zip(lines, lines[1:]):
        check_growth(a, b)


def check_growth(a: Iterations, b: Iterations) -> None:
    if None in (a.consumed, a.examples):
        return
    if None in (b.consumed, b.examples):
        raise Invalid(b.line, "consumed samples or the global batch size is missing here alone")
    if b.examples < a.examples:
        raise Invalid(b.line, f"the global batch size falls from {a.examples} to {b.examples}")
    said, steps = b.consumed - a.consumed, b.number - a.number
    least = steps * (a.examples if steps > 1 else b.examples)
    if not least <= said <= steps * b.examples:
        raise Invalid(
            b.line,
            f"the log says {said} samples more than in line {a.line.number}, and {steps} "
            f"iterations of {b.examples} are {steps * b.examples}",
        )
