# SPDX-License-Identifier: Apache-2.0
"""The tables in the text of nccl-tests, as they stand: lines in, Table out, nothing computed.

A program prints what it is (since 2.16), its settings, its devices, the names and units of the
columns, rows, and a footer.  One log may hold several of them, one after the other, or, by a
transport that tells ranks apart, one of each rank.
"""

import re
from dataclasses import dataclass, field

from .checks import Invalid, count, one_of, shown
from .collective import ELEMENT_BYTES
from .lines import Line
from .nccl_columns import PLACES, Columns, columns_of

# All programs of nccl-tests, that a command line may name.
_PROGRAM = re.compile(
    r"(?<![\w.-])((?:all_reduce|all_gather|reduce_scatter|reduce|broadcast|alltoallv?2?|sendrecv|gather|scatter"
    r"|hypercube)_perf)(?:_mpi)?(?![\w.])"
)
_STARTING = re.compile(r"#\s*Collective test (starting|concluded):\s*(\S+)")
_SETTINGS = re.compile(
    r"#\s*nThread:? (\S+) nGpus:? (\S+) minBytes:? \S+ maxBytes:? \S+ step: [^)]*\)(.*)"
)
_PAIR = re.compile(r"\s+([a-z][a-zI ]*): (\S+)")
_DEVICE = re.compile(
    r"#\s+Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?(?:Pid\s+\d+\s+)?on\s+(\S+)\s+device\s+(\d+)\s+\[([\w:.]+)\]\s+(\S.*)"
)
_FOOTER = re.compile(
    r"#\s*(Out of bounds values|Avg bus bandwidth)\s*:\s*(\S+)\s*(OK|FAILED)?\s*\Z"
)
_SETTING_NAMES = (
    "warmup iters",
    "iters",
    "agg iters",
    "validation",
    "graph",
    "unalign",
)
_FIGURE = re.compile(r"-?[\d.,]+(?:e[+-]?\d+)?|N/A|nan|-?inf", re.I)


@dataclass
class Table:
    """What one program printed.  `rows` are (fields, line)."""

    first: Line
    program: str = None
    program_line: Line = None
    command: Line = None  # that names the program
    concluded: Line = None
    settings: dict = None
    devices: list = field(
        default_factory=list
    )  # (rank, group, host, bus id, line, name)
    columns: Columns = None
    rows: list = field(default_factory=list)
    footers: dict = field(
        default_factory=dict
    )  # name: (value, OK or FAILED or None, line)
    partial: list = None  # fields of a row that NCCL's lines interrupted


def program_in(line: Line) -> set:
    return set(_PROGRAM.findall(line.text))


def tables_of(lines) -> list:
    """All tables, in the order of their first lines."""
    tables, open_tables, command = [], {}, None
    for line in lines:
        text = line.text.strip()
        if text.startswith("#"):
            table = open_tables.get(line.rank)
            if table is None or _begins(text, table):
                _close(table)
                table = open_tables[line.rank] = Table(line)
                table.command, command = command, None
                tables.append(table)
            _comment(text, line, table)
        elif text:
            if program_in(line):
                command = line
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
        if match[1] == "starting":
            table.program, table.program_line = match[2], line
        else:
            table.concluded = line
            if table.program and match[2] != table.program:
                raise Invalid(
                    line,
                    f"'{shown(match[2])}' is concluded, and {table.program_line.place} says {table.program}",
                )
            table.program, table.program_line = match[2], table.program_line or line
    elif match := _SETTINGS.match(text):
        table.settings = _settings(match, line)
    elif re.match(r"#\s+Rank\s", text):
        table.devices.append(_device(text, line))
    elif "algbw" in text and "busbw" in text:
        table.columns = columns_of(line)
    elif "out-of-place" in text or "in-place" in text:
        titles = re.findall(r"out-of-place|in-place", text)
        if titles != PLACES:
            raise Invalid(line, f"columns in the order {shown(text[1:])} are not known")
    elif table.columns and re.match(r"#\s+\(", text):
        table.columns.check_units(line)
    elif match := _FOOTER.match(text):
        table.footers[match[1]] = (match[2], match[3], line)
    elif re.match(r"#\s*(nThread|Out of bounds|Avg bus)", text):
        raise Invalid(line, f"'{shown(text)}' is not understood")


def _settings(match, line: Line) -> dict:
    found = {
        "nThread": count(match[1], line, "nThread", least=1),
        "nGpus": count(match[2], line, "nGpus", least=1),
    }
    rest = match[3].rstrip()
    while pair := _PAIR.match(rest):
        # rccl-tests of before 2.12 writes warmupIters.
        name = pair[1].replace("warmupIters", "warmup iters")
        one_of(name, _SETTING_NAMES, "setting", line)
        found[name] = count(pair[2], line, name)
        rest = rest[pair.end() :]
    if rest.strip():
        raise Invalid(line, f"'{shown(rest)}' is not understood")
    return found


def _device(text: str, line: Line) -> tuple:
    match = _DEVICE.fullmatch(text)
    if not match:
        raise Invalid(line, f"'{shown(text)}' is not understood as a rank's device")
    # A bus without its domain is not unique; the device's number tells such buses apart.
    bus = match[5] if ":" in match[5] else f"{match[4]} {match[5]}"
    return (
        count(match[1], line, "rank", most=10**6),
        count(match[2] or "0", line, "group"),
        match[3],
        bus,
        line,
        match[6],
    )


def _row(text: str, line: Line, table: Table) -> None:
    """A row of results, a part of one, or another program's line."""
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
        raise Invalid(line, f"'{shown(text)}' is a row of results outside of a table")
    if len(fields) != table.columns.width:
        raise Invalid(
            line,
            f"'{shown(text)}' is not a whole row: it has {len(fields)} fields of {table.columns.width}",
        )
    table.rows.append((fields, line))


def _is_row(fields: list, table: Table) -> bool:
    """Below the columns' names any line that begins with an integer or has four figures;
    elsewhere one that has a type too, which is a row of no known table."""
    figures = sum(bool(_FIGURE.fullmatch(one)) for one in fields)
    if table and table.columns and "Out of bounds values" not in table.footers:
        return fields[0].isdigit() or figures >= 4
    begun = len(fields) > 2 and fields[0].isdigit() and fields[1].isdigit()
    return (begun or figures >= 4) and any(one in ELEMENT_BYTES for one in fields)
