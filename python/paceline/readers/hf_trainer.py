# SPDX-License-Identifier: Apache-2.0
"""Reads the log of Hugging Face's Trainer: the head "***** Running training *****" and the dict at
the end,

    {'train_runtime': 123.4, 'train_samples_per_second': 64.1, 'train_steps_per_second': 2.0, ...}

The log has one time, that of the whole training, so the record has one value, the mean step time.
Runtime, both rates, and the numbers of steps, samples and epochs are checked against each other.
The rates count all planned steps, even if a training ended early or began at a checkpoint.
head, which the Trainer's usual log level hides, the steps are those of TrainOutput(global_step=...)
or of a progress bar that is full.
"""

import ast
import re
import warnings as python_warnings

from .checks import Invalid, count, figure, shown
from .hf_counts import ENDLESS, check_samples, count_steps, full_progress_bar_steps, number_of
from .step_log import NOT_FINITE, Steps, record_of, wrong_loss

NAME = "hf-trainer"
_END = "train_runtime"
_DICT = re.compile(r"\{'.*\}")
_NO_NUMBER = re.compile(r"(?<=: )-?(?:nan|inf)(?=[,}])")
_SAID = (_END, "train_samples_per_second", "train_steps_per_second")
_HEAD = {
    "Num examples": "samples",
    "Num Epochs": "epochs",
    "Instantaneous batch size per device": "device_batch",
    "Total train batch size (w. parallel, distributed & accumulation)": "batch",
    "Gradient Accumulation steps": "accumulate",
    "Total optimization steps": "steps",
    "Number of trainable parameters": "parameters",
}
_FIELD = re.compile(r"(?:.* - |.* >> )?\s*([A-Z][\w ().,&]*?)\s*=\s*(\S+)\s*")
_CONTINUED = "Continuing training from "


def recognizes(source) -> bool:
    return f"'{_END}'" in source.text


class Lines:
    """A log that is read line by line.  Only its last dict states the time of the steps."""

    whole = True

    def __init__(self):
        self.warnings = []
        self.known = {"framework": NAME}
        self.done = set()  # step counts of progress bars that were full
        self._head, self._loss, self._end, self._continued = {}, None, None, None

    def take(self, line):
        """Returns the Steps of the whole training if the line has the last dict; None for any other line."""
        self._take_head(line)
        self.done |= full_progress_bar_steps(line)
        said = _dict_of(line)
        if said is None:
            return None
        if "loss" in said:
            self._loss = _loss(said["loss"], line, self.warnings)
        if _END not in said:
            return None
        if "train_loss" in said:
            _loss(said["train_loss"], line, self.warnings)
        same = tuple(said.get(name) for name in _SAID)
        if self._end not in (None, same):
            raise Invalid(line, "is the end of a second training; two are read from two files")
        again, self._end = self._end is not None, same
        return None if again else self._steps(said, line)

    def _take_head(self, line) -> None:
        field = _FIELD.fullmatch(line.text)
        if field and field[1] in _HEAD:
            name = _HEAD[field[1]]
            value = count(field[2], line, field[1], least=1, most=ENDLESS)
            if self._head.get(name, (value,))[0] != value:
                raise Invalid(line, f"{field[1]} is {value} here, and {self._head[name][0]} before")
            self._head[name] = (value, line)
        if _CONTINUED in line.text and not line.text.rstrip().endswith(" 0"):
            self._continued = line

    def _steps(self, end: dict, line) -> Steps:
        if self._continued:
            raise Invalid(self._continued, "the training began at a checkpoint, and the rates at its end count the steps before it")
        runtime, samples_rate, steps_rate = (number_of(end, name, line) for name in _SAID)
        if runtime.value <= 0:
            raise Invalid(line, f"{_END}: {runtime.text} is not positive")
        steps = count_steps(self._head, self.done, [steps_rate, runtime], line)
        batch = self._value("batch")
        self.known["accumulate"] = self._value("accumulate")
        if batch:
            own = (self._value("device_batch") or 0) * (self.known["accumulate"] or 1)
            if own:
                if batch % own != 0:
                    raise Invalid(self._head["batch"][1], f"the total batch {batch} is no multiple of a device's {own}")
                self.known |= {"ranks": batch // own, "batch_size": own}
            epoch = number_of(end, "epoch", line) if "epoch" in end else None
            check_samples(self._head, steps, [samples_rate, runtime], epoch, line)
        return Steps(steps, runtime.value / steps, batch, self._loss, line, runtime.half / steps)

    def _value(self, name: str):
        return self._head.get(name, (None,))[0]


def read(source):
    taken = Lines()
    taken.done = set().union(*map(full_progress_bar_steps, source.lines))
    steps = [one for one in map(taken.take, source.lines) if one]
    if not steps:
        raise Invalid(source, f"has no {_END}: the training did not end, and its log has no other time")
    yield record_of(
        steps,
        taken.known,
        experiment=NAME,
        formula=f"the one value is the mean of {steps[0].number} steps: train_runtime / steps",
        warnings=taken.warnings,
    )


def _dict_of(line):
    match = _DICT.search(line.text)
    if not match:
        return None
    try:
        with python_warnings.catch_warnings():  # of escape sequences in other programs' lines
            python_warnings.simplefilter("ignore")
            found = ast.literal_eval(_NO_NUMBER.sub(lambda number: f"'{number[0]}'", match[0]))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        if _END in match[0]:
            raise Invalid(line, "is a line of results that is cut off or not understood") from None
        return None
    return found if isinstance(found, dict) else None


def _loss(value, line, warnings: list):
    text = str(value)
    if text.lower() in NOT_FINITE:
        warnings += [wrong_loss(shown(text), line)] * (not warnings)  # the warning is given only
                                                                      # once
        return None
    return figure(text, line, "loss")
