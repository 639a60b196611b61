# SPDX-License-Identifier: Apache-2.0
"""Errors of predictions, and the table that sums them up.

An error is percent of the published throughput; positive is predicted too
fast.
"""

import pandas


def frame_of(cells, predicted):
    """One row a cell that is published and may be scored."""
    rows = []
    for cell in cells:
        if cell.published is None or cell.is_input or cell.is_repeat:
            continue
        error = 100 * (predicted[cell.row_id] / cell.published - 1)
        rows.append(
            {
                "table": cell.table,
                "kind": kind_of(cell),
                "row_id": cell.row_id,
                "several_hosts": cell.hosts > 1,
                "suspect": cell.is_suspect,
                "predicted": predicted[cell.row_id],
                "published": cell.published,
                "error": error,
                "size": abs(error),
            }
        )
    return pandas.DataFrame(rows)


def kind_of(cell):
    """What a table's lines are printed by: method, model or algorithm."""
    return cell.key[1] if cell.table == "bluefog" else cell.key[0]


def summary_of(frame):
    """Mean, median, 90th percentile and worst error of every table and kind."""
    sound = frame[~frame["suspect"]]
    parts = []
    for table in frame["table"].unique():
        rows = sound[sound["table"] == table]
        for kind, of_kind in rows.groupby("kind"):
            parts.append(line_of(table, kind, of_kind))
        parts.append(line_of(table, "all", rows))
        parts.append(
            line_of(table, "several hosts", rows[rows["several_hosts"]])
        )
        every = frame[frame["table"] == table]
        if len(every) > len(rows):
            parts.append(line_of(table, "with suspect rows", every))
    return pandas.DataFrame(parts)


def line_of(table, what, rows):
    worst = rows.loc[rows["size"].idxmax()]
    return {
        "table": table,
        "cells of": what,
        "cells": len(rows),
        "mean, %": round(rows["size"].mean(), 2),
        "median, %": round(rows["size"].median(), 2),
        "p90, %": round(rows["size"].quantile(0.9), 2),
        "worst, %": round(worst["error"], 1),
        "worst cell": worst["row_id"],
    }
