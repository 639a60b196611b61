#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`paceline run hybrid` beside the same job on torch.distributed.rpc, in turns.

    benchmarks/rpc_ratio.py [--runs N] [--steps N] PACELINE [FLAGS of paceline run hybrid]

The order of each pair of runs is drawn.  Prints the medians over the runs, and
of the ratios of the pairs the median with the two order statistics between
which it lies in at least 95 % of such series, whatever their distribution.
The Python that runs this file needs torch.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from order_statistics import interval

THEIRS = pathlib.Path(__file__).parent / "rpc_embeddings.py"
WARMUP = 50


def summary(steps, lookups):
    """Seconds: the median step of the slowest trainer, and lookup of any."""
    return {
        "step": statistics.median(map(max, zip(*steps))),
        "lookup": statistics.median(x for trainer in lookups for x in trainer),
    }


def run_theirs(options):
    sizes = {"trainers": options.trainers, "servers": options.servers,
             "warmup": WARMUP, "steps": options.steps}
    words = [word for key, value in sizes.items()
             for word in (f"--{key}", str(value))]
    out = subprocess.run([sys.executable, THEIRS, *words], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    trainers = json.loads(out)
    return summary([t["steps_s"] for t in trainers],
                   [t["lookups_s"] for t in trainers])


def run_ours(options):
    with tempfile.TemporaryDirectory() as folder:
        records = pathlib.Path(folder) / "r.jsonl"
        subprocess.run(
            [options.paceline, "run", "hybrid", "--runs", "1",
             "--yes", "--trainers", str(options.trainers),
             "--servers", str(options.servers), "--warmup", str(WARMUP),
             "--steps", str(options.steps), "--records", records, *options.flags],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        record = json.loads(records.read_text(encoding="utf-8"))
    ranks = [rank for rank in record["ranks"] if rank.get("lookups")]  # trainers
    return summary([[ns * 1e-9 for ns in r["step_ns"]] for r in ranks],
                   [[ns * 1e-9 for ns in r["phase_ns"]["lookup"]] for r in ranks])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("paceline")
    options, options.flags = parser.parse_known_args()
    pairs = []
    for _ in range(options.runs):
        pair = {}
        for name in random.sample(["ours", "theirs"], 2):
            pair[name] = (run_ours if name == "ours" else run_theirs)(options)
        pairs.append(pair)
    print("ms       ours  theirs  ours / theirs")
    for what in ("step", "lookup"):
        of = {name: statistics.median(p[name][what] for p in pairs) * 1e3
              for name in ("ours", "theirs")}
        ratios = [p["ours"][what] / p["theirs"][what] for p in pairs]
        low, high = interval(ratios)
        print(f"{what:6} {of['ours']:6.3f}  {of['theirs']:6.3f}  "
              f"{statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]")


main()
