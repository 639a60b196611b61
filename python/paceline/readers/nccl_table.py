# SPDX-License-Identifier: Apache-2.0
"""Makes records of one table in the text output of nccl-tests, and checks them.

The bandwidths are checked against size, time and the number of ranks that the log lists.
-C 1 prints the CPU's time to issue an operation beside the bandwidths of its whole time, which
only their digits hold; the record says that its clock is the CPU's and has no bandwidth.
"""

import re

from .checks import Invalid, check_count, count, figure, shown
from .collective import (
    check_columns,
    check_options,
    check_rates,
    check_row,
    engine_of,
    operation_of,
    reduction_of,
)
from .collective_ranks import hosts_of, ranks_of
from .collective_rows import check_repeats, merge_repeated_rows, row_record
from .nccl_text import Table, program_in
from .nccl_verdicts import bandwidth_warnings, bounds_warnings, average_mismatch_note

# If one launcher starts another, the inner one starts the program's processes.
_LAUNCHED = re.compile(
    r".*\b(?:mpirun|mpiexec|orterun|prterun|srun)\b.*?\s(?:-np?|--np|--ntasks)[ =]?(\d+)\s"
)
_OPTIONS = {"t": "nThread", "g": "nGpus", "n": "iters", "m": "agg iters", "w": "warmup iters", "c": "validation"}
_ERROR = re.compile(r"(\d+\.?\d*(?:e[+-]\d+)?|N/A|-?nan|inf)(\*?)", re.I)


def records_of(table: Table, named: set, note):
    """Returns the records of the table. `note(line, sentence)` is called with remarks that do not
    make the records less valid."""
    program = program_of(table, named)
    operation = operation_of(
        program, table.program_line or table.command or table.first
    )
    if not table.columns or not table.devices:
        raise Invalid(table.first, "the lines '#  Rank' are missing, so that nobody knows who took part"
                      if not table.devices else "the line with the columns' names is missing")  # fmt: skip
    ranks, per_host, warnings = ranks_of(
        [one[:5] for one in table.devices], table.first
    )
    settings = table.settings or {}
    _check_launch(table, settings)
    shared = {
        "operation": operation,
        "ranks": ranks,
        "ranks_per_host": per_host,
        "engine": engine_of(one[5] for one in table.devices),
        "warmup": settings.get("warmup iters"),
        "mean_of": _mean_of(settings),
        "clock": "cpu" if table.columns.cpu_time else None,
        "hosts": hosts_of((one[2], one[5].strip()) for one in table.devices),
    }
    width = len(table.columns.head)
    check_repeats([(tuple(fields[:width]), tuple(fields), line) for fields, line in table.rows])
    rows = [_row(table, fields, line, program, shared) for fields, line in table.rows]
    warnings += _verdicts(table, rows, note)
    for size, out, into, row in merge_repeated_rows(rows):
        yield row_record(shared, warnings, size, out, into, **row)


def program_of(table: Table, named: set) -> str:
    commands = program_in(table.command) if table.command else named
    if table.program:
        return table.program
    if len(commands) != 1:
        what = (
            f"names several ({', '.join(sorted(commands))})"
            if commands
            else "does not say"
        )
        raise Invalid(table.command or table.first, f"the log {what}: which program of nccl-tests wrote this table; "
                      "put its command line above")  # fmt: skip
    return next(iter(commands))


def _check_launch(table: Table, settings: dict) -> None:
    """Checks that the listed ranks are those that the command line and the settings start."""
    if not settings:
        return
    listed, own = len(table.devices), settings["nThread"] * settings["nGpus"]
    if listed % own != 0:
        raise Invalid(
            table.devices[-1][4],
            f"the log says {own} ranks a process, and it lists {listed}, no multiple of that",
        )
    if len(table.commands) != 1:  # With several commands it is not known which one ran.
        return
    command = re.split(r"_perf(?:_mpi)?(?:\.exe)?\b", table.command.text, maxsplit=1)
    launched = _LAUNCHED.search(command[0])
    if launched and " : " not in table.command.text:  # Command lines with " : " start several
                                                      # programs at once.
        processes = count(launched[1], table.command, "the number of processes")
        check_count(processes * own, listed, "ranks", table.command, "; was the program built without MPI?")
    said = {letter: settings.get(name) for letter, name in _OPTIONS.items()}
    check_options(re.split(r"[|;&>#`]", command[-1])[0], said, table.command, " in its settings")


def _mean_of(settings: dict):
    iterations = settings.get("iters")
    return iterations and iterations * settings.get("agg iters", 1) * max(
        1, settings.get("graph", 0)
    )


def _row(table: Table, fields: list, line, program: str, shared: dict) -> tuple:
    """Returns (size, out-of-place figures, in-place figures, the row's own keys), checked against
    each other."""
    head, out, into = table.columns.cells(fields)
    size = count(head["size"], line, "size")
    elements = count(head["count"], line, "count")
    op, root = head.get("redop"), head.get("root")
    root = None if root is None else -1 if root == "-1" else count(root, line, "root")
    check_columns(program, op, root, line)
    check_row(shared["operation"], shared["ranks"], size, elements, head["type"], line)
    out, into = (_place(table, one, size, line, shared) for one in (out, into))
    row = {
        "dtype": head["type"],
        "op": reduction_of(program, op),
        "root": None if root == -1 else root,
    }
    return size, out, into, row


def _place(table: Table, cells: dict, size: int, line, shared: dict) -> dict:
    if cells is None:
        return None
    name = table.columns.place[0]
    time, algorithm, bus = (
        figure(cells[key], line, key, least=0) for key in (name, "algbw", "busbw")
    )
    if time.exact == 0:
        raise Invalid(line, f"{size} bytes: a time of {time.text} us")
    check_rates(
        shared["operation"],
        shared["ranks"],
        size,
        time,
        algorithm,
        bus,
        cpu_time=name == "cputime",
    )
    if cells.get("hipevt", "N/A") != "N/A":
        figure(cells["hipevt"], line, "hipevt", least=0)
    return {"time": time, "bus": bus, **_correctness(table, cells, line)}


def _correctness(table: Table, cells: dict, line) -> dict:
    """Returns the wrong elements of one place.  In a column `error`, rccl-tests marks values that are too large."""
    if "error" in cells:
        error = _ERROR.fullmatch(cells["error"])
        if not error:
            raise Invalid(line, f"error: '{shown(cells['error'])}' is not a relative difference")
        return {"wrong": None, "marked": bool(error[2])}
    wrong = cells["#wrong"]
    if wrong == "N/A":
        return {"wrong": None}
    if (table.settings or {}).get("validation") == 0:
        raise Invalid(line, f"the log says validation: 0, and #wrong {shown(wrong)}")
    return {"wrong": figure(wrong, line, "#wrong", least=0).times(1)}


def _verdicts(table: Table, rows: list, note) -> list:
    """Returns the warnings that follow from the table's footer."""
    found = []
    places = [one for _, out, into, _ in rows for one in (out, into) if one]
    if "Out of bounds values" in table.footers:
        text, verdict, line = table.footers["Out of bounds values"]
        values = count(text, line, "out of bounds values")
        found += bounds_warnings(values, verdict, places, line)
    text, verdict, line = table.footers.get("Avg bus bandwidth", (None, None, None))
    if line and (sentence := average_mismatch_note(text, places)):
        note(line, sentence)
    return found + bandwidth_warnings(verdict, line and f"line {line.number}")
