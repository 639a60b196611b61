# SPDX-License-Identifier: Apache-2.0
"""The columns of nccl-tests' tables, by generation."""

import re
from dataclasses import dataclass

from .checks import Invalid, one_of

UNITS = {
    "size": "B",
    "count": "elements",
    "type": None,
    "redop": None,
    "root": None,
    "time": "us",
    "cputime": "us",  # -C 1
    "algbw": "GB/s",
    "busbw": "GB/s",
    "#wrong": None,
    "error": None,  # before 2.12
    "i_min": "us",  # -I 1
    "i_max": "us",
    "i_p99": "us",
    "i_cv%": "%",
    "timestamp": None,
}
# Programs of before 2.12 print redop and root only where the operation has them.
_HEADS = [
    ["size", "count", "type", *more]
    for more in ([], ["redop"], ["root"], ["redop", "root"])
]
_PLACE = re.compile(
    r"(time|cputime) algbw busbw (#wrong|error)( i_min i_max i_p99 i_cv%)?"
)
PLACES = ["out-of-place", "in-place"]


@dataclass(frozen=True)
class Columns:
    head: list  # size, count, type, ...
    place: list  # time, algbw, busbw, ..., twice in a row
    stamped: bool  # a date and a time at the end

    @property
    def width(self) -> int:
        return len(self.head) + 2 * len(self.place) + 2 * self.stamped

    @property
    def cpu_time(self) -> bool:
        return self.place[0] == "cputime"

    def cells(self, fields: list) -> list:
        """By column: what a row has for both places, out of place, and in place."""
        begin, end = len(self.head), len(self.head) + len(self.place)
        return [
            dict(zip(self.head, fields)),
            dict(zip(self.place, fields[begin:end])),
            dict(zip(self.place, fields[end:])),
        ]

    def check_units(self, line) -> None:
        names = self.head + 2 * self.place
        expected = [UNITS[name] for name in names if UNITS[name]]
        found = re.findall(r"\(([^()]*)\)", line.text)
        if found[: len(expected)] != expected:
            raise Invalid(
                line,
                f"the units are {' '.join(found)}, and those of the columns are "
                f"{' '.join(expected)}",
            )


def columns_of(line) -> Columns:
    """The columns that a header names; a table of other columns is invalid."""
    names = [
        one_of(name, tuple(UNITS), "column", line) for name in line.text.split()[1:]
    ]
    stamped = names[-1:] == ["timestamp"]
    bare = names[:-1] if stamped else names
    for head in _HEADS:
        place = bare[len(head) : (len(bare) + len(head)) // 2]
        known = _PLACE.fullmatch(" ".join(place)) is not None
        if known and bare == head + 2 * place:
            return Columns(head, place, stamped)
    raise Invalid(line, f"a table with the columns {' '.join(names)} is not known")
