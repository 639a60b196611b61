# SPDX-License-Identifier: Apache-2.0
"""The log of torchtitan (torchtitan/components/metrics.py):

    [rank0]:[titan] 2026-08-21 10:00:10,123 - root - INFO - step: 10  loss:  7.9  ... tps: 12,433  ...

`tps` are tokens a second of one device, over the steps since the line before.  Where the head says
the batch and the sequence length, a step's time follows from tps and is checked against the clock
of the lines; else it is the clock's.  The first line holds the start of the program, and no step
time: it only says where the next one begins.
"""

import re
from dataclasses import dataclass
from datetime import datetime

from .checks import Figure, Invalid, count, figure, shown
from .step_log import Steps, check_numbers, record_of, wrong_loss

NAME = "torchtitan"
_CLOCK = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - "
_LINE = re.compile(_CLOCK + r"step:\s*(\d[\d,]*)\s+(loss:.*)")
_FIELD = re.compile(r"(\w+):\s*(\S+)\s*")
_HEAD = re.compile(
    r"Training starts at step (\d+)[.,] with local batch size (\d+),(?: global batch size (\d+),)?"
    r"(?: gradient accumulation steps (\d+),)? sequence length (\d+), total steps (\d+)"
)
_MOMENTS = 0.05  # seconds between the moment of the rate and that of the line, at both ends


@dataclass
class Line(Steps):
    clock: int  # ms
    rate: Figure  # tokens a second of a device


def recognizes(source) -> bool:
    return all(word in source.text for word in ("[titan]", "step:", "tps:"))


class Lines:
    """The steps of a log that is taken line by line."""

    whole = False  # a line is not all that a training says

    def __init__(self):
        self.warnings = []
        self.known = {"framework": NAME}
        self.per_device = None  # tokens of a device and step, over the devices of one model
        self.examples = None
        self._head = None
        self._shared = None

    def take(self, line):
        """The Line that the line says, its seconds since the one before; None for a line of another
        kind."""
        self._take_head(line)
        match = _LINE.search(line.text)
        if not match:
            if "tps:" in line.text:
                raise Invalid(line, "is a line of a step that is cut off or not understood")
            return None
        fields = _fields(match[3], line)
        number = count(match[2], line, "step", least=1)
        rate = figure(fields["tps"], line, "tps", least=0)
        if rate.value <= 0:
            raise Invalid(line, "tps: 0 tokens a second")
        loss = None
        if fields["loss"].lower() in ("nan", "inf", "-inf"):
            self.warnings.append(wrong_loss(fields["loss"], line))
        else:
            loss = figure(fields["loss"], line, "loss")
        return Line(number, 0, self.examples, loss, line, 0, _clock(match[1], line), rate)

    def _take_head(self, line) -> None:
        started = _HEAD.search(line.text)
        if not started:
            if "Training starts" in line.text:
                raise Invalid(line, "is the start of a training that is cut off or not understood")
            return
        if self._head and started.groups() != self._head:
            raise Invalid(line, "is the start of a second run; two runs are read from two files")
        self._head = started.groups()
        _, local, world_batch, accumulated, length, _ = self._head
        self.known["sequence_length"] = int(length)
        self.known["accumulate"] = int(accumulated) if accumulated else None
        self.per_device = int(local) * int(length) * int(accumulated or 1)
        self.examples = int(world_batch) if world_batch else None

    def time(self, before, one):
        """Sets the seconds of a step between two lines."""
        self._shared = set_seconds(before, one, self.per_device, self._shared)


def read(source):
    taken = Lines()
    steps = [one for one in map(taken.take, source.lines) if one]
    if len(steps) < 2:
        raise Invalid(source, "has fewer than two lines of steps of torchtitan")
    for one in steps:
        one.examples = taken.examples
    check_numbers(steps)
    for a, b in reversed(list(zip(steps, steps[1:]))):
        taken.time(a, b)
    by_rate = "tokens of a device / tps"
    how = by_rate if taken.per_device else "the clock of the lines; the log does not say the batch"
    yield record_of(
        steps[1:],
        taken.known,
        experiment=NAME,
        formula=f"each value is the mean step since the line before, by {how}",
        warnings=taken.warnings,
    )


def _fields(text: str, line) -> dict:
    fields, end = {}, 0
    for match in _FIELD.finditer(text):
        if match.start() != end or match[1] in fields:
            break
        fields[match[1]] = match[2]
        end = match.end()
    if end != len(text):
        raise Invalid(line, f"'{shown(text[end:])}' is not understood")
    missing = {"loss", "tps"} - set(fields)
    if missing:
        raise Invalid(line, f"{missing.pop()} is missing")
    return fields


def _clock(text: str, line) -> int:
    """Milliseconds since year 1."""
    try:
        since = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f") - datetime.min
        return round(since.total_seconds() * 1000)
    except ValueError:
        raise Invalid(line, f"'{text}' is not a time") from None


def set_seconds(a: Line, b: Line, per_device, shared):
    """Sets of `b` the mean step since the line before, `a`.  The devices of one model (tensor,
    context, pipeline parallel) share its tokens: tps is the clock's over an integer, `shared`, the
    same in all lines, which is returned."""
    steps = b.number - a.number
    by_clock = (b.clock - a.clock) / steps / 1000
    if by_clock <= 0:
        raise Invalid(b.line, "the clock of this line is not after that of the line before")
    b.seconds, b.half = by_clock, 0.001 / steps
    if per_device:
        shared = shared or max(1, round(per_device / b.rate.value / by_clock))
        b.seconds = per_device / b.rate.value / shared
        b.half = b.seconds * b.rate.half / b.rate.value
        if abs(b.seconds - by_clock) > _MOMENTS / steps + b.half:
            raise Invalid(
                b.line,
                f"the log says {b.rate.text} tokens a second, {b.seconds:.6g} s a step of "
                f"{per_device} tokens, and its clock says {by_clock:.6g} s",
            )
    return shared
