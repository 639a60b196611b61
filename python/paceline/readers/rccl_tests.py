# SPDX-License-Identifier: Apache-2.0
"""What rccl-tests -Z json|csv -x FILE writes (class Reporter in src/common.cu): an object or a line for each
place, out of place before in place.

`ranks` are processes, of which each has `gpusPerRank` GPUs; `ranksPerNode` are the processes of one
communicator and `nodes` the number of communicators (NCCL_TESTS_SPLIT), whatever hosts there are: the file
does not say the hosts, the root, nor the iterations.  The header of a CSV by MPI lacks the column of nodes.
"""

import json
from dataclasses import dataclass

from .checks import Invalid, check_count, count, one_of
from .collective import ELEMENT_BYTES, check_columns, check_rates, operation_of, reduction_of
from .collective_ranks import other_groups
from .collective_rows import is_repetition, merge_repeated_rows, row_record
from .json_text import member, number
from .lines import Line
from .rccl_rows import runs_of_csv, runs_of_json

NAME = "rccl-tests"
_PROGRAMS = {
    "AllReduce": "all_reduce_perf",
    "ReduceScatter": "reduce_scatter_perf",
    "AllGather": "all_gather_perf",
    "Broadcast": "broadcast_perf",
    "SendRecv": "sendrecv_perf",
}


def recognizes(source) -> bool:
    text = source.text
    first = text.lstrip()[:400].replace(" ", "").replace("\n", "")
    if first[:1] in ("[", "{"):
        return '"busBw":' in text and '"inPlace":' in text
    return first.startswith(("collective,", "numCycle,collective,")) and "inplace,time,algbw,busbw" in first


def read(source):
    runs = runs_of_json(source) if source.text.lstrip()[:1] in ("[", "{") else runs_of_csv(source)
    seen = {}
    for rows in runs:
        if not rows:
            raise Invalid(source, "has no row of results of rccl-tests")
        same = json.dumps([row for row, _ in rows])
        if not is_repetition(seen, same, rows[0][1], "run", source.note):
            yield from _records_of_run(rows)


def _records_of_run(rows: list):
    seen = {}
    for row, line in rows:
        same = json.dumps(row)
        if same in seen:
            raise Invalid(line, f"this row is that of line {seen[same].number} again")
        seen[same] = line
    worlds = [(_world(row, line), line) for row, line in rows]
    for world, line in worlds:
        if world != worlds[0][0]:
            raise Invalid(line, f"the ranks are {world[0]} here, and {worlds[0][0][0]} before, or grouped otherwise")
    places = [_place(row, line, worlds[0][0][0]) for row, line in rows]
    yield from _records(places, worlds[0][0])


def _world(row: dict, line: Line) -> tuple:
    """Returns (ranks of a communicator, its processes, number of communicators); the number of
    processes is None without MPI."""
    if "gpus" in row:
        return _integer(row, "gpus", line, 1), None, 1
    processes, of_one, nodes, gpus = (
        _integer(row, name, line, 1) for name in ("ranks", "ranksPerNode", "nodes", "gpusPerRank")
    )
    check_count(nodes * of_one, processes, "processes (nodes x ranksPerNode)", line, " as ranks")
    return of_one * gpus, of_one, nodes


def _integer(row: dict, name: str, line: Line, least: int) -> int:
    value = member(row, name, int, line)
    return count(str(value), line, name, least=least)


@dataclass
class _Place:
    key: tuple  # values that the out-of-place and the in-place result share
    in_place: int
    program: str
    size: int
    figures: dict
    line: Line


def _place(row: dict, line: Line, ranks: int) -> _Place:
    program = one_of(row["name"], _PROGRAMS, "operation of Paceline", line)
    operation, size = operation_of(program, line), _integer(row, "size", line, 0)
    if size % one_of(row["type"], ELEMENT_BYTES, "type", line) != 0:
        raise Invalid(line, f"{size} bytes are no whole number of elements of {row['type']}")
    check_columns(program, row["redop"], None, line)
    in_place = one_of(_integer(row, "inPlace", line, 0), (0, 1), "place (inPlace)", line)
    time, algorithm, bus = (number(row[name], line, name, least=0) for name in ("time", "algBw", "busBw"))
    if time.exact == 0:
        raise Invalid(line, f"{size} bytes: a time of {time.text} us")
    size = _checked_size(operation, ranks, size, (time, algorithm, bus))
    wrong = None if row["wrong"] == "N/A" else count(row["wrong"], line, "wrong")
    key = (row.get("numCycle"), row["name"], size, row["type"], row["redop"])
    return _Place(key, in_place, program, size, {"time": time, "wrong": wrong}, line)


def _checked_size(operation: str, ranks: int, size: int, figures: tuple) -> int:
    """Returns the size in bytes with which the time and the bandwidths agree. Before 2025 the file
    had the size of the result of a reduce-scatter, not of its input."""
    sizes, faults = [size, size * ranks] if operation == "reduce-scatter" else [size], []
    for one in sizes:
        try:
            check_rates(operation, ranks, one, *figures)
            return one
        except Invalid as fault:
            faults.append(fault)
    raise faults[0]


def _records(places: list, world: tuple):
    ranks, processes, groups = world
    warnings = other_groups(groups)
    shared = {"ranks": ranks, "ranks_per_host": None if processes else [ranks], "engine": "rccl"}
    for size, out, into, row in merge_repeated_rows(_rows(places)):
        yield row_record({**shared, "operation": row.pop("operation")}, warnings, size, out, into, **row)


def _rows(places: list):
    """Yields the rows. Usually a result has an out-of-place and an in-place row. If the program
    measured only one of the two (-O), each row stands alone."""
    step = len({one.in_place for one in places})
    for first, second in zip(places[::step], places[step - 1 :: step]):
        if step == 2 and (first.in_place, second.in_place, first.key) != (0, 1, second.key):
            raise Invalid(second.line, "out of place and in place do not follow each other: a row is missing")
        out, into = (first.figures, second.figures) if step == 2 else (first.figures, None)
        out, into = (None, out) if step == 1 and first.in_place else (out, into)
        row = {"operation": operation_of(first.program, first.line), "dtype": first.key[3]}
        yield first.size, out, into, {**row, "op": reduction_of(first.program, first.key[4])}
    if len(places) % step:
        raise Invalid(places[-1].line, "out of place and in place do not follow each other: a row is missing")
