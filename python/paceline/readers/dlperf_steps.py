# SPDX-License-Identifier: Apache-2.0
"""Finds the steps in a log of DLPerf: the step of each line, and the duration of each step."""

import re
from datetime import datetime

from .checks import Invalid, check_count, check_mean, check_product, count, exactly, figure, shown
from .dlperf_formats import EPOCHS, FORMATS, GLOBAL_RATE, MILLISECONDS, MINDSPORE, SECONDS, STAMP, STEP_RATE

_LEAP_YEAR = 2020  # for stamps without a year, since it has all days
_MOST_BETWEEN = 1.1  # largest allowed ratio of the time between two lines to the time of their
                     # steps
_OTHER_TIMER_TOLERANCE = 0.1  # largest relative difference between printed rates and rates by time stamps
_MINDSPORE_STEP = re.compile(r"epoch: .*step: ")


def steps_of(source, name):
    """Returns the steps in the first format whose lines the log has; None if it has none."""
    lines = _with_steps(source.lines)
    for form in FORMATS:
        marked = [(line, text) for line, text in lines if form.marker in text]
        steps = Steps(form, name, source)
        unread = [line for line, text in marked if not steps.take(line, text)]
        if steps.by_step:
            if unread:
                raise Invalid(
                    unread[0], f"'{shown(unread[0].text)}' is a line of a step that is cut off or mixed with another"
                )
            return steps
    return None


def _with_steps(lines: list) -> list:
    """Returns pairs of a line and its text.  A line with MindSpore's times gets the text of the last line before it
    that has a step."""
    found, named = [], ""
    for line in lines:
        text = line.text
        if MINDSPORE in text:
            text += " " + named
        elif _MINDSPORE_STEP.search(text):
            named = text
        found.append((line, text))
    return found


class Steps:
    def __init__(self, form, name, source):
        self.form, self.name, self.source = form, name, source
        self.by_step = {}  # for each step: (stamp in ns, or seconds; line) of each rank that prints
                           # it
        self.counted = not form.step.pattern
        self._averages = {}  # by step: the printed mean of all times up to it
        self._rates = {}  # by step: the printed samples/s of all devices
        self._clocks = {}  # by the last step of a line: (the step before its first one, the seconds of its steps)

    def take(self, line, text: str) -> bool:
        """Processes a line with the format's marker.  Returns False if it belongs to a step but cannot be parsed."""
        form = self.form
        number = form.number.search(text)
        step = len(self.by_step) + form.first_counted if self.counted else self._number(text, line)
        if step is None or not number:
            return step is None and not number
        self._check_clock(line)
        if form.averaged.pattern:
            average = form.averaged.search(text)
            self._averages[step] = figure(average[1], line, "the mean") if average else None
        rate = form.rated.search(text) if form.rated.pattern else None
        if rate:
            self._rates[step] = figure(rate[1], line, "the rate", least=1e-3)
        value = self._value(number, line)
        for one in range(step - self._steps_of_line(number, text, line) + 1, step + 1):
            self.by_step.setdefault(one, []).append((value, line))
        return True

    def _number(self, text: str, line):
        found = self.form.step.search(text)
        if not found:
            return None
        number = 1
        for group in found.groups():
            number *= int(group) if group else 1
        if self.form.measure != STEP_RATE:
            return number
        if number % self.name.nodes:
            raise Invalid(line, f"step {number} is no multiple of the {self.name.nodes} nodes, whose steps it counts")
        return number // self.name.nodes

    def _value(self, number, line):
        measure = self.form.measure
        if measure == STAMP:
            return _nanoseconds(number, line)
        value = figure(number[2 if measure == EPOCHS else 1], line, measure)
        if value.value <= 0:
            raise Invalid(line, f"{measure}: {value.text} is not positive")
        return value

    def _seconds(self, value) -> float:
        return {
            SECONDS: value.value,
            MILLISECONDS: value.value * 1e-3,
            EPOCHS: value.value * 1e-3,
            GLOBAL_RATE: self.name.batch * self.name.devices / value.value,
            STEP_RATE: self.name.nodes / value.value,
        }[self.form.measure]

    def _steps_of_line(self, number, text: str, line) -> int:
        if self.form.measure != EPOCHS:
            return 1
        whole, each = (figure(number[k], line, "the time") for k in (1, 2))
        steps = round(whole.value / each.value) if each.value > 0 else 0
        if not 1 <= steps <= 2**15:
            raise Invalid(line, f"{whole.text} ms are no number of steps of {each.text} ms")
        check_product(whole, [each, exactly(steps, line, "steps")], "the time of an epoch")
        epoch, last = self.form.step.search(text).groups()
        if epoch:
            check_count(int(last), steps, "steps of an epoch", line, " by their times")
        return steps

    def _check_clock(self, line) -> None:
        """Checks that samples = rate x seconds if a line states all three."""
        found = self.form.clocked.search(line.text) if self.form.clocked.pattern else None
        if found:
            first, last = (count(found[k], line, "steps", most=10**9) for k in (3, 4))
            samples = exactly((last - first) * self.name.batch * self.name.devices, line, "samples")
            clock = [figure(found[1], line, "seconds"), figure(found[2], line, "examples/second")]
            check_product(samples, clock, f"the samples of steps {first} to {last}")
            self._clocks[last] = first, clock[0]

    def lines_in(self, begin: int, end: int) -> int:
        return sum(begin <= step <= end for step in self.by_step)

    def window(self, begin: int, end: int) -> list:
        """Returns the durations in ns of the steps after `begin` up to `end`."""
        return self._between_stamps(begin, end) if self.form.measure == STAMP else self._stated_durations(begin, end)

    def _between_stamps(self, begin: int, end: int) -> list:
        """Returns step durations in ns from time stamps. A stamp is the end of its step. The steps
        between two stamps are assumed to be equally long."""
        for border in (begin, end):
            if border not in self.by_step:
                raise Invalid(
                    self.source, f"no line says when step {border} ended, which is a border of the window"
                )
        step_ns, before, at = [], None, 0
        for step in sorted(self.by_step):
            stamp, line = max(self.by_step[step], key=lambda one: one[0])  # the latest stamp is
                                                                           # that of the slowest
                                                                           # rank
            if before is not None and stamp <= at:
                raise Invalid(line, f"step {step} ended before step {before}, or with it, as its stamp says")
            if before is not None:
                self._check_stamps(before, step, (stamp - at) * 1e-9, line)
            if before is not None and begin < step <= end:
                step_ns += [round((stamp - at) / (step - before))] * (step - before)
            before, at = step, stamp
        self._check_rates(begin, step_ns)
        return step_ns

    def _check_rates(self, begin: int, step_ns: list) -> None:
        """Checks that the number of samples in the window, by its rates, fits the batch and the devices that the path
        states."""
        samples = self.name.batch * self.name.devices
        told = [(ns, self._rates[begin + k]) for k, ns in enumerate(step_ns, 1) if begin + k in self._rates]
        by_rates = sum(samples / rate.value for _, rate in told)
        by_stamps = sum(ns for ns, _ in told) * 1e-9
        if told and abs(by_rates / by_stamps - 1) > _OTHER_TIMER_TOLERANCE:
            raise Invalid(
                told[0][1].place,
                f"a step of the window took {by_stamps / len(told):.6g} s as the stamps say, and {by_rates / len(told):.6g} s as "
                f"the rates say of {samples} samples, {self.name.batch} on each of {self.name.devices} devices by the name",
            )

    def _check_stamps(self, before: int, step: int, seconds: float, line) -> None:
        """Checks that the time between two lines is not shorter than their steps, and only a little
        longer."""
        first, clock = self._clocks.get(step, (None, None))
        if first == before and not clock.low <= seconds <= _MOST_BETWEEN * clock.high:
            raise Invalid(
                line, f"{seconds:.6g} s between the lines of steps {before} and {step}, which say {clock.text} s"
            )

    def _stated_durations(self, begin: int, end: int) -> list:
        """Returns step durations.  If each rank prints its own time, that of the slowest rank counts."""
        steps = [step for step in range(begin + 1, end + 1) if step in self.by_step]
        if len(steps) != end - begin:
            raise Invalid(self.source, f"{len(steps)} of the {end - begin} steps after step {begin} have a line")
        ranks = len(self.by_step[steps[0]])
        name = self.name
        if ranks not in (1, name.nodes, name.devices_per_node, name.devices):
            raise Invalid(
                self.source, f"{ranks} lines say how long step {steps[0]} took, and the name says {name.devices} devices"
            )
        for step in steps:
            said = self.by_step[step]
            if len(said) != ranks:
                raise Invalid(
                    said[-1][1], f"{len(said)} lines say how long step {step} took, and {ranks} of step {steps[0]}"
                )
        if ranks == 1:
            self._check_averages(end)
        return [round(1e9 * max(self._seconds(value) for value, _ in self.by_step[step])) for step in steps]

    def _check_averages(self, end: int) -> None:
        """Checks that the printed means are the means of the printed times, from the first step on."""
        times = []
        for step in range(end + 1):
            if step not in self.by_step or self._averages.get(step) is None:
                return
            value, line = self.by_step[step][0]
            times.append(value)
            check_mean([self._averages[step]], times, f"the mean of the times of {step + 1} steps", line)


def _nanoseconds(stamp, line) -> int:
    """Converts a stamp to nanoseconds on a common scale."""
    parts = stamp.groups()
    if len(parts) == 1:
        return figure(parts[0], line, "the stamp").times(10**9)
    *date, fraction = parts
    date = [int(part) for part in date]
    try:
        when = datetime(*(date if len(date) == 6 else [_LEAP_YEAR, *date]))
    except ValueError:
        raise Invalid(line, f"'{shown(stamp[0])}' is not a time") from None
    since = when - datetime(1970, 1, 1)
    return (since.days * 86400 + since.seconds) * 10**9 + int(fraction) * 10 ** (9 - len(fraction))
