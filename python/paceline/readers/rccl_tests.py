# SPDX-License-Identifier: Apache-2.0
"""What rccl-tests -Z json|csv -x FILE writes (class Reporter in src/common.cu): an object or a line for each
place, out of place before in place.

`ranks` are processes, of which each has `gpusPerRank` GPUs; `ranksPerNode` are the processes of one
communicator and `nodes` the number of communicators (NCCL_TESTS_SPLIT), whatever hosts there are: the file
does not say the hosts, the root, nor the iterations.  The header of a CSV by MPI lacks the column of nodes.
"""

import csv
import json
from dataclasses import dataclass

from .checks import Invalid, check_count, count, figure, one_of, shown
from .collective import ELEMENT_BYTES, check_columns, check_rates, operation_of, reduction_of, row_record
from .collective_ranks import other_groups
from .json_text import check_keys, member, number, parse, parse_several
from .lines import Line

NAME = "rccl-tests"
_MPI = ("nodes", "ranks", "ranksPerNode", "gpusPerRank")
_RESULT = ("size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")
_KEYS = ("numCycle", "name", *_MPI, "gpus", *_RESULT)
_TEXTS = ("name", "type", "redop", "wrong")
_COLUMNS = {"collective": "name", "#wrong": "wrong"} | {name.lower(): name for name in _KEYS if name not in ("name", "wrong")}
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
    rows = _rows_of_json(source) if source.text.lstrip()[:1] in ("[", "{") else _rows_of_csv(source)
    if not rows:
        raise Invalid(source, "has no row of results of rccl-tests")
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


def _rows_of_json(source) -> list:
    """Rows with their lines, as the program writes them: one object a line."""
    values = parse_several(source.text, source.path)
    values = values[0] if isinstance(values[0], list) and len(values) == 1 else values
    lines = [line for line in source.lines if '"busBw"' in line.text]
    if len(lines) != len(values):
        lines = [source.lines[0]] * len(values)
    for value, line in zip(values, lines):
        if not isinstance(value, dict):
            raise Invalid(line, f"'{shown(json.dumps(value))}' is not a row of results")
        check_keys(value, _KEYS, "key of rccl-tests", line)
        for name in _RESULT + ("name",):
            member(value, name, str if name in _TEXTS else object, line)
    return list(zip(values, lines))


def _rows_of_csv(source) -> list:
    lines = [line for line in source.lines if line.text.strip()]
    if not lines:
        return []
    header = [_column(one.strip(), lines[0]) for one in lines[0].text.split(",")]
    if "ranks" in header and "nodes" not in header:
        header.insert(header.index("name") + 1, "nodes")
    order = [name for name in _KEYS if name in header]
    if header != order or not set(_RESULT) <= set(header):
        raise Invalid(lines[0], f"a table with the columns {shown(lines[0].text)} is not known")
    return [(_cells(header, line), line) for line in lines[1:]]


def _column(name: str, line: Line) -> str:
    if name not in _COLUMNS and name not in _COLUMNS.values():
        raise Invalid(line, f"'{shown(name)}' is not a known column; known are {', '.join(_COLUMNS)}")
    return _COLUMNS.get(name, name)


def _cells(header: list, line: Line) -> dict:
    try:
        cells = next(csv.reader([line.text], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise Invalid(line, f"is not a line of CSV: {error}") from None
    if len(cells) != len(header):
        raise Invalid(line, f"'{shown(line.text)}' is not a whole row: it has {len(cells)} fields of {len(header)}")
    return {name: cell if name in _TEXTS else _number_of(cell, name, line) for name, cell in zip(header, cells)}


def _number_of(cell: str, name: str, line: Line):
    """As JSON has it: an integer, or a number with its text."""
    return parse(figure(cell, line, name).text, line.path, line.number)


def _world(row: dict, line: Line) -> tuple:
    """(ranks of a communicator, its processes, communicators), of which processes are None without MPI."""
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
    key: tuple  # what both places of one result have
    in_place: int
    program: str
    size: int
    figures: dict
    line: Line


def _place(row: dict, line: Line, ranks: int) -> _Place:
    program = one_of(row["name"], _PROGRAMS, "operation of Paceline", line)
    operation, size = operation_of(program, line), _integer(row, "size", line, 1)
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
    """The size that time and bandwidths are of.  Before 2025 the file gave that of a reduce-scatter's result."""
    sizes, faults = [size, size * ranks] if operation == "reduce-scatter" else [size], []
    for one in sizes:
        try:
            check_rates(operation, ranks, one, *figures)
            return one
        except Invalid as fault:
            faults.append(fault)
    raise faults[0]


def _records(places: list, world: tuple):
    """Of a place alone (-O, or in place alone) all rows are."""
    ranks, processes, groups = world
    warnings = other_groups(groups)
    shared = {"ranks": ranks, "ranks_per_host": None if processes else [ranks], "engine": "rccl"}
    step = len({one.in_place for one in places})
    for first, second in zip(places[::step], places[step - 1 :: step]):
        if step == 2 and (first.in_place, second.in_place, first.key) != (0, 1, second.key):
            raise Invalid(second.line, "out of place and in place do not follow each other: a row is missing")
        out, into = (first.figures, second.figures) if step == 2 else (first.figures, None)
        out, into = (None, out) if step == 1 and first.in_place else (out, into)
        own = {"operation": operation_of(first.program, first.line), **shared}
        row = {"dtype": first.key[3], "op": reduction_of(first.program, first.key[4])}
        yield row_record(own, warnings, first.size, out, into, **row)
    if len(places) % step:
        raise Invalid(places[-1].line, "out of place and in place do not follow each other: a row is missing")
