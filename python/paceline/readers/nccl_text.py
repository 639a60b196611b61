# SPDX-License-Identifier: Apache-2.0
"""Splits the text output of nccl-tests into tables, without computing anything from them.

A program prints its name (since 2.16), its settings, its devices, the names and units of the
columns, rows, and a footer. One log may hold several such outputs: one after the other, or, if a
launcher tags each line with its rank, one of each rank.
"""

import re
from dataclasses import dataclass, field

from .checks import Invalid, shown
from .collective import ELEMENT_BYTES
from .lines import Line
from .nccl_columns import PLACES, Columns, columns_of
from .nccl_head import device_of, settings_of

# The programs of nccl-tests that a command line may name.
_PROGRAM = re.compile(
    r"(?<![\w.-])((?:all_reduce|all_gather|reduce_scatter|reduce|broadcast|alltoallv?2?|sendrecv|gather|scatter"
    r"|hypercube)_perf)(?:_mpi)?(?:\.exe)?(?![\w.])"
)
_STARTING = re.compile(r"#\s*Collective test (starting|concluded):\s*(\S+)")
_SETTINGS = re.compile(
    r"#\s*nThread:? (\S+) nGpus:? (\S+) minBytes:? \S+ maxBytes:? \S+ step: [^)]*\)(.*)"
)
_FOOTER = re.compile(
    r"#\s*(Out of bounds values|Avg bus bandwidth)\s*:\s*(\S+)\s*(OK|FAILED)?\s*\Z"
)
_FIGURE = re.compile(r"-?[\d.,]+(?:e[+-]?\d+)?|N/A|nan|-?inf", re.I)


@dataclass
class Table:
    """The output of one program. `rows` are pairs (fields, line)."""

    first: Line
    program: str = None
    program_line: Line = None
    commands: list = field(default_factory=list)  # lines above it that name programs
    settings: dict = None
    devices: list = field(
        default_factory=list
    )  # (rank, group, host, bus id, line, name)
    places: list = None  # out-of-place, in-place
    columns: Columns = None
    rows: list = field(default_factory=list)
    footers: dict = field(
        default_factory=dict
    )  # name: (value, OK or FAILED or None, line)
    partial: list = None  # fields of a row that NCCL's lines interrupted

    @property
    def command(self) -> Line:
        return self.commands[-1] if self.commands else None


def is_program(name: str) -> bool:
    return _PROGRAM.fullmatch(name) is not None


def program_in(line: Line) -> set:
    return set(_PROGRAM.findall(line.text))


def _is_command(line: Line) -> bool:
    """Whether a line is a command line that names a program.  A root's shell prompt begins with #, as comments do."""
    return bool(program_in(line)) and not _STARTING.match(line.text.strip())


def tables_of(lines) -> list:
    """Returns all tables, in the order of their first lines."""
    tables, open_tables, commands = [], {}, []
    for line in lines:
        text = line.text.strip()
        if text.startswith("#") and not _is_command(line):
            table = open_tables.get(line.rank)
            if table is None or _begins(text, table):
                _close(table)
                table = open_tables[line.rank] = Table(line)
                table.commands, commands = commands, []
                tables.append(table)
            _comment(text, line, table)
        elif text:
            if _is_command(line):
                commands.append(line)
            else:
                _row(text, line, open_tables.get(line.rank))
    for table in open_tables.values():
        _close(table)
    return [
        table for table in tables if table.settings or table.devices or table.columns
    ]


def _begins(text: str, table: Table) -> bool:
    """Whether the line belongs to the next program's output."""
    match = _STARTING.match(text)
    if match:
        return match[1] == "starting" and (
            table.program or table.settings or table.devices or table.columns
        )
    if _SETTINGS.match(text):
        return bool(table.settings or table.devices or table.columns)
    if text.startswith("# Using devices"):
        return bool(table.devices or table.columns)
    return bool(table.columns) and re.match(r"#\s+Rank\s", text) is not None


def _close(table: Table) -> None:
    if table is None:
        return
    if table.partial:
        raise Invalid(
            table.partial[1],
            "lines of NCCL (NCCL_DEBUG) interrupt this row, and its rest does not follow",
        )
    if (table.settings or table.devices or table.columns) and not table.rows:
        raise Invalid(
            table.first,
            "this run has no row of results: it failed, or several processes without MPI wrote between each "
            "other's lines",
        )


def _comment(text: str, line: Line, table: Table) -> None:
    if table.partial:
        _close(table)
    if match := _STARTING.match(text):
        known = _PROGRAM.fullmatch(match[2])
        _name(table, match[1], known[1] if known else match[2], line)
    elif match := _SETTINGS.match(text):
        table.settings = settings_of(match, line)
    elif re.match(r"#\s+Rank\s", text):
        table.devices.append(device_of(text, line))
    elif "algbw" in text and "busbw" in text:
        table.columns = columns_of(line, table.places or PLACES)
    elif "out-of-place" in text or "in-place" in text:
        table.places = re.findall(r"out-of-place|in-place", text)
        if table.places != [one for one in PLACES if one in table.places]:
            raise Invalid(line, f"columns in the order {shown(text[1:])} are not known")
    elif table.columns and re.match(r"#\s+\(", text):
        table.columns.check_units(line)
    elif match := _FOOTER.match(text):
        table.footers[match[1]] = (match[2], match[3], line)
    elif re.match(r"#\s*(nThread|Out of bounds|Avg bus)", text):
        raise Invalid(line, f"'{shown(text)}' is not understood")


def _name(table: Table, what: str, program: str, line: Line) -> None:
    """Reads a line which says that the program's test is starting or concluded."""
    if what == "concluded" and table.program and program != table.program:
        raise Invalid(line, f"'{shown(program)}' is concluded, and {table.program_line.place} says {table.program}")
    table.program, table.program_line = program, table.program_line or line


def _row(text: str, line: Line, table: Table) -> None:
    """Reads a row of results, a part of one, or a line of another program."""
    fields = text.split()
    if table and table.partial:
        if not all(_FIGURE.fullmatch(one) for one in fields):
            return (
                _close(table) if any(one in ELEMENT_BYTES for one in fields) else None
            )
        table.partial[0].extend(fields)
        fields, line = table.partial
        if len(fields) < table.columns.width:
            return
        table.partial = None
    elif not _is_row(fields, table):
        return
    elif line.cut and table and table.columns and len(fields) < table.columns.width:
        table.partial = (fields, line)
        return
    if not table or not table.columns or table.footers:
        why = "" if fields[0].isdigit() else f", behind '{shown(fields[0])}', which no known transport writes"
        raise Invalid(line, f"'{shown(text)}' is a row of results outside of a table{why}")
    if len(fields) != table.columns.width:
        raise Invalid(
            line,
            f"'{shown(text)}' is not a whole row: it has {len(fields)} fields of {table.columns.width}",
        )
    table.rows.append((fields, line))


def _is_row(fields: list, table: Table) -> bool:
    """Whether the fields are a row.  Below the columns' names, that is any line that begins with an integer or has four
    figures.  Elsewhere it must also have a type; it is then a row of a table with unknown columns."""
    figures = sum(bool(_FIGURE.fullmatch(one)) for one in fields)
    if table and table.columns and "Out of bounds values" not in table.footers:
        return fields[0].isdigit() or figures >= 4
    begun = len(fields) > 2 and fields[0].isdigit() and fields[1].isdigit()
    return (begun or figures >= 4) and any(one in ELEMENT_BYTES for one in fields)
