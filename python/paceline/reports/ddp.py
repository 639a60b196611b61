# SPDX-License-Identifier: Apache-2.0
"""Prints and writes what PyTorch's DDP benchmark and its diff.py do, to the character.

    python3 -m paceline.reports.ddp text|json|diff < CASES

CASES is what the program writes to this module: {"cases": [{"runs": [0, ...], "strategy": "..."}],
"records": [...]}, each case with the indices of its records and its strategy in short; for `diff`,
{"base": CASES, "test": CASES}.  `text` has a banner, the topology, and per model one row a case with
percentiles of the steps of all ranks and runs pooled, and the rate of one rank (batch size / percentile,
truncated).  The words "GPUs" and "nvidia-smi" stay on machines that have none.  Cases that failed have no
row.  `json` is a list of reports: the object that the benchmark's --json writes and its diff.py reads,
what diff.py prints above its tables, and a name where there are several.  diff.py pairs by position and
passes over the first result of a model, which must be the one without DDP; where the records have no such
case, an empty one stands there.

The original measures one backend and one bucket size per call. If the records have several, each
has its own banner and tables. The case without DDP stands in all these tables, because it is run
once for all bucket sizes. If two rows of a table would have the same name, the later one also
states the keys in which it differs: "1M/2G dtype=bf16".
"""

import json
import re
import sys
from dataclasses import dataclass, field

from .facts import number
from .markdown import printable
from .run_log import run_module

# The keys that the reports of the benchmark have.  Imported records are compared in these keys
# only.
_IMPORTED = ("model", "batch_size", "ranks", "strategy", "bucket_mib", "engine")


def quantile(values: list, share: float) -> float:
    """Returns a quantile of sorted values by linear interpolation, as numpy does."""
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


class Case:
    def __init__(self, given: dict, records: list):
        self.runs = [records[index] for index in given["runs"]]
        self.strategy = given["strategy"]
        self.first = self.runs[0]
        self.c = self.first["configuration"]
        self.imported = self.first["source"] == "imported"
        self.measured = [
            run for run in self.runs if run["error"] is None and any(rank["step_ns"] for rank in run["ranks"])
        ]
        plain = self.c["strategy"] == "none"
        self.without_ddp = plain if self.imported else plain and self.c["ranks"] == 1

    def seconds(self) -> list:
        """Returns the step times of all ranks and runs, one after the other."""
        return [ns / 1e9 for run in self.measured for rank in run["ranks"] for ns in rank["step_ns"]]

    def padded_label(self) -> str:
        """Returns the label, padded as in the original: "no ddp" with two blanks and "1M/1G" with
        three, whatever the number of digits."""
        label = self.c["label"] or self.c["strategy"] or ""
        return "   " + label if "M/" in label else f"{label:>8}"

    def call(self) -> tuple:
        """Returns the engine and the bucket size; for a strategy without buckets, the bucket size that was asked for.
        """
        size = re.search(r"[:,]bucket-mb=([0-9.]+)", self.c["strategy"] or "")
        return self.c["engine"] or "", float(size[1]) if size else self.c["bucket_mib"] or 0

    def fields(self) -> dict:
        texts = {}
        for key, value in self.c.items():
            if key == "env":
                texts |= {f"env.{name}": text for name, text in (value or {}).items()}
            elif key not in ("label", "discard", "not_run"):
                texts[key] = "-" if value is None else value if isinstance(value, str) else json.dumps(value)
        return texts


def _suffix(case: Case, earlier: list) -> str:
    """Returns the keys in which a case differs from an earlier one with the same name."""
    name = (case.c["ranks"], case.padded_label())
    same = next((one for one in earlier if (one.c["ranks"], one.padded_label()) == name), None)
    if same is None:
        return ""
    before, after = same.fields(), case.fields()
    suffix = ""
    for key in before | after:
        value = after.get(key, "-")
        if before.get(key, "-") != value and (key in _IMPORTED or not (same.imported or case.imported)):
            suffix += f" {key}={case.strategy if key == 'strategy' else value}"
    if same.first["source"] != case.first["source"]:
        suffix += f" source={case.first['source']}"
    return suffix or f" experiment={case.first['experiment']}"


@dataclass
class Table:
    call: tuple
    model: str
    batch_size: int
    rows: list = field(default_factory=list)
    suffixes: list = field(default_factory=list)

    def work(self) -> tuple:
        return self.model, self.batch_size

    def has_case_without_ddp(self) -> bool:
        return any(one.without_ddp for one in self.rows)


def _share_cases_without_ddp(tables: list) -> None:
    """Adds to each table the case without DDP of another table of the same model and batch size,
    preferably of the same engine. A table that has no other case is left out."""
    borrowed, emptied = [], []
    for table in tables:
        lenders = [one for one in tables if one.work() == table.work() and one.has_case_without_ddp()]
        if table.has_case_without_ddp() or not lenders:
            borrowed.append([])
            continue
        lender = next((one for one in lenders if one.call[0] == table.call[0]), lenders[0])
        borrowed.append([one for one in lender.rows if one.without_ddp])
        if len(borrowed[-1]) == len(lender.rows):
            emptied.append(lender)
    for table, cases in zip(tables, borrowed, strict=True):
        table.rows = cases + table.rows
    tables[:] = [table for table in tables if not any(table is one for one in emptied)]


def tables_of(given: dict) -> list:
    tables = []
    for case in (Case(one, given["records"]) for one in given["cases"]):
        key = case.call(), case.c["model"] or "", case.c["batch_size"] or 0
        table = next((one for one in tables if (one.call, *one.work()) == key), None)
        if table is None:
            tables.append(table := Table(*key))
        table.rows.append(case)
    _share_cases_without_ddp(tables)
    for table in tables:
        table.suffixes = [_suffix(case, table.rows[:i]) for i, case in enumerate(table.rows)]
    return tables


def _header_record(tables: list, call: tuple) -> dict:
    """Returns the record whose environment the header of a call shows: the first one that did not fail."""
    runs = [run for table in tables if table.call == call for case in table.rows for run in case.runs]
    return next((run for run in runs if run["error"] is None), runs[0])


def _banner(record: dict, bucket_mb: float) -> str:
    environment, c = record["environment"], record["configuration"]
    hosts, rule = environment["hosts"], "-" * 35
    bucket = "-" if c.get("command") else f"{number(bucket_mb)}MB"
    return (
        f"{rule}\nPyTorch distributed benchmark suite\n{rule}\n\n"
        f"* PyTorch version: {environment['torch_version'] or '-'}\n"
        f"* CUDA version: {environment['cuda_version']}\n"
        f"* Distributed backend: {c['engine'] or '-'}\n* Maximum bucket size: {bucket}\n\n"
        f"--- nvidia-smi topo -m ---\n\n{hosts[0]['topology'] if hosts else ''}\n{'-' * 26}\n\n"
    )


def _row(case: Case, suffix: str) -> str:
    seconds = sorted(case.seconds())
    if not seconds:
        return ""
    text = f"{case.c['ranks'] or 1:>4} GPUs -- {case.padded_label()}{suffix}:"
    for percentage in (50, 75, 90, 95):
        value = quantile(seconds, percentage / 100)
        rate = int((case.c["batch_size"] or 0) / value) if value > 0 else 0
        text += f"  p{percentage:02}:  {value:.3f}s  {rate:>6}/s"
    return text + "\n"


def text(given: dict) -> str:
    printed, before, tables = "", None, tables_of(given)
    for table in tables:
        if table.call != before:
            printed += "\n" if before else ""
            printed += _banner(_header_record(tables, table.call), table.call[1])
        printed += f"\nBenchmark: {table.model} with batch size {table.batch_size}\n\n{'':22}"
        printed += f"{'sec/iter':>14}{'ex/sec':>10}" * 4 + "\n"
        printed += "".join(_row(*one) for one in zip(table.rows, table.suffixes, strict=True))
        before = table.call
    return printed


def _results(table: Table, suffix: str) -> list:
    """Returns the results of the rows with this suffix; the case without DDP comes first."""
    rows = [
        case for case, one in zip(table.rows, table.suffixes, strict=True) if one == suffix and case.measured
    ]
    if rows and not any(case.without_ddp for case in rows):
        rows = [case for case in table.rows if case.without_ddp and case.measured][:1] + rows
    if rows and not rows[0].imported:
        rows.sort(key=lambda case: (case.c["ranks"] or 1, not case.without_ddp))
    results = [] if rows and rows[0].without_ddp else [{"ranks": [0], "measurements": []}]
    for case in rows:
        ranks = [rank["rank"] for rank in case.measured[0]["ranks"]]
        results.append({"ranks": ranks, "measurements": case.seconds()})
    return results


def _facts(report: dict) -> dict:
    """Returns every key of the report except its results, with its value as Python prints it."""
    return {key: str(value) for key, value in report.items() if key != "benchmark_results"}


def _name(call: tuple, suffix: str, reports: list) -> str:
    """Returns a name such as "gloo-1MB-strategy_fusion" from those parts in which the reports differ."""
    parts = []
    if len({one[0] for one, _ in reports}) > 1:
        parts.append(call[0])
    if len({one[1] for one, _ in reports}) > 1:
        parts.append(f"{number(call[1])}MB")
    if suffix:
        parts.append(suffix[1:])
    return re.sub(r"[^A-Za-z0-9.+-]", "_", "-".join(parts))


def reports(given: dict) -> list:
    tables = tables_of(given)
    keys = list(dict.fromkeys((table.call, suffix) for table in tables for suffix in table.suffixes))
    found = []
    for call, suffix in keys:
        first = _header_record(tables, call)
        report = {
            "pytorch_version": first["environment"]["torch_version"],
            "cuda_version": first["environment"]["cuda_version"],
            "distributed_backend": call[0],
            "bucket_size": int(call[1]) if call[1] == int(call[1]) else call[1],
            "benchmark_results": [
                {"model": table.model, "batch_size": table.batch_size, "result": _results(table, suffix)}
                for table in tables
                if table.call == call and suffix in table.suffixes
            ],
        }
        told = first["source"] == "imported" and first["experiment"] == "ddp" and first.get("adapter")
        found.append({"name": _name(call, suffix, keys), "report": report, "facts": told or _facts(report)})
    return found


def _diff_row(base: dict, test: dict, batch_size: int) -> str:
    before, after = (sorted(one["measurements"]) for one in (base, test))
    if len(base["ranks"]) != len(test["ranks"]) or not before or not after:
        return ""
    printed = f"{len(test['ranks']):>4} GPUs:"
    for percentage in (75, 95):
        old, new = (quantile(seconds, percentage / 100) for seconds in (before, after))
        if old <= 0 or new <= 0:
            return ""
        change = -100 * ((new - old) / old)
        printed += f"  p{percentage:02}: {new:8.3f}s {int(batch_size / new):7}/s {change:+8.1f}%"
    return printed + "\n"


def _diff_of_reports(base: dict, test: dict) -> str:
    rule = "-" * 20
    printed = f"{'':20} {'baseline':>20}      {'test':>20}\n{'':20} {rule}      {rule}\n"
    for key in sorted(base["facts"] | test["facts"]):
        sides = (printable(one["facts"].get(key, "-")) for one in (base, test))
        printed += f"{printable(key + ':'):20} {next(sides):>20}  vs  {next(sides):>20}\n"
    printed += "\n"
    pairs = zip(*(one["report"]["benchmark_results"] for one in (base, test)), strict=False)
    for before, after in pairs:
        if any(before[key] != after[key] for key in ("model", "batch_size")):
            continue
        printed += f"Benchmark: {printable(after['model'])} with batch size {after['batch_size']}\n\n{'':10}"
        printed += f"{'sec/iter':>16}{'ex/sec':>10}{'diff':>10}" * 2 + "\n"
        results = zip(before["result"][1:], after["result"][1:], strict=False)
        printed += "".join(_diff_row(*one, after["batch_size"]) for one in results) + "\n"
    return printed


def diff(given: dict) -> str:
    """Returns the text of diff.py: every key above the results, then reports, models and rows,
    which are paired by position. Pairs with other work or numbers of ranks are skipped. A
    difference is positive if the test is faster."""
    empty = {"report": {"benchmark_results": []}, "facts": {}}
    base, test = (reports(given[side]) or [empty] for side in ("base", "test"))
    return "".join(_diff_of_reports(*pair) for pair in zip(base, test, strict=False))


if __name__ == "__main__":
    sys.exit(run_module({"text": text, "json": lambda it: json.dumps(reports(it)), "diff": diff}))
