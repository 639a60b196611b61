# SPDX-License-Identifier: Apache-2.0
"""Finds steps in the output of a running program whose lines a reader of logs understands, such as
Megatron-LM."""

from . import hf_trainer, megatron, torchtitan
from .checks import Invalid
from .lines import Line
from .live_series import CONTRADICTION, NS, Case, Failure, Steps, counted
from .transports import LauncherLine, without_colours, without_tags

_MODULES = {one.NAME: one for one in (megatron, torchtitan, hf_trainer)}
READERS = {name: one.Lines for name, one in _MODULES.items()}
_OUTPUT = "output"


class Trainers:
    """Reads lines with one of READERS: the one called `name` or, if that is empty, the first one that finds a step."""

    def __init__(self, name: str = ""):
        self._names = [name] if name else list(READERS)
        self._ranks = {}  # rank: {name: Lines}
        self._before = {}  # rank: the step of the line before
        self._number = 0
        self.found = False  # whether a line was one of a step

    @property
    def adapter(self) -> dict:
        """Returns the facts about the program for the record."""
        return {"reader": self._names[0]} if self.found else {}

    def take(self, line: LauncherLine, now_ns: int, steps: Steps) -> None:
        said = self.read(line.whole)
        if said is None:
            return
        self.found = True
        case, series = steps.case, steps.of(line.certain_rank)
        series.warmup = case.lines(case.warmup)
        came = len(series.step_ns)
        _check_step(case, said, came > 0 or said["whole"], came < series.warmup + case.lines(case.steps))
        steps.add(series, said["step_ns"], now_ns, line.whole)

    def read(self, raw: str) -> dict | None:
        """Returns what the line states: `step_ns`, the time of a step and the bounds that its
        digits allow; `steps`, the number of steps that the line reports; `examples`, those of one
        step of all ranks, None if the output does not state them; `whole`: whether this is the only
        line with a time. Returns None for a line of no step."""
        self._number += 1
        text, rank = without_tags(without_colours(raw))
        line = Line(_OUTPUT, self._number, text, rank)
        try:
            found = self._reader_with_step(line, rank)
            return found and self._step(*found, rank)
        except Invalid as error:
            raise Failure("bad-output", str(error)) from None

    def _reader_with_step(self, line: Line, rank):
        """Returns (name, Lines, step) of the reader that finds a step in the line, after which only
        that reader is used; None if no reader finds one."""
        found = []
        for name in self._names:
            lines = self._ranks.setdefault(rank, {}).setdefault(name, READERS[name]())
            try:
                step = lines.take(line)
            except Invalid:
                if len(self._names) == 1 or _MODULES[name].recognizes(line):
                    raise
                continue  # of a program whose lines this reader has not found yet
            if step:
                found.append((name, lines, step))
        if len(found) > 1:
            names = " and of ".join(name for name, _, _ in found)
            raise Failure("bad-output", f"{line.place}: may be of {names}; --reader names one")
        if not found:
            return None
        self._names = [found[0][0]]
        return found[0]

    def _step(self, name: str, lines, step, rank):
        if lines.warnings:
            raise Failure("not-finite", f"{_OUTPUT}: {lines.warnings[0]['seen']}")
        before, self._before[rank] = self._before.get(rank), step
        steps = step.number if lines.whole else None
        if before:
            steps = step.number - before.number
            if steps <= 0:
                raise Failure(
                    CONTRADICTION,
                    f"{step.line.place}: step {step.number} follows step {before.number} of line "
                    f"{before.line.number}; let one rank write its steps, or name the rank in each line",
                )
        if before and not lines.whole:
            lines.time(before, step)
        if step.seconds <= 0:
            return None  # torchtitan's first line, which holds the start of the program
        bounds = (step.seconds, step.seconds - step.half, step.seconds + step.half)
        return {
            "reader": name,
            "step_ns": tuple(one * NS for one in bounds),
            "steps": steps,
            "examples": step.examples,
            "whole": lines.whole,
        }


def _check_step(case: Case, said: dict, is_complete: bool, is_used: bool) -> None:
    """Compares the statements of a line about the case with the case.  The first line and the last line may cover fewer
    steps."""
    steps, examples, reader = said["steps"], said["examples"], said["reader"]
    if is_complete and steps and (steps > case.per_line or (steps < case.per_line and is_used)):
        raise Failure(
            CONTRADICTION,
            f"a line of {reader} stands for {counted(steps, 'step')}, and the case says {case.per_line}; say "
            f"--steps-per-line {steps}" + (f" --warmup 0 --steps {steps}" if said["whole"] else ""),
        )
    asked = case.batch * case.ranks
    if examples and examples != asked:
        raise Failure(
            CONTRADICTION,
            f"a step of {reader} has {counted(examples, 'sample')}, and --batch-size {case.batch} on "
            f"{counted(case.ranks, 'rank')} are {asked}",
        )
