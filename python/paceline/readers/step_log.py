# SPDX-License-Identifier: Apache-2.0
"""What the logs of several trainers have in common: one line every few steps, with a mean step time
or a rate.

Each line is one value of the record's step times: the mean over the steps since the line before.
"""

from collections import defaultdict
from dataclasses import dataclass

from .checks import Figure, Invalid, shown
from .record import WRONG_VALUES, rank, run_record, warning

NOT_FINITE = ("nan", "inf", "-inf")  # losses, in small letters


@dataclass
class Steps:
    """One line of a log: the number of its last step, and the mean duration of the steps since the
    line before."""

    number: int  # number of the line's last step
    seconds: float  # mean time of one step
    examples: int | None  # examples of one step on all ranks; None: the log does not state it
    loss: Figure | None
    line: object
    half: float  # half a unit of the last printed digit, in seconds per step


def steps_of_first_rank(source, make) -> tuple:
    """Returns the Lines and the steps of the first rank that prints steps; `make` makes a Lines.  If tags name the
    ranks, several ranks may print the same steps, because all wait for each other."""
    taken, steps = defaultdict(make), {}
    for line in source.lines:
        step = taken[line.rank].take(line)
        if step:
            steps.setdefault(line.rank, []).append(step)
    if not steps:
        return make(), []
    first, *others = steps
    for rank in others:
        numbers, other = ([one.number for one in steps[key]] for key in (first, rank))
        if numbers != other:
            raise Invalid(
                steps[rank][0].line,
                f"rank {rank} has {len(other)} lines of steps up to {other[-1]}, and rank {first} has {len(numbers)} up "
                f"to {numbers[-1]}: two runs are read from two files",
            )
        taken[first].warnings += taken[rank].warnings[: not taken[first].warnings]
    if others:
        source.note(source, f"{len(steps)} ranks print the same steps; those of rank {first} are taken")
    return taken[first], steps[first]


def check_numbers(lines: list, what: str = "step") -> int:
    """Returns the number of steps between two lines.  It must be equal for all lines, but may be smaller before the
    second line and before the last one.  With fewer than two lines it is 1."""
    distances = [b.number - a.number for a, b in zip(lines, lines[1:])]
    for (a, b), distance in zip(zip(lines, lines[1:]), distances):
        if distance <= 0:
            raise Invalid(
                b.line,
                f"{what} {b.number} follows {what} {a.number} of line {a.line.number}: two runs "
                "in one file are read from two files, and two ranks where each line has its rank",
            )
    usual = distances[1] if len(distances) > 2 else distances[0] if distances else 1
    for k, distance in enumerate(distances):
        inner = 0 < k < len(distances) - 1
        if distance > usual or (inner and distance != usual):
            raise Invalid(
                lines[k + 1].line,
                f"the line before is of {what} {lines[k].number}, this one of {what} "
                f"{lines[k + 1].number}, and the others are {usual} apart: a line is missing",
            )
    return usual


def last_loss(lines: list) -> dict:
    """Returns the parts of the record that state the loss; nothing if the log has none."""
    said = [one.loss for one in lines if one.loss is not None]
    return {"training": {"last_loss": said[-1].value}} if said else {}


def wrong_loss(text: str, line) -> dict:
    """Returns the warning that a loss is not finite."""
    return warning(
        WRONG_VALUES,
        f"line {line.number}: the loss is {shown(text, 20)}",
        "the program found it itself; steps after it train nothing",
        "do not compare the times of a training that has diverged",
    )


def record_of(lines: list, configuration: dict, *, experiment: str, formula: str, **parts):
    """Returns the record of a training whose log has these lines."""
    step_ns = [round(one.seconds * 1e9) for one in lines]
    if min(step_ns) < 1:
        raise Invalid(lines[step_ns.index(min(step_ns))].line, "a step of less than 1 ns")
    examples = [one.examples for one in lines]
    said = {} if None in examples else {"examples_of_step": examples}
    adapter = {"formula": formula, **parts.pop("adapter", {})}
    return run_record(
        {"label": experiment, "steps": len(lines), **configuration},
        [rank(step_ns, **said)],
        experiment=experiment,
        adapter=adapter,
        **last_loss(lines),
        **parts,
    )
