# SPDX-License-Identifier: Apache-2.0
"""DLPerf's report: frameworks, options, and a result for each model and number type."""

from dataclasses import dataclass

from .comparison import Comparison, comparisons
from .findings import excludes, findings
from .markdown import MISSING, Table, counted, printable

PARTS = ("runs", "environments", "cases", "tables")  # the parts of the JSON that a report reads
_FEATURES = ("compiler", "layout", "loss_scaling", "clipping", "dali", "optimizer")
_REMARKS = (("busy-machine", "busy machine"), ("shortened-protocol", "shortened"))


@dataclass
class Result:
    """A comparison with the tables that the report shows."""

    table: Comparison
    throughput: Table
    speed_up: Table
    footnotes: list  # why cells have no figure; a cell shows the number of its reason, from 1
    findings: list


def _result(table) -> Result:
    columns = ["node num", "device num", *(printable(column.title) for column in table.columns)]
    head = f"{table.model}, {table.title}"
    rates = Table(printable(f"{head}: throughput, {table.unit}"), columns, 1)
    speed_ups = Table(printable(f"{head}: speed-up and efficiency"), columns, 1)
    footnotes, found = [], findings(table)
    for row in table.rows:
        place = [str(row.nodes or MISSING), str(row.devices or MISSING)]
        rates.rows.append([*place, *(_rate(column, row, found, footnotes) for column in table.columns)])
        speed_ups.rows.append([*place, *(column.speed_up_text(row) for column in table.columns)])
    return Result(table, rates, speed_ups, footnotes, found)


def _rate(column, row, found, footnotes) -> str:
    cell = column.cells.get(row)
    if cell is None:
        return MISSING
    text = printable(cell.text())
    if cell.rate is not None:
        return f"{text} (not comparable)" if excludes(found, column, row) else text
    why = printable(cell.why)
    if why and why not in footnotes:
        footnotes.append(why)
    return f"{text} ({footnotes.index(why) + 1})" if why else text


def _frameworks(tables) -> Table:
    """Returns a table with version, container, source, exchange, features and data of each column."""
    columns = [(f"{table.model}: {c.title}", c.facts) for table in tables for c in table.columns]
    names = {"version": "framework_version"}
    for name in ("docker", "model_source"):  # only if some record states it
        if any(facts.get(name) for _, facts in columns):
            names[name.replace("_", " ")] = name
    names["exchange"] = "exchange"
    headers = ["column", *names, "features", "data"]
    out = Table("Frameworks", headers, len(headers))
    shown = set()
    for title, facts in columns:
        if title not in shown:
            shown.add(title)
            features = [f"{name.replace('_', ' ')}: {facts[name]}" for name in _FEATURES if facts.get(name)]
            texts = [*(facts.get(name) for name in names.values()), "; ".join(features), facts.get("data")]
            out.rows.append([printable(title), *(printable(text or MISSING) for text in texts)])
    return out


def _period(runs) -> str:
    days = sorted({run["started_at"][:10] for run in runs if run["started_at"]})
    if not days:
        return "not known (the figures were imported)"
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _options(runs, tables) -> list:
    """Returns devices, number types, window and measured value, as pairs of a term and a text."""
    rows = sorted({row for table in tables for row in table.rows})
    places = [
        f"{counted(row.nodes, 'node')}, {counted(row.devices, 'device')}" if row.devices else MISSING
        for row in rows
    ]
    dtypes = sorted({table.dtype for table in tables})
    options = [("devices", "; ".join(places)), ("number types", printable(", ".join(dtypes)))]
    asked = [run["configuration"] for run in runs if run["source"] != "imported" and not run["not_run"]]
    windows = {f"{c['warmup_steps']} steps skipped, {c['steps']} timed" for c in asked}
    if windows:
        options += [
            ("window", "; ".join(sorted(windows))),
            (
                "figure",
                "samples in the window over its wall time on the slowest rank's clock; the median "
                "of the runs, with its 95 % interval where there are three or more",
            ),
        ]
    return options


def _remarks(runs) -> list:
    remarks = []
    for code, words in _REMARKS:
        for warning in (w for run in runs for w in run["warnings"] if w["code"] == code):
            remark = (words, printable(f"{warning['seen']}; {warning['why']}"))
            if remark not in remarks:
                remarks.append(remark)
    return remarks


class Report:
    """A report made from the output of `paceline report --format json`."""

    def __init__(self, printed: dict):
        self.runs = printed["runs"]
        for run in self.runs:
            run["hosts"] = printed["environments"][run["environment"]]["hosts"]
        tables = comparisons(printed)
        self.period = _period(self.runs)
        self.frameworks = _frameworks(tables)
        self.options = _options(self.runs, tables)
        self.remarks = _remarks(self.runs)
        self.results = [_result(table) for table in tables]
