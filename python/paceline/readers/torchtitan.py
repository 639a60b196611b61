# SPDX-License-Identifier: Apache-2.0
"""The log of torchtitan (torchtitan/components/metrics.py):

    [rank0]:[titan] 2026-08-21 10:00:10,123 - root - INFO - step: 10  loss:  7.9  ... tps: 12,433  ...

`tps` are tokens a second of one device, over the steps since the line before.  Where the head says
the batch and the sequence length, a step's time follows from tps and is checked against the clock
of the lines; else it is the clock's.  The first line holds the start of the program, and no step
time: it only says where the next one begins.  So does a line of a validation ("validate step: ").
"""

import re
from dataclasses import dataclass
from datetime import datetime

from .checks import Figure, Invalid, count, figure, shown
from .step_log import NOT_FINITE, Steps, check_numbers, record_of, steps_of_first_rank, wrong_loss

NAME = "torchtitan"
_CLOCK = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) - root - INFO - "
_LINE = re.compile(_CLOCK + r"(validate )?step:\s*(\d[\d,]*)\s+(loss:.*)")
_FIELD = re.compile(r"(\w+):\s*(\S+)\s*")
_HEAD = re.compile(
    r"with local batch size ([1-9]\d{0,8}),(?: global batch size ([1-9]\d{0,8}),)?(?: gradient accumulation steps ([1-9]\d{0,8}),)? "
    r"sequence length ([1-9]\d{0,8}), total steps \d{1,9}"
)
# Since 2026 batches are counted in tokens alone.
_HEAD_IN_TOKENS = re.compile(
    r"with ([1-9]\d{0,8}) tokens per DP rank, \d{1,9} tokens per train step, gradient accumulation steps ([1-9]\d{0,8}), "
    r"maximum context length \d{1,9}, total steps \d{1,9}"
)
_START = re.compile(r"(?:Trainer is initialized |Training starts at step (\d{1,9})(?:[.,] (?=with)|\.?\s*$))(.*)")
_STARTS = ("Trainer is initialized", "Training starts")
_MOMENT_TOLERANCE_S = 0.05  # tolerance in seconds between the moments of the rate and of the line's time
                 # stamp, at both ends


@dataclass
class Line(Steps):
    clock: int  # time of the line in ms
    rate: Figure  # tokens per second of one device
    since: "Line" = None  # the line of a validation since the line before, from which the seconds
                          # are counted


def recognizes(source) -> bool:
    return all(word in source.text for word in ("[titan]", "step:", "tps:"))


class Lines:
    """The steps of a log that is read line by line."""

    whole = False  # whether a single line reports the whole training

    def __init__(self):
        self.warnings = []
        self.known = {"framework": NAME}
        self.per_device = None  # tokens per device and step, counted over the devices of one model
        self.examples = None
        self._start = {}  # the head, and the step at which the training begins
        self._shared = None  # the integer by which tps is smaller than the model's rate
        self._validation = None

    def take(self, line):
        """Returns the Line of a step, with its seconds since the line before; None for a line of another kind."""
        self._take_head(line)
        match = _LINE.search(line.text)
        if not match:
            if "tps:" in line.text:
                raise Invalid(line, "is a line of a step that is cut off or not understood")
            return None
        fields = _fields(match[4], line)
        rate = figure(fields["tps"], line, "tps", least=0)
        if rate.value <= 0:
            raise Invalid(line, "tps: 0 tokens a second")
        loss = None
        if fields["loss"].lower() in NOT_FINITE:
            self.warnings.append(wrong_loss(fields["loss"], line))
        else:
            loss = figure(fields["loss"], line, "loss")
        if loss and loss.value == -1:
            loss = None  # the rank does not have the last stage of a pipeline
        number = count(match[3], line, "step", least=1)
        one = Line(number, 0, self.examples, loss, line, 0, _clock(match[1], line), rate, self._validation)
        self._validation = one if match[2] else None
        return None if match[2] else one

    def _take_head(self, line) -> None:
        if not any(start in line.text for start in _STARTS):
            return
        started = _START.search(line.text)
        begin, text = started.groups() if started else (None, None)
        said, tokens = (pattern.match(text or "") for pattern in (_HEAD, _HEAD_IN_TOKENS))
        if text is None or (text and not (said or tokens)):
            raise Invalid(line, "is the start of a training that is cut off or not understood")
        for key, value in (("begin", begin), ("head", (said or tokens).groups() if text else None)):
            if value and self._start.setdefault(key, value) != value:
                raise Invalid(line, "is the start of a second run; two runs are read from two files")
        if said:
            self._take_batch(*said.groups(), line)
        elif tokens:
            self._take_tokens(int(tokens[1]), int(tokens[2]))

    def _take_batch(self, local: str, world_batch: str, accumulated: str, length: str, line) -> None:
        share = int(local) * int(accumulated or 1)
        self._take_tokens(int(local) * int(length), accumulated and int(accumulated))
        self.known["sequence_length"] = int(length)
        if world_batch:
            self.examples = int(world_batch)
            if self.examples % share:
                raise Invalid(line, f"the global batch {world_batch} is no multiple of a device's {share}")

    def _take_tokens(self, tokens: int, accumulated) -> None:
        self.known["accumulate"] = accumulated
        self.per_device = tokens * (accumulated or 1)

    def time(self, before, one):
        """Sets in `one` the mean step time since the line before, or since the validation after it.  The devices of one
        model (tensor, context, pipeline parallel) share its tokens: tps is the model's rate divided by an integer,
        which is equal in all lines."""
        since = one.since or before
        steps = one.number - since.number
        by_clock = (one.clock - since.clock) / steps / 1000 if steps > 0 else 0
        if by_clock <= 0 or since.number < before.number:
            raise Invalid(one.line, "the step or the clock of this line is not after that of the line before")
        one.seconds, one.half = by_clock, 0.001 / steps
        if not self.per_device:
            return
        rate = one.rate
        self._shared = self._shared or max(1, round(self.per_device / rate.value / by_clock))
        one.seconds = self.per_device / rate.value / self._shared
        one.half = one.seconds * rate.half / rate.value
        if abs(one.seconds - by_clock) > _MOMENT_TOLERANCE_S / steps + one.half:
            raise Invalid(
                one.line,
                f"the log says {rate.text} tokens a second, {one.seconds:.6g} s a step of "
                f"{self.per_device} tokens, and its clock says {by_clock:.6g} s",
            )


def read(source):
    taken, steps = steps_of_first_rank(source, Lines)
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
    """Returns the milliseconds since year 1."""
    try:
        since = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f") - datetime.min
        return round(since.total_seconds() * 1000)
    except ValueError:
        raise Invalid(line, f"'{text}' is not a time") from None
