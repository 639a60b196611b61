# SPDX-License-Identifier: Apache-2.0
"""The steps of each rank that the output of a program reports, and the case with which they are
compared."""

from dataclasses import dataclass, field

from .checks import shown
from .record import rank, warning

NS = 1e9  # of a second
CONTRADICTION = "contradiction"  # status of a record whose program contradicts the clock or the
                                 # case
_LONGEST_STEP_NS = 10**18
_LEAST_WINDOW = 0.99  # of the sum of its steps


class Failure(Exception):
    """Says why an output gives no step times: the status for the record, or None if the status
    follows from the sentence, and the sentence."""

    def __init__(self, status: str | None, sentence: str):
        super().__init__(sentence)
        self.status = status


def counted(number: int, noun: str) -> str:
    """Returns the number with its noun, such as "1 step" or "3 steps"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Case:
    """The part of a case's configuration that the readers of an output use."""

    def __init__(self, configuration: dict):
        said = configuration.get
        self.configuration = configuration
        self.ranks, self.batch = configuration["ranks"], configuration["batch_size"]
        self.warmup, self.steps = configuration["warmup_steps"], configuration["steps"]
        self.per_line = said("steps_per_line", 1)
        self.command, self.reader = said("command", ""), said("reader", "")
        self.regex = said("step_regex", "")
        self.unit, self.scope = said("step_unit") or "s", said("rate_scope") or "global"
        self.tokens = said("tokens_per_sample") or said("sequence_length") or 0  # of a sample; 0: not known
        self.ranks_on_a_node = (said("ranks_per_host") or [self.ranks])[0]
        self.starts_its_ranks = said("launcher") == "command"

    def lines(self, steps: int) -> int:
        """Returns the number of lines that `steps` steps print."""
        return -(-steps // self.per_line)


@dataclass(frozen=True)
class TimedLine:
    """A line that states the duration of its steps.  The digits of the number allow `low_ns` to `high_ns`."""

    arrived_ns: int
    stated_ns: float
    low_ns: float
    high_ns: float


@dataclass
class Series:
    """The steps of one rank, in order."""

    step_ns: list = field(default_factory=list)
    lines: list = field(default_factory=list)  # a TimedLine for each step; empty where arrivals are the times
    phase_ns: dict = field(default_factory=dict)
    progress: list = field(default_factory=list)  # pairs (arrival time of a line, number of steps
                                                  # done by then)
    warmup: int = 0  # number of lines before the measured steps
    indexed: bool = False  # whether all lines belong to measured steps
    in_ns: bool = False  # the lines are events with step_ns, not step_s
    last_match_ns: int | None = None
    window_ns: int | None = None  # wall time of the measured steps as the program states it
    told: dict = field(default_factory=dict)  # further keys of the rank in a record, as the program stated them


class Steps:
    """The series of all ranks whose steps one output contains. Lines that name no rank belong to
    `own_rank`."""

    def __init__(self, case: Case, own_rank: int):
        self.case, self.own_rank = case, own_rank
        self.series = {}
        self.done = 0  # steps, warm-up included

    def of(self, number: int | None = None) -> Series:
        number = self.own_rank if number is None else number
        if not 0 <= number < self.case.ranks:
            raise Failure(
                "wrong-count",
                f"a line of rank {number}, and the case has {counted(self.case.ranks, 'rank')}; say how many with --ranks",
            )
        return self.series.setdefault(number, Series())

    def add(self, series: Series, stated_ns: tuple, now_ns: int, text: str) -> None:
        """Adds a line that states a step duration, `stated_ns`: the value, and the bounds that its digits allow."""
        value = stated_ns[0]
        if not 0 < value < _LONGEST_STEP_NS:
            raise Failure("bad-output", f"a step of {value / NS:g} s, which is no duration: '{shown(text)}'")
        series.lines.append(TimedLine(now_ns, *(self.case.per_line * one for one in stated_ns)))
        self.add_step(series, int(value + 0.5))

    def add_step(self, series: Series, step_ns: int) -> None:
        series.step_ns.append(max(1, step_ns))
        self.done = max(self.done, len(series.step_ns) * self.case.per_line)

    def samples(self) -> list:
        """Returns the measured steps of each rank that printed steps, in the form of records."""
        return [self._samples(number, one) for number, one in sorted(self.series.items()) if one.step_ns]

    def _samples(self, number: int, series: Series) -> dict:
        self._check_count(number, series)
        window = slice(series.warmup, series.warmup + self.case.lines(self.case.steps))
        step_ns = series.step_ns[window]
        phases = {name: all_ns for name, all_ns in series.phase_ns.items() if len(all_ns) == len(series.step_ns)}
        return rank(
            step_ns,
            rank=number,
            device=self.case.configuration["device"],
            phase_ns={name: all_ns[window] for name, all_ns in phases.items()},
            window_ns=self._window_ns(step_ns, series.window_ns),
            **series.told,
        )

    def _window_ns(self, step_ns: list, said: int | None) -> int:
        """Returns the time of the window, which may be longer than the sum of its steps."""
        if said is None:
            return sum(step_ns)
        said //= self.case.per_line
        if said <= 0 or said < _LEAST_WINDOW * sum(step_ns):
            raise Failure(
                "bad-output",
                f"a window_ns of {said}, but its {counted(len(step_ns), 'step')} took {sum(step_ns)} ns",
            )
        return said

    def _check_count(self, number: int, series: Series) -> None:
        lines, came = series.warmup + self.case.lines(self.case.steps), len(series.step_ns)
        if came < lines:
            of_rank = f" of rank {number}" if len(self.series) > 1 else ""
            advice = f"; {self._advice_on_count(came)}" if self.case.command else ""
            raise Failure(
                "wrong-count",
                f"{came * self.case.per_line} of {lines * self.case.per_line} steps came{of_rank}{advice}",
            )

    def _advice_on_count(self, lines: int) -> str:
        wanted = self.case.warmup + self.case.steps
        steps = (wanted + lines // 2) // lines
        several = self.case.per_line == 1 and steps > 1
        told = "" if "{total}" in self.case.command else ", which {total} in the command hands over"
        return (
            f"where a line stands for several steps, say how many, as --steps-per-line {steps}; " if several else ""
        ) + f"the program has to run {wanted} steps{told}; --warmup and --steps ask for fewer"

    def remarks(self) -> list:
        """Returns warnings about lines that report several steps at once, and about steps after the
        measured ones."""
        found = []
        if self.case.per_line > 1:
            found.append(
                warning(
                    "steps-per-line",
                    f"a line stands for {self.case.per_line} steps",
                    "percentiles and intervals are of the means of so many steps, which differ less than steps do",
                    "write a line for every step where single steps matter",
                )
            )
        most = max((len(one.step_ns) - one.warmup for one in self.series.values()), default=0) * self.case.per_line
        steps = self.case.lines(self.case.steps) * self.case.per_line
        if most > steps:
            found.append(
                warning(
                    "steps-unused",
                    f"{counted(most - steps, 'step')} came after the {steps} measured ones",
                    "they are not in the figures",
                    f"--steps {most} takes all of them",
                )
            )
        return found
