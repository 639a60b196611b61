#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data/error_table.json, which `predict` takes its error bars from.

Per family of strategies: the errors of `predict` on the published cells of
several hosts, and the errors of the ratio of two strategies on one job.  Where
`--left-out` gives errors of cells that were left out of a fit (fit.py
--errors), they are taken instead if their 90th percentile is larger.  The
strategies of a family and the range in which it was validated stay as the file
has them.
"""

import argparse
import itertools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy
import pandas

import paceline
from predict import predicted_throughput
from tables import ROOT, read_cells

TABLE = ROOT / "data" / "error_table.json"


@dataclass(frozen=True)
class Family:
    name: str
    how: str
    table: str  # how its tables' names begin
    methods: tuple = ()  # empty: all of the table


FAMILIES = [
    Family(
        "merged",
        "BSP, WFBP and MG-WFBP on a ring",
        "ddl_benchmarks",
        ("BSP-A2A", "WFBP-A2A", "MG-WFBP"),
    ),
    Family(
        "scheduled",
        "ByteScheduler on a ring",
        "ddl_benchmarks",
        ("ByteScheduler-A2A",),
    ),
    Family(
        "servers",
        "BytePS",
        "ddl_benchmarks",
        ("BSP-PS", "WFBP-PS", "ByteScheduler-PS"),
    ),
    Family("reducer", "PyTorch DDP", "pytorch_ddp"),
    Family("neighbors", "BlueFog", "bluefog"),
]


def is_of(cell, family):
    """Whether a cell tells of a family."""
    return (
        cell.table.startswith(family.table)
        and (not family.methods or cell.key[0] in family.methods)
        and cell.hosts > 1
        and cell.published is not None
        and not (cell.is_input or cell.is_repeat or cell.is_suspect)
    )


def job_of(cell):
    """What two cells share that differ in strategy alone."""
    if cell.table == "ddl_benchmarks":
        return tuple(cell.key[1:])
    if cell.table == "bluefog":
        return cell.key[0], cell.gpus
    return cell.key[0], cell.gpus, cell.key[2]


def strategy_of(cell):
    if cell.table == "ddl_benchmarks":  # one simulation, one strategy
        return cell.key[0].replace("ByteScheduler-PS", "WFBP-PS")
    return cell.key[1] if cell.table == "bluefog" else cell.table


def pair_errors(cells, errors):
    """Percent by which ratios of two strategies on one job are off."""
    found = []
    for one, other in itertools.combinations(cells, 2):
        if job_of(one) == job_of(other) and strategy_of(one) != strategy_of(
            other
        ):
            ratio = (100 + errors[one.row_id]) / (100 + errors[other.row_id])
            found.append(100 * (max(ratio, 1 / ratio) - 1))
    return found


def numbers_of(family, level, cells, errors, left_out):
    """What the table says of a family; errors in percent by row_id."""

    def quantile(values):
        return round(float(numpy.quantile(values, level)), 1)

    def sizes(cells, errors):
        return [abs(errors[cell.row_id]) for cell in cells]

    cells = [cell for cell in cells if is_of(cell, family)]
    how = f"{family.how}, several hosts, predict with clusters/"
    pairs = pair_errors(cells, errors)
    pair_p90 = quantile(pairs) if pairs else 0.0
    unseen = [cell for cell in cells if cell.row_id in left_out]
    if unseen:
        unseen_pairs = pair_errors(unseen, left_out)
        if unseen_pairs:
            pair_p90 = max(pair_p90, quantile(unseen_pairs))
        if quantile(sizes(unseen, left_out)) > quantile(sizes(cells, errors)):
            cells, errors = unseen, left_out
            how = f"{family.how}, several hosts, left out of a fit"
    return {
        "mean_percent": round(float(numpy.mean(sizes(cells, errors))), 1),
        "p90_percent": quantile(sizes(cells, errors)),
        "cells": len(cells),
        "how": how,
        "pair_p90_percent": pair_p90,
        "pairs": len(pairs),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=paceline.PROGRAM)
    parser.add_argument("--left-out", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    cells = [
        cell
        for cell in read_cells()
        if any(is_of(cell, family) for family in FAMILIES)
    ]
    with paceline.Program(arguments.program) as program:
        predicted = predicted_throughput(cells, program)
    errors = {
        cell.row_id: 100 * (predicted[cell.row_id] / cell.published - 1)
        for cell in cells
    }
    left_out = {}
    for file in arguments.left_out:
        left_out |= dict(pandas.read_csv(file).itertuples(index=False))
    table = json.loads(TABLE.read_text())
    rows = {row["family"]: row for row in table["families"]}
    for family in FAMILIES:
        rows[family.name].update(
            numbers_of(family, table["level"], cells, errors, left_out)
        )
    TABLE.write_text(json.dumps(table, indent=2) + "\n")


if __name__ == "__main__":
    main()
