# SPDX-License-Identifier: Apache-2.0
"""Reads a log of DLPerf. The path states the configuration, as in .../2n8g/rn50_b128_fp32_3.log,
and the framework's lines state the steps. For every framework, 20 steps are skipped and 100 steps
are measured."""

import os
import re

from .checks import Invalid, count
from .dlperf_formats import AS_NUMBERED, STAMP
from .dlperf_steps import steps_of
from .record import rank, run_record

NAME = "dlperf"
_SKIPPED, _TIMED = 20, 100
_MOST = 2**15  # largest number of nodes, of devices per node, and batch size
_FOLDER = re.compile(r"(\d+)n(\d+)g", re.A)
_FILE = re.compile(r"(.*?)_b(?:z|sz)?(\d+)_(fp32|fp16|amp)_(\d{1,9})\.log(?:\.gz)?", re.A)
_MODELS = {"rn50": "ResNet-50-v1.5", "r50": "ResNet-50-v1.5"}


class Name:
    """The configuration that the path states."""

    def __init__(self, path: str):
        place, file = _parts(path)
        numbers = [
            count(digits, path, "a number of its name", least=1, most=_MOST) for digits in (place[1], place[2], file[2])
        ]
        self.nodes, self.devices_per_node, self.batch = numbers
        self.devices = self.nodes * self.devices_per_node
        self.model = "BERT-Base" if file[1].startswith("bert") else _MODELS.get(file[1], file[1])
        self.dtype = "fp32" if file[3] == "fp32" else "amp"
        self.repetition = int(file[4])


def _parts(path: str):
    folder, name = os.path.split(path)
    return _FOLDER.fullmatch(os.path.basename(folder)), _FILE.fullmatch(name)


def recognizes(source) -> bool:
    if not all(_parts(source.path)):
        return False
    try:
        return steps_of(source, Name(source.path)) is not None
    except Invalid:
        return True  # true, so that read() reports what is wrong


def read(source):
    name = Name(source.path) if all(_parts(source.path)) else None
    steps = steps_of(source, name) if name else None
    if steps is None:
        raise Invalid(
            source, "is no log of DLPerf, which is named 1n8g/rn50_b128_fp32_1.log and has a line for each step"
        )
    form = steps.form
    # A log that has a line for each 100 steps has no line after 20.
    skipped = max(_SKIPPED, form.last_skipped)
    begin = _SKIPPED
    if not steps.counted:
        begin = form.last_skipped if form.last_skipped != AS_NUMBERED else _SKIPPED - (0 in steps.by_step)
    last = max(steps.by_step)
    if last < begin + _TIMED:
        raise Invalid(source, f"{last + skipped - begin} steps, but the window is {_TIMED} after {skipped}")
    step_ns = steps.window(begin, begin + _TIMED)
    between = f", of which {steps.lines_in(begin, begin + _TIMED)} ends are said" if form.measure == STAMP else ""
    counted = ", a line each, which says no number of its step" if steps.counted else ""
    yield run_record(
        {
            "label": form.framework,
            "framework": form.framework,
            "model": name.model,
            "dtype": name.dtype,
            "batch_size": name.batch,
            "ranks": name.devices,
            "ranks_per_host": [name.devices_per_node] * name.nodes,
            "warmup_steps": skipped,
            "steps": _TIMED,
        },
        [rank(step_ns)],
        experiment=NAME,
        run=max(0, name.repetition - 1),
        adapter={
            "formula": f"{_TIMED} steps after {skipped}{counted}{between}, samples over the sum of their times; DLPerf's "
            f"own extractor takes the {form.extractor}"
        },
    )
