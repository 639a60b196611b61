# SPDX-License-Identifier: Apache-2.0
"""Tables of programs beside each other: one model in one number type, a column a program."""

from dataclasses import dataclass, field
from typing import NamedTuple

from .facts import facts_of, merged
from .markdown import MISSING

FEWEST_RUNS = 3  # that have an interval


class Devices(NamedTuple):
    """A number of devices on a number of nodes; 0 where the source does not say it."""

    nodes: int
    devices: int

    @classmethod
    def of(cls, row: dict):
        return cls(row["nodes"] or 0, row["devices"] or 0)

    @property
    def place(self) -> str:
        return f"{self.nodes}n{self.devices}d"


ONE = Devices(1, 1)


@dataclass
class Cell:
    """Throughput of one column on one number of devices."""

    rate: float | None  # samples per second of all devices, the median of the runs
    interval: tuple | None
    runs: list  # those that have a rate
    printed: str = ""  # the rate as its source printed it; empty: measured here
    why: str = ""  # there is no rate: why
    failed: bool = False  # there is none, since a run failed

    def text(self) -> str:
        """ "1412.3 [1380.1, 1440.2]"; "failed", "not run" or "-" where there is no rate."""
        if self.printed:
            return self.printed
        if self.rate is None:
            return MISSING if not self.why else "failed" if self.failed else "not run"
        decimals = 2 if self.rate < 1000 else 1
        text = f"{self.rate:.{decimals}f}"
        if self.has_interval():
            low, high = self.interval
            text += f" [{low:.{decimals}f}, {high:.{decimals}f}]"
        return text

    def has_interval(self) -> bool:
        return self.interval is not None and len(self.runs) >= FEWEST_RUNS


@dataclass
class Column:
    title: str
    facts: dict  # what its programs said of themselves, and the configuration's recipe
    varied: set  # facts in which its runs differ
    cells: dict  # by Devices

    def rate(self, devices) -> float | None:
        return self.cells[devices].rate if devices in self.cells else None

    def speed_up(self, devices) -> float | None:
        """Against one device of the same column."""
        one, many = self.rate(ONE), self.rate(devices)
        return None if one is None or many is None else many / one

    def speed_up_text(self, devices) -> str:
        """ "7.87x, 98.4 %", with as many digits as the source printed; "-" where there is none."""
        times = self.speed_up(devices)
        if times is None:
            return MISSING
        published = self.cells[devices].runs[0]["adapter"].get("published_speed_up", "")
        _, point, digits = published.partition(".")
        decimals = min(max(len(digits), 2), 6) if point else 2
        return f"{times:.{decimals}f}x, {100 * times / devices.devices:.1f} %"


@dataclass
class Comparison:
    model: str
    dtype: str
    title: str  # "FP32, batch size = 128"
    unit: str
    imported: bool
    rows: list  # of Devices
    columns: list
    unequal: list = field(default_factory=list)  # which columns do not train the same


def unit_of(model: str) -> str:
    model = model.lower()
    if "bert" in model:
        return "sentences/s"
    return "img/s" if "net" in model else "samples/s"


def _cell(one: dict, runs: list) -> Cell:
    low, high = one["samples_per_s_low"], one["samples_per_s_high"]
    cell = Cell(one["samples_per_s"], None if low is None else (low, high), [])
    for run in (runs[i] for i in one["runs"]):
        if run["samples_per_s"] is not None:
            cell.runs.append(run)
            cell.printed = run["adapter"].get("reported_samples_per_s", "")
        elif run["error"] is not None:
            cell.why, cell.failed = run["error"], not run["not_run"]
    return cell


def _column(one: dict, report: dict) -> Column:
    runs = report["runs"]
    order = sorted(i for cell in one["cells"] for i in cell["runs"])
    facts, varied = merged(facts_of(runs[i], report["environments"]) for i in order)
    cells = {Devices.of(c): _cell(c, runs) for c in one["cells"]}
    return Column(one["title"], facts, varied, cells)


def _comparison(one: dict, report: dict) -> Comparison:
    model, dtype = one["model"] or MISSING, one["dtype"] or MISSING
    return Comparison(
        model=model,
        dtype=dtype,
        title=f"{dtype.upper()}, batch size = {one['batch_size'] or MISSING}",
        unit=unit_of(model),
        imported=one["imported"],
        rows=list(map(Devices.of, one["devices"])),
        columns=[_column(column, report) for column in one["columns"]],
        unequal=one["unequal_training"],
    )


def comparisons(report: dict) -> list:
    """The tables of what `paceline report --format json` printed."""
    return [_comparison(one, report) for one in report["comparisons"]]
