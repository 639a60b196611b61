# SPDX-License-Identifier: Apache-2.0
"""Tables that compare programs: one model in one number type, with a column for each program."""

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from .facts import facts_of, merged_facts, number
from .markdown import MISSING

FEWEST_RUNS = 3  # fewest runs from which an interval is computed


class Devices(NamedTuple):
    """A number of devices on a number of nodes; 0 if the source does not state it."""

    nodes: int
    devices: int

    @classmethod
    def of(cls, run: dict):
        asked = run["configuration"]
        hosts = len(asked.get("ranks_per_host") or ())
        return cls(max(1, hosts), asked["ranks"]) if asked["ranks"] else cls(0, 0)

    @property
    def place(self) -> str:
        return f"{self.nodes}n{self.devices}d"


ONE = Devices(1, 1)


@dataclass
class Cell:
    """Throughput of one column on one number of devices."""

    rate: float | None  # samples per second of all devices, the median of the runs
    interval: tuple | None
    runs: list  # the runs that have a rate
    printed: str = ""  # the rate as its source printed it; empty: measured here
    why: str = ""  # the reason if there is no rate
    failed: bool = False  # whether there is no rate because a run failed

    def text(self) -> str:
        """Returns "1412.3 [1380.1, 1440.2]"; "failed", "not run" or "-" if there is no rate."""
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
    facts: dict  # facts that its programs reported, and the configuration's recipe
    varied: set  # facts in which its runs differ
    cells: dict  # cells by number of devices (Devices)

    def rate(self, devices) -> float | None:
        return self.cells[devices].rate if devices in self.cells else None

    def speed_up(self, devices) -> float | None:
        """Returns the rate relative to one device of the same column."""
        one, many = self.rate(ONE), self.rate(devices)
        return None if one is None or many is None else many / one

    def speed_up_text(self, devices) -> str:
        """Returns "7.87x, 98.4 %", with as many digits as the source printed; "-" if there is none.
        """
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
    rows: list  # the numbers of devices (Devices) that have a row
    columns: list


def unit_of(model: str) -> str:
    model = model.lower()
    if "bert" in model:
        return "sentences/s"
    return "img/s" if "net" in model else "samples/s"


def _title(run: dict, usual_batch: int) -> str:
    """Returns the title of a framework's column, with the batch size if it is not the table's."""
    asked, said, imported = run["configuration"], run["adapter"], run["source"] == "imported"
    framework, label = asked.get("framework"), asked["label"] or asked["strategy"]
    own = not framework and not imported and not asked.get("command")
    title = framework or (f"paceline {label}" if own else label)
    # A framework that always compiles has its name as its label.
    compiled = asked.get("compiled") and (imported or asked["label"] != framework)
    for words, holds in (
        ("w/XLA" if imported else "compiled", compiled),
        ("W/O clip", said.get("clipping") == "off"),
        ("w/DALI", said.get("dali") == "header"),
    ):
        if holds and words not in title:  # the names of imported tables may contain the words
                                          # already
            title += f" {words}"
    more = [asked["python"]] if asked.get("python") else []
    if not imported:
        more += [f"{name}={value}" for name, value in asked.get("env", {}).items()]
    if asked["batch_size"] not in (None, 0, usual_batch):
        more.append(f"bsz={asked['batch_size']}")
    return " ".join([title, *more])


def _usual_batch(runs: list) -> int:
    """Returns the batch size that most columns have; of several such sizes, the smallest."""
    titles = {(run["configuration"]["batch_size"] or 0, _title(run, 0)) for run in runs}
    counts = Counter(batch for batch, _ in titles)
    return min(counts, key=lambda batch: (-counts[batch], batch))


# Keys that a title states, or in which rows of one column differ.
_NOT_SETTINGS = {
    *("label", "framework", "compiled", "python", "env", "batch_size"),
    *("ranks", "ranks_per_host", "seed", "discard", "not_run"),
}
# Values that the program chooses if the user does not state them. They count as settings only if
# runs on the same devices differ in them.
_CHOSEN = {"threads", "warmup_steps", "steps"}


def _settings(run: dict) -> dict:
    imported = run["source"] == "imported"
    return {
        name: number(value) if isinstance(value, float) else str(value)
        for name, value in run["configuration"].items()
        if value is not None and name not in _NOT_SETTINGS and not (imported and name == "steps")
    }


def _differing(settings: list, names) -> list:
    return [name for name in names if len({one.get(name) for one in settings}) > 1]


def _column_titles(runs: list, usual_batch: int) -> list:
    """Returns the titles of the runs.  If runs with different settings have the same title, the
    differing settings are appended."""
    titles = [_title(run, usual_batch) for run in runs]
    settings = [_settings(run) for run in runs]
    told = list(titles)
    for title in set(titles):
        same = [i for i, one in enumerate(titles) if one == title]
        names = dict.fromkeys(name for i in same for name in settings[i])
        asked = _differing([settings[i] for i in same], (n for n in names if n not in _CHOSEN))
        beside = {}
        for i in same:
            key = (Devices.of(runs[i]), *(settings[i].get(name) for name in asked))
            beside.setdefault(key, []).append(settings[i])
        chosen = [_differing(some, (n for n in names if n in _CHOSEN)) for some in beside.values()]
        shown = {*asked, *(name for some in chosen for name in some)}
        for i in same:
            more = [f" {n}={settings[i][n]}" for n in names if n in shown and n in settings[i]]
            told[i] = title + "".join(more)
    return told


def _cell(runs: list, cases: list) -> Cell:
    rated = [run for run in runs if run["samples_per_s"] is not None]
    cell = Cell(median(run["samples_per_s"] for run in rated) if rated else None, None, rated)
    if len({run["case"] for run in rated}) == 1:
        case = cases[rated[0]["case"]]
        low, high = case["examples_per_s_low"], case["examples_per_s_high"]
        cell.interval = None if low is None else (low, high)
    for run in runs:
        if run["samples_per_s"] is not None:
            cell.printed = run["adapter"].get("reported_samples_per_s", "")
        elif run["error"] is not None:
            cell.why, cell.failed = run["error"], not run["not_run"]
    return cell


def _column(title: str, runs: list, report: dict) -> Column:
    facts, varied = merged_facts(facts_of(run, report["environments"]) for run in runs)
    cells = {}
    for run in runs:
        cells.setdefault(Devices.of(run), []).append(run)
    cells = {devices: _cell(some, report["cases"]) for devices, some in sorted(cells.items())}
    return Column(title, facts, varied, cells)


def _has_largest_batch(run: dict) -> bool:
    return run["adapter"].get("batch_mode") == "max"


def _comparison(runs: list, report: dict) -> Comparison:
    largest = any(map(_has_largest_batch, runs))
    batch = 0 if largest else _usual_batch(runs)
    columns = {}
    for run, title in zip(runs, _column_titles(runs, batch)):
        columns.setdefault(title, []).append(run)
    first = runs[0]["configuration"]
    model, dtype = first["model"] or MISSING, first["dtype"] or MISSING
    return Comparison(
        model=model,
        dtype=dtype,
        title=f"{dtype.upper()}, batch size = {'max' if largest else batch or MISSING}",
        unit=unit_of(model),
        imported=runs[0]["source"] == "imported",
        rows=sorted(dict.fromkeys(map(Devices.of, runs)), key=lambda row: row.devices),
        columns=[_column(title, some, report) for title, some in columns.items()],
    )


def comparisons(report: dict) -> list:
    """Returns the tables made from the output of `paceline report --format json`.

    They are in the order of their first runs: by origin, experiment, model and number type, and of
    runs that were not imported by batch size.
    """
    rows = (row for table in report["tables"] for row in table["cases"])
    case_of = {index: row["case"] for row in rows for index in row["records"]}
    tables = {}
    for index, case in sorted(case_of.items()):
        run = report["runs"][index] | {"case": case}
        asked, imported = run["configuration"], run["source"] == "imported"
        if run["source"] != "predicted":
            batch = None if imported or _has_largest_batch(run) else asked["batch_size"]
            key = (imported, run["experiment"], asked["model"], asked["dtype"], batch)
            tables.setdefault((*key, bool(asked.get("command"))), []).append(run)
    return [_comparison(runs, report) for runs in tables.values()]
