# SPDX-License-Identifier: Apache-2.0
"""The JSON of nccl-tests -J (src/util.cu), versions 1 to 3, alone in a file or in a log.

The JSON lists only the first rank of each process, and says how many ranks a process has. The
values in its `env` are never kept.
"""

import json
import re
from dataclasses import dataclass

from .checks import Invalid, one_of, shown
from .collective import check_options, engine_of, operation_of
from .collective_ranks import hosts_of, ranks_of
from .collective_rows import check_repeats, merge_repeated_rows, row_record
from .json_text import check_keys, member, parse_several
from .lines import Line
from .nccl_json_rows import row_of, verdicts
from .nccl_text import program_in

_MARK = re.compile(r'"[nr]ccl_version"')  # rccl-tests since 2025
_TOP = "version start_time args env nccl_version rccl_version config results out_of_bounds errors end_time".split()
_BANDWIDTH = {1: ("average_bus_bandwidith", "average_bus_bandwidth")}  # 2.17.6 misspells it
_CONFIG = (
    "nthreads ngpus minimum_bytes maximum_bytes step_factor step_bytes warmup_iters iterations "
    "aggregated_iterations validation graph blocking_collectives per_iter_timing per_iter_skip parallel_init devices"
).split()
_MEASURED = ("size", "count", "type", "redop", "root")
_DEVICE = "rank group pid hostname device device_hex device_info".split()
_OPTIONS = {"t": "nthreads", "g": "ngpus", "n": "iterations", "m": "aggregated_iterations", "w": "warmup_iters",
            "c": "validation"}  # fmt: skip


@dataclass
class Document:
    """One run's JSON; `place` is its first line, `end` the number of its last one."""

    value: dict
    place: Line
    end: int


def recognizes(text: str) -> bool:
    return bool(_MARK.search(text)) and '"results"' in text


def documents_of(source) -> list:
    """Returns all documents of a file: one or several alone, or those in a log, each of which begins at the beginning
    of a line."""
    if not _MARK.search(source.text):
        return []
    lines = source.lines
    if source.text.lstrip()[:1] == "{" and "algbw" not in source.text:
        return _documents(source.text, lines[0], lines[-1].number)
    found, at = [], 0
    while at < len(lines):
        end = _end(lines, at) if lines[at].text.startswith("{") else at
        text = "\n".join(line.text for line in lines[at : end + 1])
        if _MARK.search(text) and text.startswith("{"):
            found += _documents(text, lines[at], lines[end].number)
        at = end + 1
    return found


def _end(lines: list, at: int) -> int:
    """Returns the index of the last line of the JSON document that begins at line `at`. The program
    writes one line; other tools write several, with a bracket alone on the first and last line."""
    if lines[at].text.strip() == "{":
        closing = (k for k in range(at, len(lines)) if lines[k].text.rstrip() == "}")
        return next(closing, len(lines) - 1)
    return at


def _documents(text: str, first: Line, end: int) -> list:
    values = parse_several(text, first.path, first.number)
    return [Document(value, first, end) for value in values]


def program_of(document: Document) -> str:
    """Returns the name of the program, taken from the command line."""
    args = member(document.value, "args", list, document.place)
    first = args[0] if args and isinstance(args[0], str) else ""
    programs = program_in(Line(document.place.path, document.place.number, first))
    if len(programs) != 1:
        raise Invalid(document.place, f"args: '{shown(first)}' does not name a program of nccl-tests")
    return next(iter(programs))


def records_of(document: Document, note):
    place, top = document.place, document.value
    version = one_of(member(top, "version", int, place), (1, 2, 3), "version of nccl-tests' JSON", place)
    bandwidth = _BANDWIDTH.get(version, ("average_bus_bandwidth",))
    check_keys(top, (*_TOP, *bandwidth), "key of nccl-tests' JSON", place)
    program = program_of(document)
    settings = _settings(top, place)
    ranks, per_host, warnings = ranks_of(_devices(top["config"], settings, place), place)
    devices = ["AMD"] if "rccl_version" in top else [one["device_info"] for one in top["config"]["devices"]]
    shared = {
        "operation": operation_of(program, place),
        "ranks": ranks,
        "ranks_per_host": per_host,
        "engine": engine_of(devices),
        "warmup": settings["warmup_iters"],
        "hosts": hosts_of(_names(top["config"], settings)),
        "mean_of": settings["iterations"] * settings["aggregated_iterations"] * max(1, settings["graph"]),
    }
    listed = member(top, "results", list, place)
    rows = [row_of(row, program, shared, settings, place) for row in listed]
    check_repeats([(tuple(row[key] for key in _MEASURED), json.dumps(row), place) for row in listed])
    if not rows:
        raise Invalid(place, "this run has no row of results: it failed")
    warnings += verdicts(top, bandwidth, rows, place, note)
    for size, out, into, row in merge_repeated_rows(rows):
        yield row_record(shared, warnings, size, out, into, **row)


def _names(config: dict, settings: dict) -> list:
    """Returns (host, name) of every device.  The devices of a process are assumed to be equal, because only its first
    one is listed."""
    own = settings["nthreads"] * settings["ngpus"]
    return [(one["hostname"], one["device_info"]) for one in config["devices"] for _ in range(own)]


def _settings(top: dict, place) -> dict:
    config = member(top, "config", dict, place)
    check_keys(config, _CONFIG, "key of nccl-tests' config", place)
    names = ("nthreads", "ngpus", "iterations", "aggregated_iterations")
    found = {name: _at_least(config, name, 1, place) for name in names}
    found |= {name: _at_least(config, name, 0, place) for name in ("warmup_iters", "validation", "graph")}
    skip = config.get("per_iter_skip")
    found["per_iter_skip"] = None if skip is None else _at_least(config, "per_iter_skip", 0, place)
    found["per_iter_timing"] = config.get("per_iter_timing")
    found["processes"] = len(member(config, "devices", list, place))
    words = "".join(f" {one}" for one in top["args"][1:])
    check_options(words, {letter: found[name] for letter, name in _OPTIONS.items()}, place, " in its config")
    return found


def _at_least(config: dict, name: str, least: int, place) -> int:
    value = member(config, name, int, place)
    if not least <= value < 2**31:
        raise Invalid(place, f"{name}: {value} is less than {least}, or too much")
    return value


def _devices(config: dict, settings: dict, place) -> list:
    """Returns all ranks in the form that ranks_of() expects.  Only the device of a process's first rank is known."""
    own, found = settings["nthreads"] * settings["ngpus"], []
    if own * settings["processes"] > 10**6:
        raise Invalid(place, f"{own} ranks a process are too many")
    for k, one in enumerate(config["devices"]):
        check_keys(one if isinstance(one, dict) else {}, _DEVICE, "key of a device", place)
        first, group = member(one, "rank", int, place), member(one, "group", int, place)
        host, bus = member(one, "hostname", str, place), member(one, "device_hex", str, place)
        member(one, "device_info", str, place)
        if first != k * own:
            raise Invalid(place, f"the log says {own} ranks a process, and process {k} begins with rank {first}")
        found += [(first + i, group, host, None if i else bus, place) for i in range(own)]
    if not found:
        raise Invalid(place, "devices: the list is empty, so that nobody knows who took part")
    return found
