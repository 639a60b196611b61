# SPDX-License-Identifier: Apache-2.0
"""Finds what is wrong with a table that compares programs, or what makes its columns incomparable.

Throughput that falls as devices are added; speed-ups above the number of devices, and published
ones that the throughput beside them contradicts; a loss of more than half within a node, as of an
input pipeline; columns of other recipes or machines; replicas that differ; runs of one column that
differ in their recipe or version, or that spread by more than 3 %; the remarks of the source
itself; and the columns that do not train the same, which the program says.
"""

import math
import re
from dataclasses import dataclass

from .comparison import Devices
from .markdown import counted

MOST_SCALING = 1.02  # largest speed-up, relative to the number of devices, that gives no finding
SPEED_UP_TOLERANCE = 1e-3  # relative tolerance of printed speed-ups, in addition to rounding
LEAST_ON_A_NODE = 0.5  # smallest efficiency within one node that gives no finding
SPREAD = 0.03  # largest coefficient of variation of runs that gives no finding
RECIPE = ("clipping", "loss_scaling", "layout", "data", "objective", "optimizer", "dali")

# Facts by which two columns are compared as to whether they train the same.
_COMPARED = {
    "parameters": "number of parameters",
    "flops": "FLOPs of a sample's forward pass",
    "loss_first": "loss of the first step",
    "loss_fifth": "loss of the fifth step",
}

_LEADING_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.A)


@dataclass
class Finding:
    column: str  # its title; empty: the whole table
    text: str
    excludes: bool = False  # the column must not be compared with others
    where: Devices | None = None  # devices of the affected value; None: all values of the column


def findings(table) -> list:
    found = []
    for column in table.columns:
        for check in (_recipe_findings, _scaling_findings, _run_findings, _remark_findings, _training_findings):
            found += [Finding(column.title, *one) for one in check(column, table)]
    found += [Finding("", text) for text in (*_recipe_differences(table), *_machine_differences(table))]
    return found


def excludes(found, column, devices=None) -> bool:
    """Whether a finding excludes the column, or its value on these devices, from comparison."""
    return any(
        one.excludes
        and one.column == column.title
        and (devices is None or one.where in (None, devices))
        for one in found
    )


def _recipe_findings(column, _table):
    for name in RECIPE:
        if name in column.varied:
            yield (f"its runs differ in {name}: {column.facts[name]}",)
    if "framework_version" in column.varied:
        yield (f"its runs are of several versions: {column.facts['framework_version']}",)


def _scaling_findings(column, table):
    """Checks the speed-ups as the number of devices grows."""
    before = None
    for devices in table.rows:
        rate = column.rate(devices)
        if rate is None:
            continue
        if before is not None and rate < column.rate(before):
            last = column.rate(before)
            yield (
                f"throughput falls from {last:.2f} on {before.place} to {rate:.2f} on {devices.place}",
            )
        before = devices
        times = column.speed_up(devices)
        if times is not None:
            yield from _one_speed_up(times, devices)
            yield from _check_published_speed_up(column, times, devices)


def _one_speed_up(times, devices):
    if times > MOST_SCALING * devices.devices:
        text = f"a speed-up of {times:.2f} on {devices.devices} devices cannot be"
        yield f"{text}: the figures are not of one setting", True
    elif devices.nodes == 1 < devices.devices and times < LEAST_ON_A_NODE * devices.devices:
        yield (
            f"a speed-up of {times:.2f} on {devices.devices} devices of one node, less than "
            "half of linear; the figures do not tell the cause",
        )


def _check_published_speed_up(column, times, devices):
    """Checks a speed-up that its source printed beside the throughput."""
    text = column.cells[devices].runs[0]["adapter"].get("published_speed_up")
    if text is None:
        return
    decimals = len(text.partition(".")[2])
    number = _LEADING_NUMBER.match(text)
    apart = abs((float(number[0]) if number else 0.0) - times)
    if not apart <= 0.5 * math.pow(10, -decimals) + SPEED_UP_TOLERANCE * times:
        yield (
            f"the published speed-up of {text} on {devices.place} is not that of the throughput "
            f"beside it, which is {times:.{max(2, decimals)}f}",
        )


def _run_findings(column, _table):
    for devices, cell in column.cells.items():
        for check in (c for run in cell.runs for c, held in run["verified"].items() if not held):
            place = f"{counted(devices.devices, 'device')} on {counted(devices.nodes, 'node')}"
            yield f"{place}: {check} does not hold", True
        spread = _spread([run["window_s"] for run in cell.runs])
        if spread > SPREAD:
            yield (
                f"the {len(cell.runs)} runs on {devices.place} spread by {100 * spread:.1f} % "
                "(standard deviation over mean)",
            )


def _spread(seconds) -> float:
    """Returns the standard deviation over the mean; 0 for fewer than two values."""
    total = squares = 0.0
    for one in seconds:
        total += one
        squares += one * one
    if len(seconds) < 2 or total == 0:
        return 0.0
    mean = total / len(seconds)
    return math.sqrt(max(0.0, squares / len(seconds) - mean * mean)) / mean


def _remark_findings(column, _table):
    """Returns the remarks of the source about its own values."""
    remarked = set()
    for devices, cell in column.cells.items():
        for run in cell.runs:
            flags = run["adapter"].get("flags")
            if flags is not None and flags not in remarked:
                remarked.add(flags)
                yield (f"the source remarks on {devices.place}: {flags}",)


def _training_findings(column, table):
    """Finds differences from the training of the other columns, and facts that would show them but are missing."""
    for devices, cell in column.cells.items():
        reasons = [run["not_comparable"] for run in cell.runs if run["not_comparable"]]
        if reasons:
            yield f"not comparable: on {devices.place} {reasons[0]}", True, devices
    trained = [run for cell in column.cells.values() for run in cell.runs if _trains(run)]
    unsaid = [
        words for name, words in _COMPARED.items() if any(not run["adapter"].get(name) for run in trained)
    ]
    if unsaid and len(table.columns) > 1:
        yield (f"not compared: its {', '.join(unsaid)}. It does not say this.",)


def _trains(run):
    asked = run["configuration"]
    return run["source"] != "imported" and not asked.get("command") and not asked.get("replay")


def _recipe_differences(table):
    """Finds recipes in which columns differ: "layout: NCHW (pytorch-ddp, paddle); NHWC (jax)"."""
    for name in RECIPE:
        titles = {}
        for column in table.columns:
            if column.facts.get(name):
                titles.setdefault(column.facts[name], []).append(column.title)
        if len(titles) > 1:
            texts = [f"{value} ({', '.join(columns)})" for value, columns in titles.items()]
            yield f"the columns differ in {name}: {'; '.join(texts)}"


def _machine_differences(table):
    runs = [run for column in table.columns for cell in column.cells.values() for run in cell.runs]
    names = {"".join(h["host"] + h["facts"].get("cpu_model", "") for h in run["hosts"]) for run in runs}
    if len(names) > 1:
        yield f"its figures were measured on {len(names)} sets of machines"
