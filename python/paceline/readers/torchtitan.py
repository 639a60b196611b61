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


def read(source):
    lines, warnings, head = [], [], None
    for line in source.lines:
        started = _HEAD.search(line.text)
        if not started and "Training starts" in line.text:
            raise Invalid(line, "is the start of a training that is cut off or not understood")
        if started and head and started.groups() != head[0]:
            raise Invalid(line, "is the start of a second run; two runs are read from two files")
        head = head or (started and (started.groups(), line))
        match = _LINE.search(line.text)
        if match:
            lines.append((match, _fields(match[3], line), line))
        elif "tps:" in line.text:
            raise Invalid(line, "is a line of a step that is cut off or not understood")
    if len(lines) < 2:
        raise Invalid(source, "has fewer than two lines of steps of torchtitan")
    yield _record(lines, head, warnings)


def _record(lines: list, head, warnings: list) -> dict:
    per_device = None  # tokens of a device and step, over the devices of one model
    examples, known = None, {"framework": "torchtitan"}
    if head:
        _, local, world_batch, accumulated, length, _ = head[0]
        known["sequence_length"] = int(length)
        known["accumulate"] = int(accumulated) if accumulated else None
        per_device = int(local) * int(length) * int(accumulated or 1)
        examples = int(world_batch) if world_batch else None
    steps = []
    for match, fields, line in lines:
        number = count(match[2], line, "step", least=1)
        rate = figure(fields["tps"], line, "tps", least=0)
        if rate.value <= 0:
            raise Invalid(line, "tps: 0 tokens a second")
        loss = None
        if fields["loss"].lower() in ("nan", "inf", "-inf"):
            warnings.append(wrong_loss(fields["loss"], line))
        else:
            loss = figure(fields["loss"], line, "loss")
        steps.append(Line(number, 0, examples, loss, line, _clock(match[1], line), rate))
    check_numbers(steps)
    _set_seconds(steps, per_device)
    how = "tokens of a device / tps" if per_device else "the clock of the lines; the log does not say the batch"
    return record_of(
        steps[1:],
        known,
        experiment=NAME,
        formula=f"each value is the mean step since the line before, by {how}",
        warnings=warnings,
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


def _set_seconds(steps: list, per_device) -> None:
    """Sets of each line but the first the mean step since the line before.  The devices of one
    model (tensor, context, pipeline parallel) share its tokens: tps is the clock's over an integer,
    the same in all lines."""
    shared = None
    for a, b in reversed(list(zip(steps, steps[1:]))):
        by_clock = (b.clock - a.clock) / (b.number - a.number) / 1000
        if by_clock <= 0:
            raise Invalid(b.line, "the clock of this line is not after that of the line before")
        b.seconds = by_clock
        if per_device:
            shared = shared or max(1, round(per_device / b.rate.value / by_clock))
            b.seconds = per_device / b.rate.value / shared
            room = _MOMENTS / (b.number - a.number) + b.seconds * b.rate.half / b.rate.value
            if abs(b.seconds - by_clock) > room:
                raise Invalid(
                    b.line,
                    f"the log says {b.rate.text} tokens a second, {b.seconds:.6g} s a step of "
                    f"{per_device} tokens, and its clock says {by_clock:.6g} s",
                )
