# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium: it says nothing on its console, asks the
network for nothing, shows the numbers of its records, and fits its window.

    page_test.py PAGE_FILE... [--shots FOLDER]

The numbers are computed here again, from the records beside the page, by
docs/measuring.md.  Without a Chromium the test is skipped (exit 77) and says
so; where CI=true is set, that is a failure.
"""

import json
import os
import pathlib
import re
import statistics
import sys

import browser
from recorded_cases import cases_of, slowest

SKIP = 77
# Charts of throughput by ranks, by the name of the recorded page.
BY_RANKS = {"scaling": 1, "growing_predictions": 1, "links_and_ranks": 1}

# Every table of results: its headers, and each row's cells as they are shown.
READ_TABLES = """
[...document.querySelectorAll("section > .scroll > table")].map((table) => ({
  groups: [...table.querySelectorAll(".groups > *")].flatMap((cell) =>
    Array(cell.colSpan).fill(cell.textContent)),
  headers: [...table.querySelectorAll("thead tr:last-child th")].map((c) => c.textContent),
  rows: [...table.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)),
})).filter((table) => table.headers[0] === "case" &&
  table.groups.some((group) => group.startsWith("step time")))
"""

# For every chart: its name, the words in its drawing and their rectangles.
READ_CHARTS = """
[...document.querySelectorAll("figure[data-chart]")].map((figure) => ({
  title: figure.querySelector("figcaption").textContent,
  numbers: [...figure.querySelectorAll(".numbers tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)),
  values: [...figure.querySelectorAll(".row:not([hidden]) .value")].map((e) => e.textContent),
  names: [...figure.querySelectorAll(".row:not([hidden]) .name")].map((e) => e.textContent),
  hatched: figure.querySelectorAll(".track .invalid").length,
  legend: figure.querySelector(".legend") ? figure.querySelector(".legend").textContent : "",
  texts: [...figure.querySelectorAll("svg text, .name, .value, .axis > *")]
    .filter((e) => e.textContent).map((e) => {
      const r = e.getBoundingClientRect();
      return { text: e.closest("svg") ? e.firstChild.textContent : e.textContent,
        x: r.x, y: r.y, width: r.width, height: r.height, scale: !!e.closest(".axis") };
    }),
  marks: figure.querySelectorAll(
    ".plot svg path, .plot svg rect, .plot svg line, .plot svg circle, .rows i").length,
}))
"""


def recorded(path):
    """The records that the page was made from, which lie beside it."""
    lines = pathlib.Path(path).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]



class Failures(list):
    def check(self, holds, words):
        if not holds:
            self.append(words)

    def near(self, shown, value, what):
        """`shown` is `value` rounded to the digits that are shown."""
        number = shown.split(" [")[0].split("[")[0]
        digits = len(number.partition(".")[2])
        self.check(value is not None and abs(float(number) - value) <= 0.5000001 * 10 ** -digits,
                   f"{what}: the page shows {shown!r}, the records say {value}")


def check_prediction(failures, cells, case, scale):
    """The error bar and the bound, where the record has them."""
    name, predicted = cells["case"], case.runs[0].get("predicted")
    shown = {key.split(",")[0]: cell for key, cell in cells.items() if key.startswith("prediction ")}
    if not predicted:
        failures.check(set(shown.values()) <= {"-"}, f"{name}: a bar or a bound of no prediction")
        return
    bound = predicted["bound"]
    failures.near(shown["prediction bound"],
                  (bound["sharper_step_ns"] or bound["step_ns"]) / 1e9 * scale, f"{name} bound")
    bar = predicted["error_bar"]
    words = f"±{100 * bar['share']:.1f} %" + ("" if bar["validated"] else "?")
    failures.check(shown["prediction error bar"] == words,
                   f"{name}: the page shows {shown['prediction error bar']!r}, not {words!r}")


def check_row(failures, cells, case, scale):
    name = cells["case"]
    if not case.runs:
        failures.check(len(cells) < 6, f"{name}: failed, and has figures")
        return
    for header, p in (("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95)):
        failures.near(cells["step " + header], case.percentile(p) * scale, f"{name} {header}")
    failures.near(cells["step median"], case.median() * scale, f"{name} median")
    failures.near(cells["examples all ranks"], case.rate(), f"{name} rate")
    check_prediction(failures, cells, case, scale)
    ranks = case.configuration["ranks"]
    failures.near(cells["examples per rank"], case.rate() / ranks, f"{name} rate per rank")
    if cells["exposed"] != "-":
        failures.near(cells["exposed"], case.exposed() * scale, f"{name} exposed")
    else:
        failures.check(case.exposed() is None, f"{name}: exposed is missing")
    failures.check(cells["ranks"] == str(ranks), f"{name}: ranks {cells['ranks']}")


def check_efficiency(failures, table, cells_of):
    """Against the one-rank case that the table calls the baseline."""
    def program(case):
        return [case.configuration.get(key) for key in ("framework", "env", "compiled")]

    bases = [c for cells, c in zip(cells_of, table) if cells.get("efficiency") == "baseline"]
    for cells, case in zip(cells_of, table):
        shown = cells.get("efficiency", "-")
        if shown not in ("-", "baseline"):
            base = [c for c in bases if program(c) == program(case)]
            # Several strategies on one rank: each is its own baseline.
            if len(base) > 1:
                base = [c for c in base
                        if c.configuration["strategy"] == case.configuration["strategy"]]
            failures.check(len(base) == 1, "no baseline in the table")
            per_rank, alone = (c.rate() / c.configuration["ranks"] for c in (case, base[0]))
            failures.near(shown, 100 * per_rank / alone, cells["case"] + " efficiency")


def named(table, row):
    cells = {}
    for group, header, cell in zip(table["groups"], table["headers"], row):
        first = group.split(",")[0].replace("step time", "step").replace("examples/s", "examples")
        key = {"efficiency": "efficiency", "exposed comm.": "exposed"}.get(
            first, f"{first} {header}".strip())
        cells[key] = cell
    return cells


def check_tables(failures, page, path):
    records = recorded(path)
    shown, tables = page.run(READ_TABLES), cases_of(records)
    failures.check(len(shown) == len(tables), f"{len(shown)} tables for {len(tables)}")
    for table, cases in zip(shown, tables):
        failures.check(len(table["rows"]) == len(cases),
                       f"{len(table['rows'])} rows for {len(cases)} cases")
        unit = next(g for g in table["groups"] if g.startswith("step time")).split(", ")[1]
        scale = {"s": 1, "ms": 1e3, "us": 1e6}[unit]
        cells_of = [named(table, row) for row in table["rows"]]
        for cells, case in zip(cells_of, cases):
            check_row(failures, cells, case, scale)
        check_efficiency(failures, cases, cells_of)
    return sum(len(t["rows"]) for t in shown)


def overlap(a, b):
    """Whether two words share more than a pixel's breadth of ink."""
    return (min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"]) > 1 and
            min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"]) > 3)


def check_charts(failures, page, path):
    charts = page.run(READ_CHARTS)
    failures.check(charts, "no charts")
    records = recorded(path)
    worlds = {record["configuration"]["ranks"] for record in records}
    says_ranks = [name for chart in charts for name in chart["names"] or []
                  if re.search(r", \d+ ranks?$", name)]
    failures.check(len(worlds) > 1 or not says_ranks,
                   f"the labels of {worlds} ranks say so: {says_ranks}")
    for chart in charts:
        title = chart["title"]
        failures.check(chart["marks"] > 3, f"{title}: nothing is drawn")
        units = [t["text"] for t in chart["texts"]
                 if re.search(r"(, \S+|ranks|steps|devices)$", t["text"])]
        failures.check(units, f"{title}: no axis names a unit")
        texts = chart["texts"]
        for i, one in enumerate(texts):
            for other in texts[i + 1:]:  # the scale of rows stays in view above them
                failures.check(one["scale"] != other["scale"] or not overlap(one, other),
                               f"{title}: {one['text']!r} overlaps {other['text']!r}")
        if chart["names"]:
            shown = {name.replace(" ", "") for name in page.run(READ_CASE_NAMES)}
            names = {name.replace(" ", "") for name in chart["names"]}
            failures.check(names <= shown, f"{title}: not all names are whole: {names - shown}")
            late = sum("(INVALID)" in name for name in chart["names"])
            failures.check(chart["hatched"] == late and
                           (late > 0) == ("INVALID" in chart["legend"]),
                           f"{title}: {chart['hatched']} hatched of {late} INVALID rows")
        if chart["title"] == "Throughput, all ranks":
            rates = [case.rate() for cases in cases_of(records) for case in cases if case.runs]
            for value in chart["values"]:
                shown = float(value.split(" [")[0].rstrip("*"))
                failures.check(any(abs(rate - shown) <= 0.001 * rate for rate in rates),
                               f"{title}: drawn {value}, of no case: {rates}")


def slower_than_link(check):
    """Whether the steps of a record may be more than 2 % too long for its emulated link."""
    if not check:
        return False
    if check.get("window_ns"):
        return check["overdue_ns"] > 0.02 * check["window_ns"]
    return check["late_operations"] > 0


def check_links_chart(failures, page, path):
    """Every point of the chart is the median of the case that it names."""
    medians = set()
    for case in (c for cases in cases_of(
            recorded(path)) for c in cases):
        link = case.configuration.get("link")
        rate = link and re.fullmatch(r"(.+?)(Gbit|B/s)(,.*)?", link)
        if rate and case.runs:
            gbit = float(rate[1]) * {"Gbit": 1, "B/s": 8e-9}[rate[2]]
            invalid = any(slower_than_link(r.get("link_check")) for r in case.runs)
            name = case.configuration["strategy"] + (" (INVALID)" if invalid else "")
            medians.add((name, f"{gbit:.4g}", case.median()))
    for chart in page.run(READ_CHARTS):
        if chart["title"] == "Step time by link rate":
            failures.check(len(chart["numbers"]) == len(medians),
                           f"{len(chart['numbers'])} points for {len(medians)} cases")
            for name, rate, step in chart["numbers"]:
                found = [m for n, r, m in medians if (n, f"{float(r):.4g}") ==
                         (name, f"{float(rate):.4g}")]
                failures.near(step, found[0] * 1e3 if found else None, f"{name} at {rate} Gbit/s")


def check_training(failures, page, path):
    """Curves and table are the records' evaluations: means over ranks, medians over seeds."""
    records = recorded(path)
    trained, priced = {}, {}
    for r in records:
        c = r["configuration"]
        if r["source"] == "predicted" and c.get("cluster"):
            priced[c["strategy"]] = statistics.mean(slowest(r))
        ranks = [k["evaluations"] for k in r["ranks"] if k.get("evaluations")]
        if ranks:
            trained.setdefault(c["strategy"], []).append([
                (at[0]["step"], max(e["trained_ns"] for e in at) / 1e9,
                 max(e["sent_bytes"] for e in at) / 1e6,
                 100 * statistics.mean(e["accuracy"] for e in at),
                 statistics.mean(e["loss"] for e in at)) for at in zip(*ranks)])
    places = {"step": lambda p, s: p[0], "time here": lambda p, s: p[1],
              "bytes sent": lambda p, s: p[2],
              "predicted time on two hosts": lambda p, s: p[0] * priced[s] if s in priced else None}
    along = {f"{value} by {by}": place
             for value in ("Accuracy", "Loss") for by, place in places.items()}
    charts, most = {}, 12
    for c in page.run(READ_CHARTS):
        title, _, part = c["title"].partition(", cases ")
        if title in along:
            charts.setdefault(title, []).extend(c["numbers"])
            names = {row[0] for row in c["numbers"]} - {"target"}
            failures.check(len(names) <= most and bool(part) == (len(trained) > most),
                           f"{c['title']} draws {len(names)} of {len(trained)} cases")
    failures.check(len(charts) == (8 if priced else 6) if trained else not charts,
                   f"charts of training: {list(charts)}")
    for title, numbers in charts.items():
        shown_at = 4 if title.startswith("Loss") else 3
        wanted = [[s, f"{along[title](p, s):.4g}", f"{p[shown_at]:.4g}"]
                  for s, runs in trained.items()
                  for p in [[statistics.median(q) for q in zip(*points)] for points in zip(*runs)]
                  if along[title](p, s) is not None]
        shown = [[name, f"{float(x):.4g}", f"{float(y):.4g}"]
                 for name, x, y in numbers if name != "target"]
        failures.check(shown == wanted, f"{title}: drawn {shown}, recorded {wanted}")


def check_scaling(failures, page, path):
    """Curves of throughput by ranks: one a strategy and link, whatever the steps of predictions."""
    records, expected = recorded(path), BY_RANKS.get(pathlib.Path(path).stem, 0)
    charts = [c for c in page.run(READ_CHARTS) if c["title"] == "Throughput by number of ranks"]
    failures.check(len(charts) >= expected, f"{len(charts)} charts of throughput by ranks")
    for chart in charts:
        curves = {}
        for r in records:
            c = r["configuration"]
            key = (r["source"], c["strategy"], c.get("link"))
            curves.setdefault(key, set()).add(c["ranks"])
        wanted = sorted(len(ranks) for ranks in curves.values() if len(ranks) > 1)
        drawn = {}
        for name, ranks, _ in chart["numbers"]:
            if not name.startswith("linear scaling of"):
                drawn.setdefault(name, set()).add(int(ranks))
        failures.check(not expected or sorted(map(len, drawn.values())) == wanted,
                       f"curves of {drawn} for {curves}")


# What is wider than its place, and whether the page says so of it.
READ_WIDE = """
[...document.querySelectorAll(".scroll")].map((place) => ({
  over: place.scrollWidth - place.clientWidth,
  said: place.classList.contains("wide") &&
    getComputedStyle(place, "::before").content.includes("scroll sideways"),
  results: place.parentElement.tagName === "SECTION",
}))
"""

READ_CASE_NAMES = "[...document.querySelectorAll('tr[data-case]')].map((e) => e.dataset.case)"

# How far below the window the scale of each chart of rows ends, while its first row is at the top.
READ_SCALES = """
[...document.querySelectorAll(".rows")].map((chart) => {
  chart.querySelector(".row").scrollIntoView();
  return chart.querySelector(".axis").getBoundingClientRect().bottom - innerHeight;
})
"""

# How the series of each chart's legend look without their colors; a reference
# has no symbol.
READ_LEGENDS = """
[...document.querySelectorAll("figure[data-chart]")].map((figure) =>
  [...figure.querySelectorAll(".legend span")].map((entry) => ({
    name: entry.textContent,
    line: entry.querySelector("line") &&
      (entry.querySelector("line").getAttribute("stroke-dasharray") || "solid"),
    symbol: entry.querySelector("path") && entry.querySelector("path").getAttribute("d"),
  })).filter((look) => look.symbol))
"""


def check_forms(failures, page, width):
    """Tables fit or say that they go on; lines differ without their colors."""
    for table in page.run(READ_WIDE):
        failures.check((table["over"] > 1) == table["said"],
                       f"a table is {table['over']} pixels wider than its place, said: {table['said']}")
        failures.check(width < 1280 or not table["results"] or table["over"] <= 1,
                       f"a table of results is clipped by {table['over']} pixels")
    for below in page.run(READ_SCALES):
        failures.check(below <= 1, f"the scale of a chart is {below} pixels below the window")
    for looks in page.run(READ_LEGENDS):
        for what in ("line", "symbol", "name"):
            seen = [look[what] for look in looks if look[what]]
            failures.check(len(set(seen)) == len(seen), f"two series have one {what}: {seen}")


SHOWN = """
({ cases: [...document.querySelectorAll("details.case")].filter((e) => !e.hidden).length,
  rows: [...document.querySelectorAll("tr[data-case]")].filter((e) => !e.hidden).length,
  found: document.querySelector("output").textContent })
"""


def check_many(page, path):
    """A page of many cases has contents that lead to its parts, and a filter."""
    failures = Failures()
    page.open(path)
    links = page.run("[...document.querySelectorAll('nav a')].map((a) =>"
                     "[a.textContent, (document.querySelector(a.hash) || {}).textContent])")
    failures.check(len(links) > 3 and all(a == b for a, b in links), f"contents: {links}")
    for words, count in (("bucket-mb=7 BF16", 0), ("bucket-mb=7+ bf16", 1), ("bf16", 100), ("", 200)):
        page.run(f"document.getElementById('filter').value = {json.dumps(words)}")
        page.run("document.getElementById('filter').dispatchEvent(new Event('input'))")
        wanted = [w for w in words.lower().split()]
        names = [n for c in page.run(READ_CHARTS) for n in c["names"]]
        if count == 0:
            count = sum(str(mb).startswith("7") for mb in range(1, 101))
        failures.check(page.run(SHOWN) == {"cases": count, "rows": count,
                                           "found": f"{count} of 200" if words else ""},
                       f"filter {words!r}: {page.run(SHOWN)}, not {count}")
        failures.check(names and all(w in n.lower() for n in names for w in wanted),
                       f"filter {words!r}: charts show {names[:5]}")
    return [f"{path}: {f}" for f in failures]


def check_page(page, path, width, scheme):
    failures = Failures()
    page.open(path, width=width, scheme=scheme)
    rows = check_tables(failures, page, path)
    check_charts(failures, page, path)
    check_links_chart(failures, page, path)
    check_training(failures, page, path)
    check_scaling(failures, page, path)
    check_forms(failures, page, width)
    failures.extend(browser.flaws_of(page, scheme))
    return [f"{path}, {width} pixels, {scheme}: {f}" for f in failures], rows


def check_links(page, path):
    """A table's link opens the case that it leads to."""
    page.open(path)
    page.run("document.querySelector('tbody a').click()")
    page.run("new Promise((done) => setTimeout(done, 100))")
    opened = page.run("document.querySelector('details.case').open")
    return [] if opened else [f"{path}: a case's link does not open it"]


def main():
    files, shots = sys.argv[1:], None
    if "--shots" in files:
        at = files.index("--shots")
        shots, files = pathlib.Path(files[at + 1]), files[:at]
    path = browser.find()
    if not path:
        print("no Chromium here: the page was not opened; root gets one with tools/setup.sh page")
        sys.exit(1 if os.environ.get("CI") == "true" else SKIP)
    failures, rows = [], 0
    with browser.Browser(path) as page:
        for file in files:
            for width in (1280, 400):
                for scheme in ("light", "dark"):
                    found, seen = check_page(page, file, width, scheme)
                    failures += found
                    rows += seen
                    if shots:
                        name = f"{pathlib.Path(file).stem}-{width}-{scheme}.png"
                        page.screenshot(shots / name)
            failures += check_links(page, file)
            if pathlib.Path(file).stem == "many":
                failures += check_many(page, file)
    for failure in failures:
        print(failure)
    if rows == 0:
        failures.append("no rows")
    print(f"{rows} rows compared, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
