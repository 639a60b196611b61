# SPDX-License-Identifier: Apache-2.0
"""Compares the step times that a program states with the clock.

A program states how long its steps took; Paceline knows when it started the program and when each
line arrived. Both measure the same training loop:

- Steps that follow one another cannot take longer than the time in which they ran.  More is an error, whatever
  the program is: all steps against the time since the program was started, and, where lines arrive one by one,
  those of the window against the time between the first and the last line.
- Steps may take less.  What is between them (loading data, logging) belongs to the loop and not to the timed part,
  and only an adapter promises that its times leave nothing out.  There it is an error; else it is a remark.

A line may arrive late, never early: output is buffered, and launchers read files only now and then.
Lines count as arriving one by one if most intervals between them are alike. If they come in bursts,
only the first bound holds.
"""

import re
from dataclasses import dataclass
from enum import Enum

from .live_regex import StepUnit, other_step_units, step_unit_of
from .live_series import CONTRADICTION, NS, Case, Failure, Series, counted
from .record import warning

# Arrivals may be late by the scheduler's time slices, which are long on a busy machine.
# Differences between arrivals are compared with this absolute and this relative tolerance.
_SLACK_NS, _RATIO_TOLERANCE = 50e6, 1.1
# Tolerances for the time that an adapter leaves out: its first and last line are not written
# exactly when the window begins and ends.
_ADAPTER_SLACK_NS, _ADAPTER_SHARE = 150e6, 1.25
_FAR_SHORTER_RATIO = 8
# The program may use another clock, which may run at a slightly different speed.
_RUN_SLACK_NS, _RUN_SHARE = 10e6, 1.01
# Lines that arrive closer together than this were not written when their steps ended.
_LEAST_INTERVAL_NS, _LEAST_INTERVALS = 1e6, 3
_ALIKE_RATIO = 4  # allowed ratio of the median interval to the interval at the 10th percentile
_UNIT_TOLERANCE = 0.1  # relative tolerance of a unit that explains a difference
_LEAST_SHARE_OF_RUN = 0.01  # smallest share of a program's whole run that its steps should take

_EVENT_UNITS = {"seconds": 1, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_PRINTS_LOG = re.compile(
    r"\s*(?:cat|zcat|bzcat|xzcat|zstdcat|(?:gzip|bzip2|xz|zstd)\s+-(?:dc|cd))\s+[^;|&<>()`$]+", re.A
)


class DifferenceKind(Enum):
    """The kinds of differences between the stated times and the clock."""

    LONGER_THAN_RUN = 1  # longer than the whole program ran
    LONGER = 2  # longer than the time between the lines
    SHORTER = 3  # shorter than the time between the lines; an error for adapters
    FAR_SHORTER = 4  # less than an eighth of the time between the lines
    LEAVES_OUT = 5  # shorter than the time between the lines, which is allowed
    ROUNDED = 6  # explained by the rounding of the printed digits


@dataclass(frozen=True)
class Difference:
    kind: DifferenceKind
    lines: list  # lines whose step times were added
    clock_ns: float  # time of these steps by the clock

    @property
    def stated_ns(self) -> float:
        return sum(one.stated_ns for one in self.lines)


def prints_log(command: str) -> bool:
    """Whether the command only prints an existing log (cat, zcat, gzip -dc and the like, without another command): its
    lines state times of another run, and arrive all at once."""
    return bool(_PRINTS_LOG.fullmatch(command))


def check_clock(case: Case, series: Series, leaves_nothing_out: bool) -> dict | None:
    """Returns a warning if the times of a rank leave out a part of the loop, or are printed with too few digits.
    Raises a Failure, with the unit that would fit, if they contradict the clock."""
    if prints_log(case.command):
        return warning(
            "times-of-a-log",
            "the command only prints a log",
            "its times are of another run, and the clock cannot tell whether they are right",
            "let the command train; `paceline import` reads logs",
        )
    found = _difference(case, series, leaves_nothing_out)
    if not found:
        return None
    fitting = "" if found.kind is DifferenceKind.ROUNDED else _fitting_unit(case, found, series.in_ns)
    seen = _difference_text(case, found)
    advice = f"the numbers would fit {fitting}" if fitting else _advice_text(case, found)
    if found.kind is DifferenceKind.ROUNDED:
        return warning("times-rounded", seen, "the program prints too few digits of its numbers", advice)
    if found.kind is DifferenceKind.LEAVES_OUT and not fitting:
        return warning(
            "times-leave-out",
            seen,
            "what the program does between its timed parts, such as loading data, is in none of the figures",
            advice,
        )
    raise Failure(CONTRADICTION, f"{seen}; {advice}")


def _difference(case: Case, series: Series, leaves_nothing_out: bool) -> Difference | None:
    """Returns the first difference that exceeds the noise of arrivals; errors come first."""
    end = series.warmup + case.lines(case.steps)
    by_line = _by_line(series.lines, max(series.warmup, 1), end, leaves_nothing_out)
    if by_line and by_line.kind is DifferenceKind.LONGER:
        return by_line
    found = _by_progress(case, series) if leaves_nothing_out else None
    return found or _times_longer_than_run(series.lines[:end]) or by_line


def _times_longer_than_run(lines: list) -> Difference | None:
    run = max(1, lines[-1].arrived_ns)
    low = sum(one.low_ns for one in lines)
    return Difference(DifferenceKind.LONGER_THAN_RUN, lines, run) if low > _RUN_SHARE * run + _RUN_SLACK_NS else None


def _by_line(lines: list, first: int, end: int, leaves_nothing_out: bool) -> Difference | None:
    """Compares the step times that the lines of the window state with the intervals between the
    arrivals of the lines."""
    window = lines[first:end]
    intervals = [b.arrived_ns - a.arrived_ns for a, b in zip(lines[first - 1 :], window)]
    if not _come_one_by_one(intervals):
        return None
    clock = window[-1].arrived_ns - lines[first - 1].arrived_ns
    low, stated, high = (sum(getattr(one, name) for one in window) for name in ("low_ns", "stated_ns", "high_ns"))
    # Late lines move the sum, pauses and ticks of a launcher the median.
    median_low = _quantile([i / max(1.0, one.low_ns) for i, one in zip(intervals, window)], 0.5)
    median_high = _quantile([i / max(1.0, one.high_ns) for i, one in zip(intervals, window)], 0.5)

    def shorter(share: float, slack: float) -> bool:
        return clock > share * high + slack and median_high > share

    for kind, differs in (
        (DifferenceKind.LONGER, low > _RATIO_TOLERANCE * clock + _SLACK_NS and median_low < 1 / _RATIO_TOLERANCE),
        (DifferenceKind.SHORTER, leaves_nothing_out and shorter(_ADAPTER_SHARE, _ADAPTER_SLACK_NS)),
        (DifferenceKind.FAR_SHORTER, shorter(_FAR_SHORTER_RATIO, _SLACK_NS)),
        (DifferenceKind.LEAVES_OUT, shorter(_RATIO_TOLERANCE, _SLACK_NS)),
        (DifferenceKind.ROUNDED, stated > _RATIO_TOLERANCE * clock + _SLACK_NS),
    ):
        if differs:
            return Difference(kind, window, clock)
    return None


def _by_progress(case: Case, series: Series) -> Difference | None:
    """For each progress line of an adapter, compares the time of the following steps with the time
    until the last step's line."""
    for arrived_ns, done in series.progress:
        inside = done - case.warmup
        lines = series.lines[max(0, inside) :]
        if not lines:
            continue
        clock = max(1, lines[-1].arrived_ns - arrived_ns)
        if sum(one.low_ns for one in lines) > _RATIO_TOLERANCE * clock + _ADAPTER_SLACK_NS:
            return Difference(DifferenceKind.LONGER, lines, clock)
        # Before the window the length of steps is not known.
        if inside >= 0 and clock > _ADAPTER_SHARE * sum(one.high_ns for one in lines) + _ADAPTER_SLACK_NS:
            return Difference(DifferenceKind.SHORTER, lines, clock)
    return None


def _quantile(values: list, share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def _come_one_by_one(intervals: list) -> bool:
    if len(intervals) < _LEAST_INTERVALS:
        return False
    median = _quantile(intervals, 0.5)
    return median >= _LEAST_INTERVAL_NS and _quantile(intervals, 0.1) >= median / _ALIKE_RATIO


def _agrees_with_clock(found: Difference, taken_ns: float) -> bool:
    """Returns whether a total step time of `taken_ns` would agree with the clock. If only the time
    of the whole run is known, returns whether the steps would fit into it."""
    if found.kind is DifferenceKind.LONGER_THAN_RUN:
        return _LEAST_SHARE_OF_RUN * found.clock_ns <= taken_ns <= found.clock_ns
    return abs(taken_ns / found.clock_ns - 1) <= _UNIT_TOLERANCE


def _fitting_unit(case: Case, found: Difference, in_ns: bool) -> str:
    """Returns words for another unit of the printed numbers that would agree with the clock,
    preferably of the same kind (time or rate); empty if none would."""
    own, others = (step_unit_of(case), other_step_units(case)) if case.regex else _units_of_event(in_ns)
    numbers = [own.number(one.stated_ns / case.per_line) for one in found.lines]
    fitting = []
    for place, other in enumerate(others):
        taken = case.per_line * sum(other.step_ns(number) for number in numbers)
        if _agrees_with_clock(found, taken):
            fitting.append((other.is_rate == own.is_rate, taken, -place, other.name))
    if not fitting:
        return ""
    name = max(fitting)[-1]
    if case.regex:
        return f"with {name}"
    return f"as {name}, and {'step_ns is in nanoseconds' if in_ns else 'step_s is in seconds'}"


def _units_of_event(in_ns: bool) -> tuple:
    own = "nanoseconds" if in_ns else "seconds"
    times = [StepUnit(name, scale, False) for name, scale in _EVENT_UNITS.items() if name != own]
    return StepUnit(own, _EVENT_UNITS[own], False), [*times, StepUnit("steps per second", 1, True)]


def _time(ns: float) -> str:
    return f"{ns * 1e-9:.4g} s" if ns >= NS else f"{ns * 1e-6:.4g} ms" if ns >= 1e6 else f"{ns * 1e-3:.4g} us"


def _difference_text(case: Case, found: Difference) -> str:
    steps = len(found.lines) * case.per_line
    stated, clock = found.stated_ns, found.clock_ns
    if found.kind is DifferenceKind.LONGER_THAN_RUN:
        return f"its {counted(steps, 'step')} took {_time(stated)} by its own words, but it ran for {_time(clock)} until then"
    samples = steps * case.batch * case.ranks * NS
    return (
        f"a step took {_time(stated / steps)} by its own words, but {_time(clock / steps)} by the clock "
        f"({samples / clock:.4g} examples/s by the clock, {samples / stated:.4g} by its words)"
    )


def _reason_of_length(case: Case, found: Difference) -> str:
    """Returns other reasons why steps seem too long."""
    if case.ranks > 1 and _agrees_with_clock(found, found.stated_ns / case.ranks):
        return (
            f"the lines of all {case.ranks} ranks would be so many: let one rank write them, or name the rank in each "
            "(with --step-regex match those of one)"
        )
    if case.per_line > 1 and _agrees_with_clock(found, found.stated_ns / case.per_line):
        return (
            f"the number would fit as that of all {case.per_line} steps of its line: leave the group out of --step-regex, "
            "and the arrival of the lines is timed"
        )
    return "a line has to say how long its own step took, neither a total nor a mean of earlier steps"


def _advice_text(case: Case, found: Difference) -> str:
    arrival = "leave the group out of --step-regex, and the arrival of the lines is timed"
    if found.kind in (DifferenceKind.LONGER, DifferenceKind.LONGER_THAN_RUN):
        return _reason_of_length(case, found)
    if found.kind is DifferenceKind.SHORTER:
        return "the steps of an adapter leave nothing of the loop out: each ends where the next one begins (docs/adapters.md)"
    if found.kind is DifferenceKind.ROUNDED:
        return "print more of them"
    if found.kind is DifferenceKind.LEAVES_OUT:
        return f"where it belongs to the step, {arrival if case.regex else 'time it too'}"
    return arrival if case.regex else "time the whole of a step, on a GPU up to its synchronization"
