# SPDX-License-Identifier: Apache-2.0
"""The steps that --step-regex finds in the output of a program, and the units that their numbers may have."""

import math
import re
import warnings
from dataclasses import dataclass, replace

from .checks import Figure, Invalid, figure, shown
from .live_series import NS, Case, Failure, Steps, counted
from .record import warning
from .transports import LauncherLine
from .units import unit_of

_NOT_FINITE = re.compile(r"[-+]?(?:nan|inf|infinity)", re.I)
# A loss, such as "loss nan", "lm loss: -inf", "'loss': nan"; "nan" elsewhere may be a word or a count.
_LOSS_NOT_FINITE = re.compile(r"loss['\"]?\s*[:=]?\s*['\"]?[-+]?(?:nan|inf|infinity)(?![A-Za-z0-9_])", re.I | re.A)
# Text before or after a match that is a part of the same number: 5|6, 5|.6, 5|,6, 5|e6.
_BEGINS_BEFORE = re.compile(r"\d[.,]?\Z", re.A)
_GOES_ON = re.compile(r"\d|[.,]\d|[eE][+-]?\d", re.A)
# A unit that an expression contains: of a rate, and of a time. A letter after a backslash belongs
# to the expression, not to a unit.
_RATE = re.compile(r"(^|[^A-Za-z\\])([A-Za-z]+)/(s|sec|second)(?![A-Za-z])")
_TIME = re.compile(r"(^|[^A-Za-z\\])(s|sec)/([A-Za-z]+)")


def compiled(pattern: str) -> re.Pattern:
    """Compiles --step-regex.  Raises ValueError with a sentence if it is no regular expression or has several groups.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a set in a set, as [[:digit:]], which Python reads as another one
            expression = re.compile(pattern, re.A)
    except (re.error, Warning, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"'{shown(pattern)}' is no regular expression: {error}") from None
    if expression.groups > 1:
        raise ValueError(
            f"'{shown(pattern)}' has several groups; put one around the number, none where the time of the line counts, and "
            "write the others as (?:...)"
        )
    return expression


def with_inverted_unit(pattern: str, of_rate: bool) -> str | None:
    """Returns `pattern` with its unit inverted, because tqdm prints 1.25s/it if it/s would be below
    one. Returns None if `pattern` has no such unit. `of_rate` says whether its number is a rate or
    a time in seconds."""
    unit = _RATE if of_rate else _TIME
    return unit.sub(r"\1\3/\2", pattern) if unit.search(pattern) else None


def printed_number(match: re.Match, line: str) -> Figure:
    """Parses the text of the one group as a number: 12, 12,345, 0.5, 1.2e3."""
    text, whole = match[1] or "", match.string
    if _NOT_FINITE.fullmatch(text):
        raise Failure("not-finite", f"a value is not finite: '{shown(line)}'")
    begin, end = match.span(1)
    # Text that the expression itself matches beside its group is not a part of the number.
    begins_before = text and begin == match.start() and _BEGINS_BEFORE.search(whole[max(0, begin - 2) : begin])
    if begins_before or (text and end == match.end() and _GOES_ON.match(whole, end)):
        around = re.search(r"[0-9.,]*\Z", whole[:begin])[0] + text + re.match(r"[0-9.,eE+-]*", whole[end:])[0]
        raise Failure(
            "bad-output",
            f"--step-regex finds '{shown(text)}' inside the number '{shown(around)}', in '{shown(line)}'; its group must "
            "take the whole number, as ([0-9.,e+-]+)",
        )
    try:
        return figure(text, line, "a number")
    except Invalid:
        raise Failure(
            "bad-output", f"--step-regex finds '{shown(text)}', which is no number, in '{shown(line)}'"
        ) from None


@dataclass(frozen=True)
class StepUnit:
    """The meaning of the matched numbers: times in units of `scale` seconds, or rates, for which a step takes `scale` /
    number."""

    name: str  # the flags that ask for it, or the unit of an event
    scale: float
    is_rate: bool

    def step_ns(self, number: float) -> float:
        if not self.is_rate:
            return number * (self.scale * NS)
        return self.scale * NS / number if number else math.inf

    def number(self, step_ns: float) -> float:
        return self.scale * NS / step_ns if self.is_rate else step_ns / (self.scale * NS)


def _step_unit(case: Case, unit: str, scope: str = "", name: str = "") -> StepUnit:
    known = unit_of(unit, "--step-unit")
    ranks = {"device": 1, "node": case.ranks_on_a_node}.get(scope, case.ranks)
    per_step = {"steps": 1, "samples": case.batch * ranks, "tokens": case.batch * ranks * case.tokens}[known.counted]
    return StepUnit(name, known.seconds * per_step, not known.inverted)


def step_unit_of(case: Case) -> StepUnit:
    """Returns the unit that the case's flags give to the numbers of --step-regex."""
    return _step_unit(case, case.unit, case.scope)


def other_step_units(case: Case) -> list:
    """Returns every other unit and scope that the same numbers could have."""
    own = step_unit_of(case)
    rates = ["samples/s", "tokens/s"] if case.tokens else ["samples/s"]
    others = [_step_unit(case, unit, "", f"--step-unit {unit}") for unit in ("s", "ms", "us", "ns")]
    for scope in ("global", "node", "device"):
        for unit in rates:
            flags = f"--rate-scope {scope}" if unit == case.unit else f"--step-unit {unit} --rate-scope {scope}"
            others.append(_step_unit(case, unit, scope, flags))
    others.append(_step_unit(case, "steps/s", "", "--step-unit steps/s"))
    return [one for one in others if (one.scale, one.is_rate) != (own.scale, own.is_rate)]


class RegexMatcher:
    """Finds steps by --step-regex.  Without a group the arrival of the line ends a step."""

    def __init__(self, steps: Steps):
        case = steps.case
        self._steps, self._step_unit = steps, step_unit_of(case)
        self._expression = compiled(case.regex)
        turned = with_inverted_unit(case.regex, self._step_unit.is_rate)
        self._turned = turned and compiled(turned)
        self._turned_lines = 0

    def take(self, line: LauncherLine, now_ns: int) -> None:
        match, reading = _first_match(self._expression, line), self._step_unit
        if not match:
            match = self._turned and _first_match(self._turned, line)
            if not match:
                return
            self._turned_lines += 1
            reading = replace(reading, is_rate=not reading.is_rate)
        if _LOSS_NOT_FINITE.search(line.whole):
            raise Failure("not-finite", f"the loss is not finite: '{shown(line.whole)}'")
        series = self._steps.of(line.certain_rank)
        series.warmup = self._steps.case.lines(self._steps.case.warmup)
        if self._expression.groups:
            number = printed_number(match, line.whole)
            ends = (reading.step_ns(max(0.0, end)) for end in (number.low, number.high))
            stated = (reading.step_ns(number.value), *sorted(ends))
            self._steps.add(series, stated, now_ns, f"{number.text} {self._steps.case.unit}")
        else:
            self._take_arrival(series, now_ns)

    def _take_arrival(self, series, now_ns: int) -> None:
        before, series.last_match_ns = series.last_match_ns, now_ns
        if before is not None:
            self._steps.add_step(series, (now_ns - before) // self._steps.case.per_line)
        elif self._steps.case.warmup:  # its steps are dropped; without a warm-up it is not known when they began
            self._steps.add_step(series, 1)

    def remarks(self) -> list:
        if not self._turned_lines:
            return []
        return [
            warning(
                "unit-turned-over",
                f"the unit turns over on the way, in {counted(self._turned_lines, 'line')} (as it/s to s/it)",
                "their number is read in the unit that they have",
                "look whether the program became slower there",
            )
        ]


def _first_match(expression: re.Pattern, line: LauncherLine):
    """Returns the match.  The expression may also match text that the launcher wrote."""
    return expression.search(line.text) or expression.search(line.whole)
