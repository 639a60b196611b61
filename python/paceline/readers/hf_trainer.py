# SPDX-License-Identifier: Apache-2.0
"""The log of Hugging Face's Trainer: the head "***** Running training *****" and the dict at the end,

    {'train_runtime': 123.4, 'train_samples_per_second': 64.1, 'train_steps_per_second': 2.0, ...}

It has one time, that of the whole training, so the record has one value, the mean step.  Runtime,
both rates, the number of steps and of samples are checked against each other.
"""

import ast
import re
import warnings as python_warnings

from .checks import Invalid, check_product, count, exactly, figure, shown
from .step_log import Steps, record_of, wrong_loss

NAME = "hf-trainer"
_END = "train_runtime"
_DICT = re.compile(r"\{'.*\}")
_HEAD = {
    "Num examples": "samples",
    "Num Epochs": "epochs",
    "Instantaneous batch size per device": "device_batch",
    "Total train batch size (w. parallel, distributed & accumulation)": "batch",
    "Gradient Accumulation steps": "accumulate",
    "Total optimization steps": "steps",
    "Number of trainable parameters": "parameters",
}
_FIELD = re.compile(r"(?:.* - )?\s*([A-Z][\w ().,&]*?)\s*=\s*(\S+)\s*")


def recognizes(source) -> bool:
    return f"'{_END}'" in source.text


class Lines:
    """A log that is taken line by line: all its steps are in its last dict."""

    whole = True

    def __init__(self):
        self.warnings = []
        self.known = {"framework": NAME}
        self._head, self._loss, self._end = {}, None, None

    def take(self, line):
        """The Steps of the whole training, where the line says them; None for any other line."""
        field = _FIELD.fullmatch(line.text)
        if field and field[1] in _HEAD:
            name = _HEAD[field[1]]
            value = count(field[2], line, field[1], least=1)
            if self._head.get(name, (value,))[0] != value:
                raise Invalid(line, f"{field[1]} is {value} here, and {self._head[name][0]} before")
            self._head[name] = (value, line)
        said = _dict_of(line)
        if said is not None and _END in said:
            if self._end not in (None, said):
                raise Invalid(line, "is the end of a second training; two are read from two files")
            again, self._end = self._end is not None, said
            return None if again else _steps(self._head, said, line, self._loss, self.known)
        if said is not None and "loss" in said:
            self._loss = _loss(said["loss"], line, self.warnings)
        return None


def read(source):
    taken = Lines()
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


def _steps(head: dict, end: dict, line, loss, known: dict) -> Steps:
    runtime = _number(end, _END, line)
    steps_rate = _number(end, "train_steps_per_second", line)
    samples_rate = _number(end, "train_samples_per_second", line)
    if runtime.value <= 0:
        raise Invalid(line, f"{_END}: {runtime.text} is not positive")
    if "steps" not in head:
        raise Invalid(line, "the head, with 'Total optimization steps', is missing: nobody knows how many steps took this time")
    steps = head["steps"][0]
    named = exactly(steps, head["steps"][1], "Total optimization steps")
    check_product(named, [steps_rate, runtime], "steps", place=line)
    batch = head.get("batch", (None,))[0]
    known["accumulate"] = head.get("accumulate", (None,))[0]
    if batch:
        _check_samples(head, samples_rate, runtime, line)
        share = head.get("device_batch", (None,))[0]
        own = share and share * (known["accumulate"] or 1)
        if own:
            if batch % own != 0:
                raise Invalid(head["batch"][1], f"the total batch {batch} is no multiple of a device's {own}")
            known |= {"ranks": batch // own, "batch_size": own}
    return Steps(steps, runtime.value / steps, batch, loss, line, runtime.half / steps)


def _check_samples(head: dict, rate, runtime, line) -> None:
    """The Trainer counts examples x epochs, or, where the number of steps was given, steps x batch."""
    batch, steps = head["batch"][0], head["steps"][0]
    counted = [steps * batch]
    if "samples" in head and "epochs" in head:
        examples, epochs = head["samples"][0], head["epochs"][0]
        counted.append(examples * epochs)
        least = (epochs - 1) * (examples // batch)  # the last epoch may be a part of one
        most = epochs * -(-examples // batch)
        if not least <= steps <= most:
            raise Invalid(
                head["batch"][1],
                f"{epochs} epochs of {examples} examples are {least} to {most} steps of {batch}, and the "
                f"log says {steps}",
            )
    faults = []
    for samples in counted:
        try:
            check_product(exactly(samples, line, "samples"), [rate, runtime], "samples", place=line)
            return
        except Invalid as fault:
            faults.append(fault)
    raise faults[0]


def _dict_of(line):
    match = _DICT.search(line.text)
    if not match:
        return None
    try:
        with python_warnings.catch_warnings():  # of escape sequences in other programs' lines
            python_warnings.simplefilter("ignore")
            found = ast.literal_eval(match[0])
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        if _END in match[0]:
            raise Invalid(line, "is a line of results that is cut off or not understood") from None
        return None
    return found if isinstance(found, dict) else None


def _number(end: dict, name: str, line):
    if name not in end:
        raise Invalid(line, f"{name} is missing")
    return figure(str(end[name]), line, name, least=0)


def _loss(value, line, warnings: list):
    text = str(value)
    if text.lower() in ("nan", "inf", "-inf"):
        warnings.append(wrong_loss(shown(text), line))
        return None
    return figure(text, line, "loss")
