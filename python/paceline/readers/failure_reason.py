# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.failure_reason LOG: prints why the program whose output is in LOG
failed.

The reason is the exception that ended the program, else its last line.  In a job of torchrun, the reason is that of
the rank that failed first, or torchrun's summary if that rank wrote nothing.  Lines that torchrun, mpirun and srun add
to every failure are ignored.  The reason is empty if no other line is left.
"""

import re
import sys
from dataclasses import dataclass

from .transports import launcher_line

_TRACEBACK = "Traceback (most recent call last):"
# If more lines than this follow an exception, the exception was caught and the program went on.
_MOST_AFTER_EXCEPTION = 12
_LONGEST_SUMMARY = 2000

# Lines that launchers or their libraries write themselves, such as "E1128 22:59:43.320000 16572
# torch/distributed/elastic/..." of torchrun.
_OF_LAUNCHER = re.compile(
    r" *([WEIF]\d{4} \d\d:\d\d:\d\d\.\d+ .*torch/distributed/|"
    r"(srun|slurmstepd)\b.*(error:|exited|Force Terminated|CANCELLED|signal)|"
    r"(mpirun|mpiexec|prterun)\b|Primary job |a non-zero exit code\.|Process name:|"
    r"Exit code:|Setting OMP_NUM_THREADS|\{\"event\").*"
)
# The exceptions by which a launcher reports the failure of its child.
_OF_CHILD = re.compile("ChildFailedError|CalledProcessError|SignalException")
# The line before the traceback of an exception that the preceding exception led to.
_LEADS_TO = ("During handling of the above exception", "The above exception was the direct cause")
# Torchrun's summary of the rank that failed first.
_SUMMARY = re.compile(r"\brank +: (\d+)[\s\S]*?\bexitcode +: (-?\d+)[\s\S]*?\btraceback : (.*)")
_TORCHRUN_FAILED = re.compile(r"failed \(exitcode: -?\d+\) local_rank:|ChildFailedError:$")


@dataclass(frozen=True)
class _RaisedException:
    """The exception at the end of a traceback."""

    line: int
    text: str
    rank: int | None


def failure_reason(output: str) -> str:
    """Returns the reason, found by the rules above, from the whole output of the program."""
    lines = _lines(output)
    begin = output.find("Root Cause (first observed failure):")
    cause = _SUMMARY.search(output[begin : begin + _LONGEST_SUMMARY]) if begin >= 0 else None
    exception = _exception(lines, int(cause[1]) if cause else None)
    if exception is not None:
        return exception
    words = _last_program_line(lines)
    if cause and cause[3].startswith("Signal"):
        return f"rank {cause[1]}: {cause[3]}"
    return words if words or not cause else f"rank {cause[1]}: exit code {cause[2]}"


def _lines(output: str) -> list:
    """Returns (text, rank) of each line, without the prefix that names its rank."""
    lines = [launcher_line(line, True) for line in output.split("\n")]
    labelled = any(one.rank is not None and not one.certain and one.text.startswith(_TRACEBACK) for one in lines)
    # The prefix "3: " counts as a rank only if the log has such a line; otherwise it may be the
    # program's own text.
    return [(one.text, one.rank) if labelled or one.certain else (one.whole, None) for one in lines]


def _has_no_text(line: str) -> bool:
    """Whether a line has no letters or digits, such as "=====" and blanks."""
    return not any(c.isalnum() for c in line)


def _exception_of_traceback(lines: list, begin: int):
    """Returns the exception of the traceback that begins at line `begin`. Lines of other ranks in
    between are skipped."""
    first, rank = lines[begin]
    indent = len(first) - len(first.lstrip(" "))
    for i, (text, writer) in enumerate(lines[begin + 1 :], begin + 1):
        outer = len(text) - len(text.lstrip(" ")) <= indent
        if writer == rank and outer and not _has_no_text(text) and not _OF_LAUNCHER.fullmatch(text):
            return _RaisedException(i, text.strip(), rank)
    return None


def _root_exceptions(lines: list) -> list:
    """Returns the program's exceptions in order, without those that caused another exception."""
    found, replaces = [], False
    for i, (text, _) in enumerate(lines):
        if text.strip().startswith(_LEADS_TO):
            replaces = True
        elif _TRACEBACK in text:
            one = _exception_of_traceback(lines, i)
            if one and not _OF_CHILD.search(one.text):
                found[len(found) - replaces :] = [one]
            replaces = False
    return found


def _exception(lines: list, cause: int | None):
    """Returns the exception of rank `cause`, which torchrun reports as the first one to fail; if
    `cause` is None, the exception that ended the program; None if there is none."""
    raised = _root_exceptions(lines)
    if not raised:
        return None
    if cause is not None:
        return next((one.text for one in raised if one.rank == cause), raised[0].text)
    last = raised[-1]
    if raised[0].rank != last.rank:
        return raised[0].text
    after = sum(not _has_no_text(text) for text, _ in lines[last.line + 1 :])
    return last.text if after <= _MOST_AFTER_EXCEPTION else None


def _last_program_line(lines: list) -> str:
    """Returns the program's own last line before torchrun's report of the failure; empty if there
    is none."""
    last = ""
    for text, _ in lines:
        text = text.strip()
        if _TORCHRUN_FAILED.search(text):
            break
        if not _has_no_text(text) and not _OF_LAUNCHER.fullmatch(text):
            last = text
    return last


def main(arguments: list) -> int:
    with open(arguments[0], encoding="utf-8", errors="replace") as file:
        reason = failure_reason(file.read())
    sys.stdout.buffer.write(reason.encode("utf-8", errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
