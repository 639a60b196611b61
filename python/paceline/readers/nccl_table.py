# SPDX-License-Identifier: Apache-2.0
"""The records of one table in the text of nccl-tests, checked.

The bandwidths are checked against size, time and the number of ranks that the log lists.
-C 1 prints the CPU's time to issue an operation beside the bandwidths of its whole time, which
only their digits hold; the record says that its clock is the CPU's and has no bandwidth.
"""

import re

from .checks import Invalid, check_count, count, figure, shown
from .collective import (
    check_columns,
    check_rates,
    check_row,
    operation_of,
    reduction_of,
    row_record,
)
from .collective_ranks import ranks_of
from .nccl_text import Table, program_in
from .nccl_verdicts import bandwidth_warnings, bounds_warnings

_LAUNCHED = re.compile(
    r"\b(?:mpirun|mpiexec|orterun|prterun|srun)\b(?:.*?)\s(?:-np|-n|--np|--ntasks)[ =](\d+)\s"
)


def records_of(table: Table, named: set):
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
    amd = any(re.search(r"\bAMD\b|Instinct|gfx\d", one[5]) for one in table.devices)
    shared = {
        "operation": operation,
        "ranks": ranks,
        "ranks_per_host": per_host,
        "engine": "rccl" if amd else "nccl",
        "warmup": settings.get("warmup iters"),
        "mean_of": _mean_of(settings),
        "clock": "cpu" if table.columns.cpu_time else None,
    }
    rows, seen = [], {}
    for fields, line in table.rows:
        if tuple(fields) in seen:
            raise Invalid(
                line, f"this row is that of line {seen[tuple(fields)].number} again"
            )
        seen[tuple(fields)] = line
        rows.append(_row(table, fields, line, program, shared))
    warnings += _verdicts(table, rows)
    for size, out, into, row in rows:
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
    """The ranks that the command line and the settings make are those that are listed."""
    if not settings:
        return
    listed, own = len(table.devices), settings["nThread"] * settings["nGpus"]
    if listed % own != 0:
        raise Invalid(
            table.devices[-1][4],
            f"the log says {own} ranks a process, and it lists {listed}, no multiple of that",
        )
    command = table.command and re.split(
        r"_perf(?:_mpi)?\b", table.command.text, maxsplit=1
    )
    if command and len(command) == 2:
        launched = _LAUNCHED.search(command[0])
        if launched:
            processes = count(launched[1], table.command, "the number of processes")
            check_count(
                processes * own,
                listed,
                "ranks",
                table.command,
                "; was the program built without MPI?",
            )
        gpus = re.search(r"\s-g[ =]?(\d+)(?!\S)", command[1])
        if gpus:
            check_count(
                int(gpus[1]), settings["nGpus"], "GPUs a thread (-g)", table.command
            )


def _mean_of(settings: dict):
    iterations = settings.get("iters")
    return iterations and iterations * settings.get("agg iters", 1) * max(
        1, settings.get("graph", 0)
    )


def _row(table: Table, fields: list, line, program: str, shared: dict) -> tuple:
    """(size, out-of-place figures, in-place figures, the row's own keys), checked."""
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
    wrong = cells.get("#wrong", "N/A")
    if wrong != "N/A" and (table.settings or {}).get("validation") == 0:
        raise Invalid(line, f"the log says validation: 0, and #wrong {shown(wrong)}")
    return {
        "time": time,
        "wrong": (
            None if wrong == "N/A" else figure(wrong, line, "#wrong", least=0).times(1)
        ),
    }


def _verdicts(table: Table, rows: list) -> list:
    """The warnings of the table's footer."""
    found = []
    if "Out of bounds values" in table.footers:
        text, verdict, line = table.footers["Out of bounds values"]
        values = count(text, line, "out of bounds values")
        places = [one for _, out, into, _ in rows for one in (out, into)]
        found += bounds_warnings(values, verdict, places, line)
    _, verdict, line = table.footers.get("Avg bus bandwidth", (None, None, None))
    return found + bandwidth_warnings(verdict, line and f"line {line.number}")
