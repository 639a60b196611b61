# SPDX-License-Identifier: Apache-2.0
"""The columns of nccl-tests' and rccl-tests' tables, by generation."""

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
    "hipevt": "us",  # rccl-tests of 2026: by the device's events
    "algbw": "GB/s",
    "busbw": "GB/s",
    "#wrong": None,
    "error": None,  # before 2.12
    "i_min": "us",  # -I 1
    "i_max": "us",
    "i_p99": "us",
    "i_cv%": "%",
    "algo": None,  # rccl-tests: what RCCL chose
    "proto": None,
    "nchannels": None,
    "timestamp": None,
}
# Programs of before 2.12 print redop and root only where the operation has them.
_HEADS = [
    ["size", "count", "type", *more]
    for more in ([], ["redop"], ["root"], ["redop", "root"])
]
_PLACE = re.compile(
    r"(time|cputime)( hipevt)? algbw busbw (#wrong|error)( i_min i_max i_p99 i_cv%)?"
)
_CHOICE = ["algo", "proto", "nchannels"]
PLACES = ["out-of-place", "in-place"]


@dataclass(frozen=True)
class Columns:
    head: list  # size, count, type, ...
    place: list  # time, algbw, busbw, ..., for each place
    places: list  # the elements of PLACES that the table has
    tail: int  # number of fields at the end of a row: RCCL's choice of algorithm, a date and a time

    @property
    def width(self) -> int:
        return len(self.head) + len(self.places) * len(self.place) + self.tail

    @property
    def cpu_time(self) -> bool:
        return self.place[0] == "cputime"

    def cells(self, fields: list) -> list:
        """Returns the fields of a row by column: those that hold for all places, those out of
        place, and those in place; None for a place that the table does not have."""
        found, at, size = {}, len(self.head), len(self.place)
        for place in self.places:
            found[place] = dict(zip(self.place, fields[at : at + size]))
            at += size
        return [dict(zip(self.head, fields)), *map(found.get, PLACES)]

    def check_units(self, line) -> None:
        names = self.head + len(self.places) * self.place
        expected = [UNITS[name] for name in names if UNITS[name]]
        found = re.findall(r"\(([^()]*)\)", line.text)
        if found[: len(expected)] != expected:
            raise Invalid(
                line,
                f"the units are {' '.join(found)}, and those of the columns are "
                f"{' '.join(expected)}",
            )


def columns_of(line, places: list) -> Columns:
    """Returns the columns that a header names, of the places (out-of-place, in-place) that the line
    above it names. A table with other columns is invalid."""
    names = [
        one_of(name, tuple(UNITS), "column", line) for name in line.text.split()[1:]
    ]
    tail = 2 * (names[-1:] == ["timestamp"])
    bare = names[:-1] if tail else names
    if bare[-3:] == _CHOICE:
        bare, tail = bare[:-3], tail + 3
    for head in _HEADS:
        place = bare[len(head) : len(head) + (len(bare) - len(head)) // len(places)]
        known = _PLACE.fullmatch(" ".join(place)) is not None
        if known and bare == head + len(places) * place:
            return Columns(head, place, places, tail)
    raise Invalid(line, f"a table with the columns {' '.join(names)} is not known")
