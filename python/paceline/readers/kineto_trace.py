# SPDX-License-Identifier: Apache-2.0
"""Reads the traces of PyTorch's profiler (Kineto's Chrome traces) as events."""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from .checks import Invalid, shown
from .json_text import member, number, parse

_MARK = '"traceEvents"'
_READ_KINDS = ("cpu_op", "kernel", "user_annotation")  # an event of another kind may have no times
_AMD_PATTERN = re.compile(r'"name": ?"(?:hip[A-Z]|[^"]*(?:AMD |Instinct|Radeon))')  # calls of its runtime, or its devices


@dataclass(frozen=True)
class Event:
    """One complete event; times in ns."""

    name: str
    kind: str  # cpu_op, kernel, user_annotation, ...
    begin: float
    end: float
    thread: object
    args: dict

    @property
    def ns(self) -> float:
        return self.end - self.begin

    def holds(self, other) -> bool:
        return self.begin <= other.begin and other.end <= self.end


def recognizes(source) -> bool:
    return source.text.lstrip()[:1] == "{" and _MARK in source.text


class OrderedEvents:
    """Events in the order of their begins, with a fast search for those that begin inside another event."""

    def __init__(self, events: list):
        self.events = events
        self._begins = [one.begin for one in events]

    def events_begun_in(self, event: Event) -> list:
        return self.events[bisect_left(self._begins, event.begin) : bisect_left(self._begins, event.end)]

    def events_inside(self, event: Event) -> list:
        """Returns the events of the same thread inside `event`, including the event itself."""
        last = bisect_right(self._begins, event.end)
        found = self.events[bisect_left(self._begins, event.begin) : last]
        return [one for one in found if one.end <= event.end and one.thread == event.thread]


class Trace:
    """`events` in the order of their beginning, an outer one before its inner ones."""

    def __init__(self, source):
        self._source = source
        self.place = source.place
        self.value = parse(source.text, source.path)
        if not isinstance(self.value, dict):
            raise Invalid(source, "is no trace of PyTorch's profiler")
        found = member(self.value, "traceEvents", list, source)
        self._complete = [one for one in found if isinstance(one, dict) and one.get("ph") == "X" and one.get("cat") in _READ_KINDS]
        events = [self._event(one) for one in self._complete]
        self.events = sorted(events, key=lambda one: (one.begin, -one.end))

    def _event(self, one: dict) -> Event:
        name = member(one, "name", str, self.place)
        where = f"the event '{shown(name, 40)}'"
        begin, length = (
            number(one.get(key), self.place, f"{where}, {key}", least=0) for key in ("ts", "dur")
        )
        args = one.get("args") or {}
        if not isinstance(args, dict):
            raise Invalid(self.place, f"{where}, args: '{shown(str(args), 40)}' is not an object")
        start = begin.exact * 1000
        return Event(name, one["cat"], float(start - self._base), float(start - self._base + length.exact * 1000),
                     (one.get("pid"), one.get("tid")), args)  # fmt: skip

    @cached_property
    def _base(self):
        """Returns the time that counts as zero, that of the first event: a double cannot hold
        nanoseconds since the epoch."""
        return min(number(one.get("ts"), self.place, "ts", least=0).exact for one in self._complete) * 1000

    def of(self, kind: str) -> list:
        return self._kinds.get(kind, [])

    @cached_property
    def _kinds(self) -> dict:
        found = {}
        for one in self.events:
            found.setdefault(one.kind, []).append(one)
        return found

    @cached_property
    def is_of_amd(self) -> bool:
        return bool(_AMD_PATTERN.search(self._source.text))

    @property
    def world(self) -> dict:
        """Returns the trace's description of the job: backend, rank, world_size, process groups."""
        found = self.value.get("distributedInfo", {})
        return found if isinstance(found, dict) else {}

    @cached_property
    def groups(self) -> dict:
        """Returns the ranks of each process group that the trace lists, by name; older traces list none."""
        listed = self.world.get("pg_config")
        found = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        return {
            one["pg_name"]: one["pg_size"]
            for one in found
            if isinstance(one.get("pg_name"), str) and isinstance(one.get("pg_size"), int)
        }
