# SPDX-License-Identifier: Apache-2.0
"""Prints the runs of jobs with embedding tables, by trainer and by epochs of ten steps.

    python3 -m paceline.reports.ddp_rpc text|trainers < RECORDS

`text` is what PyTorch's DDP and RPC benchmark prints, to the character: a banner, the topology, and a row for
each trainer and for all of them with percentiles of epochs.  The column headed epoch/sec holds examples per
second: those of a trainer's last epoch over the percentile, truncated.

`trainers` has the same rows in columns named for what they hold, with examples as they were processed in all
epochs; below the rows are phases, bytes, the balance of servers and how old rows were.

A run of less than one epoch has a sentence in place of the rows. A run that failed has its error,
followed by the samples until then.
"""

import statistics
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass

from .ddp import quantile
from .markdown import MISSING, counted, printable
from .run_log import has_steps, mean, run_module

_PERCENTILES = (50, 75, 90, 95)
_EPOCH = 10  # steps
_WRAPPER = textwrap.TextWrapper(
    100, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False
)


@dataclass
class _Row:
    """A row of the report: one trainer, or all trainers together."""

    name: str
    trainers: int
    seconds: list  # of its epochs, in seconds, sorted
    examples: list  # number of examples of each epoch
    last_examples: float  # examples of the last epoch of each trainer, summed over the trainers

    def epoch_s(self, percentage: int) -> float:
        return quantile(self.seconds, percentage / 100)


def _examples(run: dict, rank: dict) -> list:
    return rank.get("examples_of_step") or [run["configuration"]["batch_size"]] * len(rank["step_ns"])


def _rows(run: dict) -> list:
    """Returns a row for each rank that trains; steps after the last whole epoch are left out."""
    rows = []
    for rank in run["ranks"]:
        steps, examples = rank["step_ns"], _examples(run, rank)
        begins = range(0, len(steps) - _EPOCH + 1, _EPOCH)
        if begins:
            seconds = sorted(sum(steps[begin : begin + _EPOCH]) * 1e-9 for begin in begins)
            of_epochs = [sum(examples[begin : begin + _EPOCH]) for begin in begins]
            rows.append(_Row(f"Trainer{rank['rank']}", 1, seconds, of_epochs, of_epochs[-1]))
    if rows:
        seconds = sorted(one for row in rows for one in row.seconds)
        examples = [one for row in rows for one in row.examples]
        rows.append(_Row("All", len(rows), seconds, examples, sum(row.last_examples for row in rows)))
    return rows


def _rates(run: dict) -> str:
    """Returns the rates of trainers whose run has fewer steps than an epoch, and so no percentiles."""
    trainers = [rank for rank in run["ranks"] if rank["step_ns"]]
    seconds = [sum(rank["step_ns"]) * 1e-9 for rank in trainers]
    rates = [sum(_examples(run, rank)) / s if s else 0 for rank, s in zip(trainers, seconds)]
    names = [*(f"Trainer{rank['rank']}" for rank in trainers), "All"]
    words = ", ".join(f"{name} {one:.1f}" for name, one in zip(names, [*rates, sum(rates)]))
    steps = max(len(rank["step_ns"]) for rank in trainers)
    return f"less than {_EPOCH} steps; examples/s over {counted(steps, 'step')}: {words}"


def _failure(run: dict) -> str:
    return printable(run["error"]) + ("; shown are the samples until then" if has_steps(run) else "")


def _runs_to_print(given: dict) -> list:
    """Returns (run, case, description of its job) for each run with samples and each failed run of
    cases with embedding tables."""
    shown = []
    for case in (one for one in given["cases"] if one["job"]):
        records = (given["records"][index] for index in case["runs"])
        runs = [run for run in records if run["error"] is not None or has_steps(run)]
        for run in runs:
            number = f", run {run['run'] + 1}" if len(runs) > 1 else ""
            shown.append((run, case, printable(case["job"] + number)))
    return shown


def _or_reason(texts: list) -> str:
    return "\n".join(texts) or "no record is of a model with embedding tables (hybrid)\n"


def _banner(environment: dict) -> str:
    rule, hosts = "-" * 43, environment["hosts"]
    topology = hosts[0]["topology"] or "" if hosts else ""
    return (
        f"{rule}\n                  Info                     \n{rule}\n\n"
        f"* PyTorch version: {environment['torch_version'] or '-'}\n"
        f"* CUDA version: {environment['cuda_version']}\n\n"
        f"------------ nvidia-smi topo -m -----------\n\n{topology}\n{rule}\n"
        f"PyTorch Distributed Benchmark (DDP and RPC)\n{rule}\n"
    )


def _original_row(row: _Row) -> str:
    text = f"{row.name:>8}:"
    for percentage in _PERCENTILES:
        value = row.epoch_s(percentage)
        rate = int(row.last_examples / value) if value > 0 else 0
        text += f"  p{percentage:02}:  {value:.3f}s  {rate:>6}/s"
    return text + "\n"


def text(given: dict) -> str:
    texts, shown = [], _runs_to_print(given)
    for run, case, job in shown:
        # The original has one table and no words for others.
        one = f"{case['label']}: {job}\n" if len(shown) > 1 else ""
        if run["error"] is not None:
            one += f"{one and chr(10)}failed: {_failure(run)}\n"
        if has_steps(run):
            one += f"{one and chr(10)}{'':10}" + f"{'sec/epoch':>14}{'epoch/sec':>10}" * len(_PERCENTILES) + "\n"
            rows = _rows(run)
            one += "".join(map(_original_row, rows)) if rows else f"{_rates(run)}\n"
        texts.append(one)
    return _or_reason([_banner(shown[0][0]["environment"]), *texts] if texts else [])


def _table(rows: list) -> str:
    """Returns the table.  All trainers work at the same time, so their examples of an epoch add up."""
    cells = [["trainer", *(f"{name} p{p}" for p in _PERCENTILES for name in ("s/epoch", "examples/s"))]]
    for row in rows:
        cells.append([row.name])
        for percentage in _PERCENTILES:
            seconds = row.epoch_s(percentage)
            examples = row.trainers * mean(row.examples)
            cells[-1] += [f"{seconds:.4f}", f"{examples / seconds:.1f}" if seconds > 0 else MISSING]
    widths = [max(map(len, column)) for column in zip(*cells)]
    return "".join(
        line[0].ljust(widths[0]) + "".join(f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:])) + "\n"
        for line in cells
    )


def _phases(run: dict):
    phases = {}
    for rank in run["ranks"]:
        for phase, times in rank["phase_ns"].items():
            phases.setdefault(phase, []).extend(times)
    medians = [f"{phase} {statistics.median(ns) * 1e-6:.3f}" for phase, ns in sorted(phases.items()) if ns]
    yield (
        "phases",
        f"median ms of a trainer's step: {', '.join(medians)}; forward and backward are the dense part, with "
        "ddp backward includes its reduction; wait is what the training thread stood for; the others go on "
        "beside, and lookup includes waiting behind other operations",
    )


def _lookups(run: dict):
    """Returns lines about lookups: bytes per step by kind and direction, the effect of
    deduplication, and the balance of the servers."""
    counts, distinct = Counter(), Counter()
    for lookups in filter(None, (rank.get("lookups") for rank in run["ranks"])):
        counts.update({key: value for key, value in lookups.items() if key != "distinct_rows_by_server"})
        distinct.update(dict(enumerate(lookups["distinct_rows_by_server"])))
    if not counts["rows"]:
        return
    steps = sum(len(rank["step_ns"]) for rank in run["ranks"])  # summed over all trainers
    ids, rows, gradients = (counts[key] / steps for key in ("id_bytes", "row_bytes", "gradient_bytes"))
    patterns = ", ".join(
        f"{pattern} {count}{' (those of rows too)' if pattern == 'message' else ''}"
        for pattern, count in sorted(run["wire"]["bytes_by_pattern"].items())
    )
    yield (
        "bytes",
        f"of a trainer's step: ids {ids:.0f}, rows {rows:.0f}, gradients of rows {gradients:.0f}"
        + (f"; by pattern: {patterns}" if patterns else ""),
    )
    sent = sum(distinct.values())
    yield (
        "lookups",
        f"{counts['rows'] / steps:.1f} rows a step, {sent / steps:.1f} of them distinct: deduplication leaves "
        f"{100 * sent / counts['rows']:.1f} %",
    )
    fullest = max(distinct.values()) * len(distinct) / max(sent, 1)
    yield "servers", f"the fullest of {len(distinct)} was asked for {fullest:.2f} times the mean"


def _staleness(run: dict):
    """Returns lines that say how stale the looked-up rows were; nothing if the job allows no
    staleness."""
    missed = Counter()
    for rank in run["ranks"]:
        missed.update(dict(enumerate(rank.get("averages_by_steps_missed", ()))))
    lookups = sum(missed.values())
    if run["configuration"].get("staleness") and lookups:
        most = max((steps for steps, count in missed.items() if count), default=0)
        yield (
            "staleness",
            f"{100 * (lookups - missed[0]) / lookups:.1f} % of the lookups at servers missed updates, of "
            f"{counted(most, 'step')} at most; results differ from run to run",
        )


def _notes(run: dict, rows: list):
    if run["error"] is not None:
        yield "failed", _failure(run)
    if not has_steps(run):
        return
    if not rows:
        yield "no epoch", _rates(run)
    yield (
        "s/epoch",
        "seconds of ten steps, drawing the batches included; percentiles over the epochs of the trainer, or of all",
    )
    yield (
        "examples/s",
        "examples of an epoch, the mean over those that were processed, over that time; all: of all trainers, "
        "which work at once",
    )
    yield from _phases(run)
    yield from _lookups(run)
    yield from _staleness(run)
    for one in run["warnings"]:
        yield "warning", printable(f"{one['seen']}: {one['why']}; {one['advice']}")


def trainers(given: dict) -> str:
    texts = []
    for run, case, job in _runs_to_print(given):
        rows = _rows(run)
        one = printable(f"{run['configuration']['model']} with {case['label']}: ") + f"{job}\n\n{_table(rows)}\n"
        for term, note in _notes(run, rows):
            one += _WRAPPER.fill(f"{term:<12}{note}") + "\n"
        texts.append(one)
    return _or_reason(texts)


if __name__ == "__main__":
    sys.exit(run_module({"text": text, "trainers": trainers}))
