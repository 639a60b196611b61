# SPDX-License-Identifier: Apache-2.0
"""Determines the steps, samples and epochs of a training with Hugging Face's Trainer, and checks
that the log's several statements of each agree.

`head` has (value, line) for each value in the head of the log. `rate` is a pair of figures, a rate
of the Trainer and its runtime, whose product is a number of steps or of samples.
"""

import re

from .checks import Figure, Invalid, check_product, count, exactly, figure

ENDLESS = 2**63 - 1  # number of epochs that the log states for a data set of unknown length
_BAR = re.compile(r"(?<!\S)(\d{1,12})/(\d{1,12}) \[\d", re.A)
_OUTPUT = re.compile(r"TrainOutput\(global_step=(\d+),", re.A)


def number_of(end: dict, name: str, line) -> Figure:
    if name not in end:
        raise Invalid(line, f"{name} is missing")
    return figure(str(end[name]), line, name, least=0)


def full_progress_bar_steps(line) -> set:
    """Returns the step counts of progress bars that are full, 174/174 [01:27<00:00, ...]."""
    return {int(whole) for done, whole in _BAR.findall(line.text) if done == whole}


def count_steps(head: dict, bars: set, rate: list, line) -> int:
    """Returns the number of steps that were done; `rate` gives the number of planned steps."""
    said = {"Total optimization steps": head["steps"]} if "steps" in head else {}
    output = _OUTPUT.search(line.text)
    if output:
        said["global_step"] = (count(output[1], line, "global_step", least=1), line)
    for name, (steps, at) in said.items():
        check_product(exactly(steps, at, name), rate, "steps", place=line)
    if said:
        return steps
    low, high = rate[0].low * rate[1].low, rate[0].high * rate[1].high
    planned = [steps for steps in bars if low <= steps <= high]
    if len(planned) != 1:
        raise Invalid(
            line,
            "nobody knows how many steps took this time: the head, with 'Total optimization steps', is missing, "
            "and so is TrainOutput(global_step=...), or a full progress bar",
        )
    return planned[0]


def check_samples(head: dict, steps: int, rate: list, epoch, line) -> None:
    """Checks the number of samples.  The Trainer counts examples x epochs or, if the number of steps was given, steps x
    batch."""
    batch, examples, epochs = (head.get(name, (None,))[0] for name in ("batch", "samples", "epochs"))
    counted = [steps * batch]
    if examples and epochs and epochs != ENDLESS:
        counted.append(examples * epochs)
        _check_epochs(examples, batch, epochs, steps, head["batch"][1])
        if epoch is not None:
            _check_end(steps / -(-examples // batch), steps / max(1, examples // batch), epoch, steps)
            if epoch.value % 1 and _may_be_sample_count(examples, epoch, rate):
                return
    faults = []
    for samples in counted:
        try:
            check_product(exactly(samples, line, "samples"), rate, "samples", place=line)
            return
        except Invalid as fault:
            faults.append(fault)
    raise faults[0]


def _check_epochs(examples: int, batch: int, epochs: int, steps: int, line) -> None:
    least = (epochs - 1) * (examples // batch)  # the last epoch may be incomplete
    most = epochs * -(-examples // batch)
    if not least <= steps <= most:
        raise Invalid(
            line,
            f"{epochs} epochs of {examples} examples are {least} to {most} steps of {batch}, and the log says {steps}",
        )


def _check_end(least: float, most: float, epoch: Figure, steps: int) -> None:
    """Checks that the last epoch agrees with the steps that the rates count. In a training that
    ended early, the rates count all planned steps."""
    if epoch.high < least or epoch.low > most:
        raise Invalid(
            epoch.place,
            f"the training ended in epoch {epoch.text}, and its rates count {steps} steps, which are "
            f"{least:.6g} to {most:.6g} epochs",
        )


def _may_be_sample_count(examples: int, epoch: Figure, rate: list) -> bool:
    """Returns whether the number of samples, by the rates, agrees with a training that ended within
    an epoch."""
    low, high = rate[0].low * rate[1].low, rate[0].high * rate[1].high
    return low <= examples * epoch.high and high >= examples * epoch.low
