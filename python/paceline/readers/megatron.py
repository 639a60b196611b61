# SPDX-License-Identifier: Apache-2.0
"""The log of Megatron-LM and of Megatron-DeepSpeed (training_log in megatron/training/training.py).

    iteration      181/  250000 | consumed samples:  185344 | elapsed time per iteration (ms): 127515.5 | ...

Samples are checked against iterations and the global batch, rates against the time, the time
against the time stamps of the lines, and the world against its parallel sizes.
"""

import re
from datetime import datetime

from .checks import Invalid, check_product, count, exactly, figure, shown
from .megatron_checks import Iterations, check_flops, check_growth, check_samples, check_stamps
from .megatron_head import configuration
from .step_log import NOT_FINITE, check_numbers, record_of, steps_of_first_rank, wrong_loss

NAME = "megatron"
_LINE = re.compile(
    r"(?:(?!iteration)[^|])*?(?:\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d+)?\] )?\s*iteration\s+(\d+)/\s*(\d{1,18})\s*\|(.*)", re.A
)
_TIME = "elapsed time per iteration ("
_TIMES = {f"{_TIME}ms)": 1e-3, f"{_TIME}s)": 1.0}  # in seconds; the latter of BigScience's fork
_SAMPLES = "samples per second"  # of Megatron-DeepSpeed


def recognizes(source) -> bool:
    return any(name in source.text for name in _TIMES)


class Lines:
    """The iterations of a log that is read line by line."""

    whole = False  # whether a single line reports the whole training

    def __init__(self):
        self.warnings = []
        self._last = None  # the number of the last iteration of the training, as the first line states it
        self._flops = None

    def take(self, line):
        """Returns the Iterations of the line; None for a line of another kind."""
        match = _LINE.match(line.text)
        if not match:
            if _TIME in line.text:
                raise Invalid(line, "is a line of an iteration that is cut off or not understood")
            return None
        *stamp, number, last, text = match.groups()
        fields = _fields(text, line)
        first, self._last = self._last is None, self._last or last
        if last != self._last:
            raise Invalid(line, f"the last iteration is {last} here, and {self._last} before")
        one = _steps(number, fields, line, self.warnings)
        if one.number > int(last):
            raise Invalid(line, f"iteration {one.number} of a training that has {int(last)}")
        one.is_first = first
        _set_stamp(one, *stamp)
        self._flops = check_flops(fields, one, line, self._flops)
        return one

    def time(self, before, one):
        """Checks two successive lines against each other."""
        check_growth(before, one)
        check_stamps(before, one)


def read(source):
    taken, lines = steps_of_first_rank(source, Lines)
    if not lines:
        raise Invalid(source, "has no line of an iteration of Megatron-LM")
    interval = check_numbers(lines, "iteration")
    check_samples(lines)
    for a, b in zip(lines, lines[1:]):
        check_stamps(a, b)
    yield record_of(
        lines,
        configuration(source, lines[0].examples),
        experiment=NAME,
        formula="each value is the log's mean time of an iteration since the line before"
        + (f", {interval} iterations" if interval > 1 else ""),
        warnings=taken.warnings,
    )


def _fields(text: str, line) -> dict:
    """Returns the fields of `a: 1 | b: 2 |`. Each may occur once."""
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
    named = [name for name in _TIMES if name in fields]
    if len(named) != 1:
        raise Invalid(line, f"the field '{_TIME}ms)' is missing" if not named else "has two times of an iteration")
    time = figure(fields[named[0]], line, named[0], least=0)
    unit = _TIMES[named[0]]
    losses = {name: value for name, value in fields.items() if name.endswith("loss")}
    bad = [value for value in losses.values() if value.lower() in NOT_FINITE]
    # A line whose iterations were all skipped has no lm loss, but load_balancing_loss.
    loss = next((value for name, value in losses.items() if "_" not in name), None)
    if bad and not warnings:
        warnings.append(wrong_loss(bad[0], line))
    failed = count(fields.get("number of nan iterations", "0"), line, "number of nan iterations")
    if failed and not warnings:
        warnings.append(wrong_loss(f"not finite in {failed} iterations", line))
    batch = fields.get("global batch size")
    batch = None if batch is None else count(batch, line, "global batch size", least=1)
    samples = fields.get("consumed samples")
    if batch and _SAMPLES in fields:
        rate = figure(fields[_SAMPLES], line, _SAMPLES, least=0)
        check_product(exactly(batch, line, "the global batch"), [rate, time, unit], "the samples of an iteration")
    return Iterations(
        count(number, line, "iteration", least=1),
        time.value * unit,
        batch,
        None if loss is None or loss.lower() in NOT_FINITE else figure(loss, line, "loss"),
        line,
        time.half * unit,
        None if samples is None else count(samples, line, "consumed samples"),
    )


def _set_stamp(one: Iterations, whole: str, fraction: str) -> None:
    if whole:
        try:
            since = datetime.strptime(whole, "%Y-%m-%d %H:%M:%S") - datetime.min
        except ValueError:
            raise Invalid(one.line, f"'{whole}' is not a time") from None
        one.stamp = since.total_seconds() + float(fraction or 0)
        one.stamp_digit = 10.0 ** (1 - len(fraction or "."))
