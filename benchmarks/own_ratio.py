# SPDX-License-Identifier: Apache-2.0
"""How much longer steps under `fusion` are where a network is in Python.

    python3 benchmarks/own_ratio.py RECORDS

RECORDS is what `paceline run benchmarks/own_networks.toml --records RECORDS` has
written.  Of the ratios of the runs' median steps, of the slowest rank, it prints
the median and the order statistics between which that lies in at least 95 % of
such series, whatever their distribution.
"""

import json
import pathlib
import statistics
import sys

from order_statistics import interval

NAMES = {"resnet18": "resnet18", "mlp-large": "mlp_large"}


def main():
    medians = {}  # by model and run
    for line in pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["configuration"]["strategy"].startswith("fusion"):
            steps = map(max, zip(*(rank["step_ns"] for rank in run["ranks"])))
            medians[run["configuration"]["model"], run["run"]] = statistics.median(steps)
    for built_in, own in NAMES.items():
        runs = sorted(run for model, run in medians if model == built_in)
        ratios = [medians[f"benchmarks.own_networks:{own}", run] / medians[built_in, run] for run in runs]
        low, high = interval(ratios)
        print(f"{built_in:10} {statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}], {len(ratios)} pairs")


if __name__ == "__main__":
    main()
