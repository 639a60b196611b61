# SPDX-License-Identifier: Apache-2.0
"""Reads records as data frames of pandas.

    cases, samples = paceline.records.read("r.jsonl")

`cases` has a row for each case, with the columns of `paceline report --format json`: medians, rates, their
intervals, and `configuration.KEY` for each key of the configuration.  `samples` has a row for each step of each
rank.  Both have `case_id`, the row of `cases`.  What is not known is missing.  read() needs pandas (pip install
'paceline[pandas]'); rows() gives the same as lists of dicts, without it.
"""

import json
import os
import subprocess
from typing import NamedTuple

from .program import program
from .readers import table

_RECORD = b'{"version":1,"source":'


class Frames(NamedTuple):
    cases: object
    samples: object


def read(*paths) -> Frames:
    """Returns the data frames of record files, or of logs of other programs that `paceline report`
    can read."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "paceline.records.read needs pandas: pip install 'paceline[pandas]'; paceline.records.rows gives the "
            "same as lists of dicts, without it"
        ) from None
    cases, samples = rows(*paths)
    return Frames(pandas.DataFrame(cases), pandas.DataFrame(samples))


def rows(*paths) -> Frames:
    """Returns the same data as read(), as lists of dicts; all dicts of a list have the same keys.
    Raises ValueError with the sentence of `paceline report` if it rejects the files."""
    cases = _report([str(path) for path in paths])
    numbers = {_case_key(one): k for k, one in enumerate(cases)}
    samples = []
    for record in _records([str(path) for path in paths]):
        samples += _samples(record, numbers.get(_case_key(record)))
    return Frames(_with_equal_keys([_flat_case_row(k, one) for k, one in enumerate(cases)]), _with_equal_keys(samples))


def _report(paths: list) -> list:
    path, environment = program()
    done = subprocess.run(
        [str(path), "report", *paths, "--format", "json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout.strip():
        raise ValueError(done.stderr.strip() or f"paceline report ended with {done.returncode}")
    return json.loads(done.stdout)["cases"]


def _records(paths: list):
    """Yields the records of record files, and then those that readers make of logs.  Copies count once, as in the
    report."""
    logs = [path for path in paths if not _is_record_file(path)]
    for path in paths:
        if path not in logs:
            with open(path, encoding="utf-8", errors="replace") as file:
                yield from map(json.loads, _whole_lines(file))
    for _, records in table.read_files(logs):
        yield from records


def _is_record_file(path: str) -> bool:
    if os.path.isdir(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_RECORD)) == _RECORD


def _whole_lines(file):
    """Yields the lines, except a last one that is incomplete, which the report leaves out too, with a note."""
    return (line for line in file if line.endswith("\n") and line.strip())


def _case_key(one: dict) -> str:
    parts = (one["source"], one["experiment"], one["configuration"])
    return json.dumps(parts, sort_keys=True)


def _flat_case_row(number: int, case: dict) -> dict:
    row = {"case_id": number}
    for key, value in case.items():
        if key == "configuration":
            row |= {f"configuration.{name}": one for name, one in value.items()}
        elif key == "warnings":
            row["warnings"] = [one["code"] for one in value]
        else:
            row[key] = value
    return row


def _samples(record: dict, number) -> list:
    found = []
    for rank in record["ranks"]:
        for step, step_ns in enumerate(rank["step_ns"]):
            row = {
                "case_id": number,
                "case": record["configuration"]["label"],
                "run": record["run"],
                "rank": rank["rank"],
                "host": rank["host"],
                "step": step,
                "step_ns": step_ns,
            }
            row |= {f"{phase}_ns": times[step] for phase, times in rank["phase_ns"].items()}
            found.append(row)
    return found


def _with_equal_keys(found: list) -> list:
    """Gives all rows the keys that some rows have, in the order in which the keys first occur."""
    keys = dict.fromkeys(key for one in found for key in one)
    return [{key: one.get(key) for key in keys} for one in found]
