# SPDX-License-Identifier: Apache-2.0
"""DLPerf's report of frameworks side by side, in GitHub's Markdown.

    paceline report --format json FILE... | python3 -m paceline.reports.dlperf

Environment, frameworks with version and features, options, and for each model and number type a
table of throughput, one of speed-up and efficiency, a chart of each, and the findings.
"""

import argparse
import json
import pathlib
import sys

from .charts import mermaid_charts
from .markdown import escaped
from .side_by_side import PARTS, Report

_HOST_FACTS = (
    "cpu_model",
    "sockets",
    "cores",
    "usable_cores",
    "memory_gib",
    "gpus",
    "driver",
    "os",
    "kernel",
    "virtualized",
    "governor",
    "load_average",
)


def _environment(runs):
    shown = set()
    for host in (host for run in runs for host in run["hosts"]):
        if host["host"] in shown:
            continue
        shown.add(host["host"])
        facts = host["facts"]
        texts = [f"{n.replace('_', ' ')} {escaped(facts[n])}" for n in _HOST_FACTS if n in facts]
        yield f"- {escaped(host['host'])}: {'; '.join(texts)}"
        if host["topology"]:
            yield f"\n```\n{host['topology']}\n```\n"
    if not shown:
        yield "Not in the records."


def _result(result):
    yield f"\n### {escaped(result.table.title)}\n"
    yield result.throughput.markdown()
    yield "Speed-up and efficiency against one device of the same column:\n"
    yield result.speed_up.markdown()
    for number, text in enumerate(result.footnotes, 1):
        yield f"({number}) {escaped(text)}  "
    if result.footnotes:
        yield ""
    charts = mermaid_charts(result.table, result.findings)
    if charts:
        yield charts.removesuffix("\n")
    for found in result.findings:
        column = f"**{escaped(found.column)}**: " if found.column else ""
        yield f"- {column}{escaped(found.text)}"


def _lines(report):
    yield "# Frameworks side by side\n"
    yield f"Period: {report.period}.\n"
    yield "## Test environment\n"
    yield from _environment(report.runs)
    yield ""
    yield "## Frameworks\n"
    yield report.frameworks.markdown()
    yield "## Options\n"
    yield from (f"- {term}: {escaped(text)}" for term, text in report.options)
    yield from (f"- **{term}**: {escaped(text)}" for term, text in report.remarks)
    model = ""
    for result in report.results:
        if result.table.model != model:
            model = result.table.model
            yield f"\n## {escaped(model)}: training throughput, {result.table.unit}\n"
        yield from _result(result)


def markdown(report: Report) -> str:
    return "".join(f"{line}\n" for line in _lines(report))


def _read(path) -> Report:
    """Raises ValueError if the file is not the output of `paceline report --format json`."""
    name = path or "stdin"
    text = pathlib.Path(path).read_bytes() if path else sys.stdin.buffer.read()
    try:
        printed = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name} is not what `paceline report --format json` prints: {error}") from None
    missing = [key for key in PARTS if not isinstance(printed, dict) or key not in printed]
    if missing:
        raise ValueError(f"{name} has no {missing[0]}, which `paceline report --format json` prints")
    return Report(printed)


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m paceline.reports.dlperf",
        description="Prints DLPerf's report of what `paceline report --format json` prints.",
    )
    parser.add_argument("file", nargs="?", help="the JSON; stdin where none is given")
    given = parser.parse_args(arguments)
    try:
        report = _read(given.file)
    except (OSError, ValueError) as error:
        print(f"paceline.reports.dlperf: {error}", file=sys.stderr)
        return 2
    sys.stdout.buffer.write(markdown(report).encode("utf-8", errors="replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
