# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.live: runs a program and reads the steps in its output.

`paceline run` starts it for each process of an adapter or of the user's own command.  Its input is one JSON object:

    configuration    of the case, as records have it
    rank             of this process
    words            the command
    environment      variables that are added to those of this process
    without          names of variables that are not handed on
    log              the path of a file that keeps all output; may be empty

Each line of its output is a JSON object:

    {"done": 3}                                      how many steps were done when output came, warm-up included
    {"failure": a sentence, "status": "not-finite"}  why there is no figure; the last line
    {"version": 1, "ranks": ...}                     at the program's end: the samples of the window as a record

`--check-regex REGEX` checks an expression alone: exit code 2, with one sentence, where it cannot be used.
"""

import json
import sys

from .live_clock import check_clock
from .live_events import Events
from .live_program import Program, says_out_of_memory
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
        # Processes that Paceline starts have known ranks. A launcher inside the user's command may
        # number its own ranks differently.
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
        """Returns the samples, and the facts that the program reported about itself; without ranks
        if no step was found."""
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
    job = json.load(sys.stdin)
    case = Case(job["configuration"])
    program = None
    try:
        program = Program(job["words"], job["environment"], job["without"], job["log"], reads_stderr=bool(case.command))
        _answer(_record(Output(case, job["rank"]), program))
    except Failure as failure:
        status = failure.status or ("out-of-memory" if says_out_of_memory(str(failure)) else "exit")
        _answer({"failure": str(failure), "status": status})
    finally:
        if program:
            program.end()
    return 0


def _record(output: Output, program: Program) -> dict:
    """Reads the program's output to its end.  Returns the record of the window."""
    for line, now_ns in program.lines():
        if line is None:
            _answer({"done": output.steps.done})
        else:
            output.take(line, now_ns)
    failed = program.failure()
    if failed:
        status, how, reason = failed
        of_steps = f"after {output.steps.done} of {output.case.warmup + output.case.steps} steps"
        raise Failure(status, f"{how} {of_steps}{reason and ': '}{reason}")
    return output.record()


def _answer(said: dict) -> None:
    """Writes a line of JSON. Invalid Unicode, such as half of a surrogate pair in an event, becomes a question mark."""
    text = json.dumps(said, separators=(",", ":"), ensure_ascii=False, allow_nan=False) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", errors="replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
