#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts every cell of the published tables by `paceline predict`.

Prints the errors on the cells that reference/ has, and names the tables without any.  `--predictions FILE` writes
`row_id,predicted_throughput` for every key, `--cells` prints each cell.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pandas

import paceline
import score
from records import write_records
from tables import CLUSTERS, NOT_SCORED, Requests, read_cells


def predicted_throughput(cells, program, clusters=CLUSTERS, costs=None):
    """Samples/s of the cells as their tables count them, by row_id.

    `program` is a paceline.Program; `clusters` has the cluster files, `costs`
    is a file in place of data/engine_costs.toml.
    """
    predicted = {}
    with tempfile.TemporaryDirectory() as folder:
        records = write_records(Path(folder))
        requests = Requests(read_cells(), records, clusters)
        for cell in cells:
            request = requests.request(cell)
            if costs is not None and "engine" in request:
                request["engine_costs"] = str(costs)
            rate = program.samples_per_s(request)
            predicted[cell.row_id] = rate / (cell.gpus if cell.per_device else 1)
    return predicted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=paceline.PROGRAM)
    parser.add_argument("--predictions", type=Path, metavar="FILE")
    parser.add_argument("--table", help="only this table")
    parser.add_argument("--cells", action="store_true")
    arguments = parser.parse_args()
    cells = [
        cell
        for cell in read_cells()
        if arguments.table in (None, cell.table)
    ]
    for table, why in NOT_SCORED.items():
        print(f"not scored: {table}: {why}", file=sys.stderr)
    with paceline.Program(arguments.program) as program:
        predicted = predicted_throughput(cells, program)
    frame = score.frame_of(cells, predicted)
    pandas.set_option("display.width", 200, "display.max_rows", None)
    if arguments.cells and not frame.empty:
        columns = ["row_id", "predicted", "published", "error"]
        print(frame[columns].round(2).to_string(index=False), end="\n\n")
    if not frame.empty:
        print(score.summary_of(frame).to_string(index=False))
    if arguments.predictions:
        lines = [f"{row_id},{rate:.6g}" for row_id, rate in predicted.items()]
        arguments.predictions.write_text(
            "\n".join(["row_id,predicted_throughput", *lines]) + "\n"
        )


if __name__ == "__main__":
    main()
