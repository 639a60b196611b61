# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.live: the steps in the output of a program that runs.

`paceline run` starts it beside each process of an adapter or of the user's own command.  The first line of its
input is {"configuration": the case as records have it, "rank": of this process}.  Each further line is one of the
program's output behind the nanoseconds from the program's start to the line's arrival, and `end` alone after the last
one.  Each line is answered at once by one line of JSON:

    {"done": 3}                                      steps that were done, warm-up included
    {"failure": a sentence, "status": "not-finite"}  why there is no figure; the last answer
    {"version": 1, "ranks": ...}                     to `end`: the samples of the window as a record

`--check-regex REGEX` checks an expression alone: exit code 2, with one sentence, where it cannot be used.
"""

import json
import sys

from .live_clock import check_clock
from .live_events import Events
from .live_regex import RegexMatcher, compiled
from .live_series import Case, Failure, Steps
from .live_trainers import Trainers
from .record import run_record
from .transports import launcher_line


class Output:
    """The output of one process.  It is read by --step-regex, else as JSON lines, and for a command also by the readers
    of trainers: the first step decides which of these applies."""

    def __init__(self, case: Case, rank: int):
        self.case, self.steps = case, Steps(case, rank)
        self.events = Events(self.steps)
        self.matches = RegexMatcher(self.steps) if case.regex else None
        self.trainers = Trainers(case.reader) if case.command and not case.regex else None

    def take(self, text: str, now_ns: int) -> None:
        """Processes one line, which came at `now_ns` after the start of the program."""
        # The rank of a process that Paceline started is known; launchers inside the command number
        # their ranks anew.
        line = launcher_line(text, self.case.starts_its_ranks)
        if self.matches:
            self.matches.take(line, now_ns)
            return
        found = self.trainers and self.trainers.found
        if not found and not self.case.reader:
            self.events.take(line, now_ns)
        if self.trainers and (found or not (self.steps.series or self.events.introduced)):
            self.trainers.take(line, now_ns, self.steps)

    def record(self) -> dict:
        """Returns the samples and the facts that the program reported about itself; without ranks if no step came."""
        if self.events.introduced and not self.events.ended and self.steps.done > 0:
            raise Failure(
                "exit",
                f"ended without the event 'end' after {self.steps.done} of {self.case.warmup + self.case.steps} steps "
                "(docs/adapters.md)",
            )
        ranks = self.steps.samples()
        wire = {"wire": self.events.wire} if self.events.wire else {}
        return run_record(
            self.case.configuration,
            ranks,
            experiment="",
            source="external",
            adapter={**self.events.adapter, **(self.trainers.adapter if self.trainers else {})},
            warnings=self._warnings() if ranks else [],
            **wire,
        )

    def _warnings(self) -> list:
        timed = [one for _, one in sorted(self.steps.series.items()) if one.lines]
        by_clock = [check_clock(self.case, one, self.events.introduced and one.indexed) for one in timed]
        first = [one for one in by_clock if one][:1]
        return first + (self.matches.remarks() if self.matches else []) + self.steps.remarks()


def main(arguments: list) -> int:
    if arguments[:1] == ["--check-regex"] and len(arguments) == 2:
        try:
            compiled(arguments[1])
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        return 0
    lines = sys.stdin.buffer
    head = json.loads(lines.readline())
    try:
        output = Output(Case(head["configuration"]), head["rank"])
        _answer({"done": 0})
        for raw in lines:
            if raw == b"end\n":
                _answer(output.record())
                return 0
            now_ns, _, text = raw.decode("utf-8", errors="replace").rstrip("\n").partition(" ")
            output.take(text, int(now_ns))
            _answer({"done": output.steps.done})
    except Failure as failure:
        _answer({"failure": str(failure), "status": failure.status})
    return 0


def _answer(said: dict) -> None:
    """Writes a line of JSON. Invalid Unicode, such as half of a surrogate pair in an event, becomes a question mark."""
    text = json.dumps(said, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
