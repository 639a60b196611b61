# SPDX-License-Identifier: Apache-2.0
"""The text of nccl-tests and rccl-tests, of all generations, and the JSON of -J: alone, or together in a log.

Before NCCL 2.12 the text had a column `error`, the largest relative difference, and no column `root`; since
then `#wrong` counts elements.
"""

import json
import re

from . import nccl_json, nccl_table
from .checks import Invalid
from .collective import OPERATIONS
from .collective_rows import is_repetition
from .nccl_json_rows import prints_as
from .nccl_text import is_program, program_in, tables_of

NAME = "nccl-tests"
_COLUMNS = re.compile(r"\balgbw\s+busbw\b")


def recognizes(source) -> bool:
    return bool(_COLUMNS.search(source.text)) or nccl_json.recognizes(source.text)


def read(source):
    documents = nccl_json.documents_of(source)
    lines = [
        line
        for line in source.lines
        if not any(one.place.number <= line.number <= one.end for one in documents)
    ]
    tables = tables_of(lines)
    if not tables and not documents:
        raise Invalid(source, "has no table of nccl-tests")
    named = set().union(*(program_in(line) for line in lines))
    yield from _records_of_documents(documents, tables, named, source)
    yield from _records_of_tables(tables, named, source)


def _records_of_documents(documents: list, tables: list, named: set, source):
    """Removes from `tables` those that a run printed beside its JSON (-J), because the JSON has
    more digits."""
    seen = {}
    for document in documents:
        same = json.dumps(document.value, sort_keys=True)
        if is_repetition(seen, same, document.place, "JSON", source.note):
            continue
        yield from nccl_json.records_of(document, source.note)
        program = nccl_json.program_of(document)
        twins = [one for one in tables if nccl_table.program_of(one, named) == program]
        printed = [one for one in twins if prints_as(document.value, one)]
        if twins and not printed:
            raise Invalid(
                document.place,
                f"this JSON is of {program}, and none of the log's tables of that program has its rows",
            )
        for table in printed[:1]:
            tables.remove(table)
            source.note(
                table.first,
                f"this table is that of the JSON in line {document.place.number}, counted once",
            )


def _records_of_tables(tables: list, named: set, source):
    """Returns the records of the tables. Programs whose operation Paceline does not have are left
    out with a note if the log has other tables."""
    seen = {}
    programs = [nccl_table.program_of(one, named) for one in tables]
    any_known = not OPERATIONS.keys().isdisjoint(programs)
    for table, program in zip(tables, programs):
        if any_known and program not in OPERATIONS and is_program(program):
            source.note(
                table.first,
                f"'{program}' is not an operation of Paceline: its {len(table.rows)} rows are left out",
            )
            continue
        same = repr(
            (
                [fields for fields, _ in table.rows],
                [one[:4] for one in table.devices],
                table.program,
            )
        )
        if not is_repetition(seen, same, table.first, "table", source.note):
            yield from nccl_table.records_of(table, named, source.note)
