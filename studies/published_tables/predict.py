#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts every cell of the published tables by `paceline predict`.

Prints the errors on the cells that are published, and what no request can
express.  `--predictions FILE` writes `row_id,predicted_throughput` for every
key, `--cells` prints each cell.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pandas

import paceline
import score
from records import write_records
from tables import CLUSTERS, NOT_PREDICTED, Requests, read_cells


def predicted_throughput(cells, program, clusters=CLUSTERS, **options):
    """Samples/s of every cell as its table counts them, by row_id."""
    every = read_cells()
    with tempfile.TemporaryDirectory() as folder:
        requests = Requests(every, write_records(Path(folder)), clusters)
        asked = [requests.request(cell) | options for cell in cells]
        rates = paceline.predict(asked, program)
    return {
        cell.row_id: rate / (cell.gpus if cell.per_device else 1)
        for cell, rate in zip(cells, rates)
    }


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
    for table, why in NOT_PREDICTED.items():
        print(f"not predicted: {table}: {why}", file=sys.stderr)
    predicted = predicted_throughput(cells, arguments.program)
    frame = score.frame_of(cells, predicted)
    pandas.set_option("display.width", 200, "display.max_rows", None)
    if arguments.cells:
        columns = ["row_id", "predicted", "published", "error"]
        print(frame[columns].round(2).to_string(index=False), end="\n\n")
    print(score.summary_of(frame).to_string(index=False))
    if arguments.predictions:
        lines = [f"{row_id},{rate:.6g}" for row_id, rate in predicted.items()]
        arguments.predictions.write_text(
            "\n".join(["row_id,predicted_throughput", *lines]) + "\n"
        )


if __name__ == "__main__":
    main()
