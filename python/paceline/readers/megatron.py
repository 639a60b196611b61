# SPDX-License-Identifier: Apache-2.0
"""The log of Megatron-LM and of Megatron-DeepSpeed (training_log in megatron/training/training.py).

    iteration      181/  250000 | consumed samples:  185344 | elapsed time per iteration (ms): 127515.5 | ...

Samples are checked against iterations and the global batch, TFLOP/s against the time, the world
against its parallel sizes.
"""

import re
from dataclasses import dataclass

from .checks import Figure, Invalid, count, figure, shown
from .megatron_head import configuration
from .step_log import Steps, check_numbers, record_of, wrong_loss

NAME = "megatron"
_LINE = re.compile(r"(?:\[[^\]]*\] )?\s*iteration\s+(\d+)/\s*(\d+)\s*\|(.*)")
_TIME = "elapsed time per iteration (ms)"
_RATE = re.compile(r"throughput per GPU \(TFLOP/s/GPU\)")


@dataclass
class Iterations(Steps):
    time: Figure  # ms
    consumed: int | None  # samples since the start


def recognizes(source) -> bool:
    return _TIME in source.text


class Lines:
    """The iterations of a log that is taken line by line."""

    whole = False  # a line is not all that a training says

    def __init__(self):
        self.warnings = []
        self._last = None  # the last iteration of the training, as the first line says it
        self._flops = None

    def take(self, line):
        """The Iterations that the line says; None for a line of another kind."""
        match = _LINE.match(line.text)
        if not match:
            if _TIME in line.text:
                raise Invalid(line, "is a line of an iteration that is cut off or not understood")
            return None
        fields = _fields(match[3], line)
        self._last = self._last or match[2]
        if match[2] != self._last:
            raise Invalid(line, f"the last iteration is {match[2]} here, and {self._last} before")
        one = _steps(match[1], fields, line, self.warnings)
        self._flops = _check_flops(fields, one, line, self._flops)
        return one

    def time(self, before, one):
        """Holds two lines against each other."""
        _check_growth(before, one)


def read(source):
    taken = Lines()
    lines = [one for one in map(taken.take, source.lines) if one]
    if not lines:
        raise Invalid(source, "has no line of an iteration of Megatron-LM")
    interval = check_numbers(lines, "iteration")
    _check_samples(lines)
    yield record_of(
        lines,
        configuration(source, lines[0].examples),
        experiment=NAME,
        formula="each value is the log's mean time of an iteration since the line before"
        + (f", {interval} iterations" if interval > 1 else ""),
        warnings=taken.warnings,
    )


def _fields(text: str, line) -> dict:
    """The fields of `a: 1 | b: 2 |`, each once."""
    fields = {}
    for piece in text.split("|"):
        name, colon, value = piece.rpartition(":")
        name = " ".join(name.split())
        if not piece.strip():
            continue
        if not colon or not name or len(value.split()) != 1:
            raise Invalid(line, f"the field '{shown(piece)}' is not understood")
        if name in fields:
            raise Invalid(line, f"the field '{shown(name)}' is there twice")
        fields[name] = value.strip()
    return fields


def _steps(number: str, fields: dict, line, warnings: list) -> Iterations:
    if _TIME not in fields:
        raise Invalid(line, f"the field '{_TIME}' is missing")
    time = figure(fields[_TIME], line, _TIME, least=0)
    losses = [value for name, value in fields.items() if name.endswith("loss")]
    loss = None
    if losses and losses[0].lower() in ("nan", "inf", "-inf"):
        warnings.append(wrong_loss(losses[0], line))
    elif losses:
        loss = figure(losses[0], line, "loss")
    failed = count(fields.get("number of nan iterations", "0"), line, "number of nan iterations")
    if failed and not warnings:
        warnings.append(wrong_loss(f"not finite in {failed} iterations", line))
    batch = fields.get("global batch size")
    samples = fields.get("consumed samples")
    return Iterations(
        count(number, line, "iteration", least=1),
        time.value * 1e-3,
        None if batch is None else count(batch, line, "global batch size", least=1),
        loss,
        line,
        time.half * 1e-3,
        time,
        None if samples is None else count(samples, line, "consumed samples"),
    )


def _check_flops(fields: dict, one: Iterations, line, known):
    """TFLOP/s x time is the same work in every line of one batch; returns (low, high, batch)."""
    name = next((name for name in fields if _RATE.match(name)), None)
    if name is None:
        return known
    rate = figure(fields[name], line, name, least=0)
    low, high = rate.low * one.time.low, rate.high * one.time.high
    if known and known[2] == one.examples:
        if low > known[1] or high < known[0]:
            raise Invalid(
                line,
                f"{rate.text} TFLOP/s in {one.time.text} ms is {rate.value * one.time.value * 1e-3:.6g} "
                f"TFLOP, and the lines before say {(known[0] + known[1]) * 0.5e-3:.6g}",
            )
        low, high = max(low, known[0]), min(high, known[1])
    return low, high, one.examples


def _check_samples(lines: list) -> None:
    """Consumed samples grow by the batch in each iteration; a batch may grow (ramp-up), not fall."""
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
        _check_growth(a, b)


def _check_growth(a: Iterations, b: Iterations) -> None:
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
