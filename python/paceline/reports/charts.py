# SPDX-License-Identifier: Apache-2.0
"""Charts of throughput and of speed-up against devices, as Mermaid draws them."""

from .findings import excludes
from .markdown import escaped

# Squares that a legend shows, and the colors of the lines beside them.
_STYLES = (
    ("🟦", "#3b88c3"),
    ("🟥", "#dd2e44"),
    ("🟩", "#78b159"),
    ("🟧", "#f4900c"),
    ("🟪", "#aa8ed6"),
    ("🟫", "#c1694f"),
    ("🟨", "#fdcb58"),
)
_IDEAL = ("⬛", "#31373d")


def _mermaid(table, rows, columns, speed_up: bool) -> str:
    lines = [
        [f"{c.speed_up(row) if speed_up else c.rate(row):.6g}" for row in rows] for c in columns
    ]
    styles = list(_STYLES[: len(columns)])
    names = [escaped(column.title) for column in columns]
    if speed_up:
        lines.append([str(row.devices) for row in rows])
        styles.append(_IDEAL)
        names.append("ideal")
    title = f"{table.model} {table.title}".replace('"', "")
    what = "speed-up" if speed_up else f"throughput, {table.unit}"
    colors = ", ".join(color for _, color in styles)
    devices = ", ".join(f'"{row.devices}"' for row in rows)
    legend = " · ".join(f"{square} {name}" for (square, _), name in zip(styles, names))
    return "\n".join(
        (
            "```mermaid",
            f'%%{{init: {{"themeVariables": {{"xyChart": {{"plotColorPalette": "{colors}"}}}}}}}}%%',
            "xychart-beta",
            f'    title "{title} {what}"',
            f'    x-axis "devices" [{devices}]',
            f'    y-axis "{"speed-up" if speed_up else table.unit}"',
            *(f"    line [{', '.join(line)}]" for line in lines),
            f"```\n\n{legend}\n\n",
        )
    )


def _both(table, rows, columns) -> str:
    """Returns both charts of the columns that have a value in all of these rows."""
    columns = [c for c in columns if all(c.rate(row) is not None for row in rows)]
    text = _mermaid(table, rows, columns, False)
    scaled = [column for column in columns if column.speed_up(rows[0]) is not None]
    return text + (_mermaid(table, rows, scaled, True) if scaled else "")


def mermaid_charts(table, found) -> str:
    """Returns the charts in Mermaid.  All lines of a chart have equal length, so columns without a
    value in some row are in charts of fewer rows.  Names the columns that are in no chart."""
    drawn, axes, left_out = [], [], []
    for column in table.columns:
        rows = tuple(row for row in table.rows if column.rate(row) is not None)
        why = (
            "not comparable"
            if excludes(found, column)
            else "figures are missing"
            if not rows
            else "one figure alone"
            if len(rows) < 2 <= len(table.rows)
            else "too many lines"
            if len(drawn) == len(_STYLES)
            else ""
        )
        if why:
            left_out.append(f"{column.title} ({why})")
        else:
            drawn.append(column)
            axes += [rows] if rows not in axes else []
    axes.sort(key=len, reverse=True)
    text = "".join(_both(table, rows, drawn) for rows in axes if len(rows) > 1)
    if left_out:
        text += f"Left out of the charts: {escaped('; '.join(left_out))}.\n\n"
    return text
