# SPDX-License-Identifier: Apache-2.0
"""Texts of records in GitHub's Markdown, and tables."""

import re
from dataclasses import dataclass, field

MISSING = "-"  # stands where a value is missing

# Characters that move a cursor or change the direction of the text around them.
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# A bracket that follows another one would make a link.
_SPECIAL = re.compile(r"[\\`*_{}<>#|~!&$@]|(?<=\])[(\[:]")


@dataclass
class Table:
    title: str
    columns: list  # names of the columns
    left: int  # that many columns are aligned to the left
    rows: list = field(default_factory=list)  # rows, each a list of texts

    def markdown(self) -> str:
        marks = [":--" if i < self.left else "--:" for i in range(len(self.columns))]
        rows = [list(map(escaped, cells)) for cells in self.rows]
        return "".join(map(_line, [list(map(escaped, self.columns)), marks, *rows]))


def _line(cells) -> str:
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells) + "\n"


def printable(text: str) -> str:
    """Returns the text without control characters; line breaks and tabs become blanks."""
    return _UNSEEN.sub(lambda found: " " if found[0] in "\n\t\r" else "?", text)


def escaped(text: str) -> str:
    """Escapes the text so that Markdown shows it unchanged, in one line, also in a table."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], printable(text))


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
