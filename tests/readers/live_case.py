# SPDX-License-Identifier: Apache-2.0
"""A case whose output is read, for tests."""

from paceline.readers import case_keys
from paceline.readers.live import Output
from paceline.readers.live_series import Case, Failure

_KNOWN = {
    "command": "train",
    "ranks": 2,
    "batch_size": 8,
    "warmup_steps": 1,
    "steps": 2,
    "device": "cpu",
    "dtype": "fp32",
    "optimizer": "sgd",
    "accumulate": 1,
}


def output(rank=0, **known) -> Output:
    """The reader of a command of two ranks, with a window of one step and two, but for `known`."""
    return Output(Case({**dict.fromkeys(case_keys.REQUIRED_KEYS), "label": "", "discard": False, **_KNOWN, **known}), rank)


def taken(lines, rank=0, now_ns=0, **known) -> Output:
    """The reader after all lines, which came at the same moment."""
    reader = output(rank, **known)
    for line in lines:
        reader.take(line, now_ns)
    return reader


def steps_of(reader) -> list:
    return [one["step_ns"] for one in reader.steps.samples()]


def failure_of(lines, **known) -> tuple:
    """(status, sentence) of the failure by which the lines and their samples end."""
    try:
        taken(lines, **known).steps.samples()
    except Failure as failure:
        return failure.status, str(failure)
    return "ok", ""


def status_of(lines, **known) -> str:
    return failure_of(lines, **known)[0]
