# SPDX-License-Identifier: Apache-2.0
"""Opens files for readers, decompresses them, and splits them into lines without the tags that
launchers add."""

import gzip
import hashlib
import os
import sys
import zlib
from dataclasses import dataclass
from functools import cached_property

from .checks import Invalid
from .transports import text_before_nccl, nccl_hosts, without_colours, without_tags


@dataclass(frozen=True)
class Line:
    """One line of a log.  `text` is without launchers' tags, colours and line ends.  `rank` is the rank that wrote the
    line, if a tag names it.  `cut` says that lines of NCCL were removed at the line's end, so that the next lines may
    continue it."""

    path: str
    number: int
    text: str
    rank: int = None
    cut: bool = False

    @property
    def place(self) -> str:
        return f"{self.path}:{self.number}"


class Source:
    """One input file. `text` is its whole text; `lines` are its lines, as described in Line."""

    def __init__(self, path: str, content: bytes):
        self.path = path
        self.notes = []  # sentences for stderr
        self.has_left_out = False  # whether a run was left out of the records; a note then says why
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self.text = content.decode("utf-16", errors="replace")
        else:
            self.text = content.decode("utf-8-sig", errors="replace")

    @property
    def place(self) -> str:
        return self.path

    def note(self, place, sentence: str) -> None:
        """Adds a note for the user about something that does not make the records less valid."""
        self.notes.append(f"{getattr(place, 'place', place)}: {sentence}")

    def leave_out(self, sentence: str) -> None:
        """Notes why a run gives no record, although the file is valid."""
        self.has_left_out = True
        self.note(self, f"{sentence}, left out")

    @cached_property
    def lines(self) -> list:
        """Returns the lines, without those of NCCL itself (NCCL_DEBUG).  A carriage return of a progress bar also ends
        a line; its parts have the same number."""
        pieces = []
        for number, whole in enumerate(self.text.split("\n"), 1):
            for piece in whole.rstrip("\r").split("\r"):
                text, rank = without_tags(without_colours(piece))
                pieces.append((number, text, rank))
        hosts = nccl_hosts(text for _, text, _ in pieces)
        lines = []
        for number, text, rank in pieces:
            before = text_before_nccl(text, hosts)
            if before != "":
                kept = text if before is None else before
                lines.append(Line(self.path, number, kept, rank, before is not None))
        return lines

    @cached_property
    def digest(self) -> bytes:
        """Returns a hash that is equal for copies of a log that differ only in launchers' tags.  For a JSON object,
        tags are not removed."""
        if self.text.lstrip()[:1] == "{":
            content = self.text.replace("\r\n", "\n")
        else:
            content = "\n".join(line.text.rstrip() for line in self.lines)
        return hashlib.sha256(content.encode("utf-8", "replace")).digest()


def _content(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read()
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise Invalid(path, f"cannot be read: {error.strerror}") from None
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise Invalid(path, f"is damaged or cut off as a gzip file: {error}") from None


def files_of(path: str) -> list:
    """Returns the file itself, or all files below a directory except hidden ones, sorted by
    name."""
    if not os.path.isdir(path):
        return [path]
    found = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        found += [
            os.path.join(folder, one)
            for one in sorted(names)
            if not one.startswith(".")
        ]
    if not found:
        raise Invalid(path, "is a directory without files")
    return found


def open_source(path: str) -> Source:
    return Source(path, _content(path))
