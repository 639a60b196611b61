# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.live [NAME]: the steps in the output of a program that runs.

`paceline run --command` starts it and hands it each line of the output; each line is answered at once by
one line: nothing, or an object of JSON.

    {"reader": "megatron", "step_ns": 1.2e9, "low_ns": .., "high_ns": .., "steps": 10, "examples": 512, "whole": false}
    {"status": "not-finite", "failure": "a sentence"}

`step_ns` is a step's time, between `low_ns` and `high_ns` as far as its digits tell; `steps` are the steps
that the line stands for, `examples` those of a step of all ranks, null where the output does not say it;
`whole`: there is no other line with a time.  Without NAME the reader is the one that first finds a step.
"""

import json
import sys

from . import hf_trainer, megatron, torchtitan
from .checks import Invalid
from .lines import Line
from .transports import without_colours, without_tags

_MODULES = {one.NAME: one for one in (megatron, torchtitan, hf_trainer)}
READERS = {name: one.Lines for name, one in _MODULES.items()}
_OUTPUT = "output"


class Failure(Exception):
    def __init__(self, status: str, sentence: str):
        super().__init__(sentence)
        self.status = status


class Live:
    """The lines of one output, of one rank or of several."""

    def __init__(self, name: str = None):
        self._names = [name] if name else list(READERS)
        self._ranks = {}  # rank: {name: Lines}
        self._before = {}  # rank: the step of the line before
        self._number = 0

    def answer(self, raw: str):
        """What the line holds, as the object above; None: nothing."""
        self._number += 1
        text, rank = without_tags(without_colours(raw.rstrip("\r\n")))
        line = Line(_OUTPUT, self._number, text, rank)
        try:
            found = self._found(line, rank)
            return found and self._step(*found, rank)
        except Failure as failure:
            return {"status": failure.status, "failure": str(failure)}
        except Invalid as error:
            return {"status": "bad-output", "failure": str(error)}

    def _found(self, line: Line, rank):
        """(name, Lines, step) where one reader finds a step; the others are not asked again."""
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
                    "contradiction",
                    f"{step.line.place}: step {step.number} follows step {before.number} of line "
                    f"{before.line.number}; let one rank write its steps, or name the rank in each line",
                )
        if before and not lines.whole:
            lines.time(before, step)
        if step.seconds <= 0:
            return None  # torchtitan's first line, which holds the start of the program
        return {
            "reader": name,
            "step_ns": step.seconds * 1e9,
            "low_ns": (step.seconds - step.half) * 1e9,
            "high_ns": (step.seconds + step.half) * 1e9,
            "steps": steps,
            "examples": step.examples,
            "whole": lines.whole,
        }


def main(arguments: list) -> int:
    if len(arguments) > 1 or (arguments and arguments[0] not in READERS):
        print(f"'{' '.join(arguments)}' is not a reader; known are {', '.join(READERS)}", file=sys.stderr)
        return 2
    live = Live(*arguments)
    for raw in sys.stdin.buffer:
        answer = live.answer(raw.decode("utf-8", errors="replace"))
        print(json.dumps(answer, allow_nan=False) if answer else "", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
