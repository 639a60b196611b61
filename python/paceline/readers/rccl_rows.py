# SPDX-License-Identifier: Apache-2.0
"""Reads the rows that rccl-tests -Z json|csv writes, with their lines, grouped by run. Nothing is
computed."""

import csv
import json

from .checks import Invalid, figure, shown
from .json_text import check_keys, member, parse, parse_several
from .lines import Line

MPI = ("nodes", "ranks", "ranksPerNode", "gpusPerRank")
_RESULT = ("size", "type", "redop", "inPlace", "time", "algBw", "busBw", "wrong")
_KEYS = ("numCycle", "name", *MPI, "gpus", *_RESULT)
_TEXTS = ("name", "type", "redop", "wrong")
_COLUMNS = {"collective": "name", "#wrong": "wrong"}
_COLUMNS |= {name.lower(): name for name in _KEYS if name not in ("name", "wrong")}


def runs_of_json(source) -> list:
    """Returns the rows with their lines, for each file that `cat` joined. The file is a list of
    objects, one per line; before 2025 it was the objects alone."""
    found = parse_several(source.text, source.path)
    runs = found if all(isinstance(one, list) for one in found) else [found]
    values = [value for run in runs for value in run]
    lines = [line for line in source.lines if '"busBw"' in line.text]
    if len(lines) != len(values):
        lines = [source.lines[0]] * len(values)
    for value, line in zip(values, lines):
        if not isinstance(value, dict):
            raise Invalid(line, f"'{shown(json.dumps(value))}' is not a row of results")
        check_keys(value, _KEYS, "key of rccl-tests", line)
        for name in _RESULT + ("name",):
            member(value, name, str if name in _TEXTS else object, line)
    placed = zip(values, lines)
    return [[next(placed) for _ in run] for run in runs]


def runs_of_csv(source) -> list:
    """Returns the rows with their lines, grouped by the header above them."""
    runs, header = [], None
    for line in source.lines:
        if line.text.startswith(("collective", "numCycle")):
            header = _header(line)
            runs.append([])
        elif line.text.strip():
            if header is None:
                raise Invalid(line, f"'{shown(line.text)}' stands above the line with the columns")
            runs[-1].append((_cells(header, line), line))
    return runs


def _header(line: Line) -> list:
    header = [_column(one.strip(), line) for one in line.text.split(",")]
    if "ranks" in header and "nodes" not in header:
        header.insert(header.index("name") + 1, "nodes")
    order = [name for name in _KEYS if name in header]
    if header != order or not set(_RESULT) <= set(header):
        raise Invalid(line, f"a table with the columns {shown(line.text)} is not known")
    return header


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
    """Returns the value as JSON would have it: an integer, or a number that keeps its text."""
    return parse(figure(cell, line, name).text, line.path, line.number)
