# SPDX-License-Identifier: Apache-2.0
"""Checks a page of `paceline diff`: each change is in a chart and in a table."""

import browser

ROWS = """
[...document.querySelectorAll("section > .scroll > table tbody tr")].map((row) =>
  [...row.children].map((cell) => cell.textContent))
"""
DRAWN = """
[...document.querySelectorAll("figure[data-chart] .numbers tbody tr")].map((row) =>
  [...row.children].map((cell) => cell.textContent))
"""


def check(page, path, width, scheme):
    page.open(path, width=width, scheme=scheme)
    rows, drawn = page.run(ROWS), dict(page.run(DRAWN))
    flaws = browser.flaws_of(page, scheme)
    if not len(drawn) == len(rows) > 0:
        flaws.append(f"{len(drawn)} bars for {len(rows)} rows")
    for name, _, _, _, change, *_ in rows:
        if drawn.get(name) != change:
            flaws.append(f"{name}: {change} in the table, {drawn.get(name)} in the chart")
    return [f"{path}, {width} pixels, {scheme}: {flaw}" for flaw in flaws], len(rows)
