#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults at random moments of a job of paceline.torch, as faults.py has them.

    python_faults.py --hang-library hang_on_signal.so [--count 60] [--seed 7]

A rank is hurt at a random moment after it has joined: while the plan is made or
in a step.  Of every job it is expected that it ends, that the one sentence names
the rank, and that no process is left.  This file starts the ranks too (`ranks N
COMMAND`), as torchrun and mpirun do: when one has failed, the others have some
seconds to end by themselves.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import faults

GRACE = 15.0  # for the ranks beside one that has failed, s
FATES = {
    "kill": r"ended without an error message|was killed by signal 9 ",
    "terminate": r"ended without an error message|SIGTERM|signal 15 ",
    "stop": faults.FATES["stop"],
    "hang": faults.FATES["hang"],
    "interrupt": r"KeyboardInterrupt",
}

class PythonRun(faults.Run):
    """One job with one fault."""

    fates = FATES

    def __init__(self, options, number):
        options.strategies, options.engines = None, ["gloo"]
        options.faults, options.each = list(FATES), None
        super().__init__(options, number)
        draw = random.Random(f"python/{options.seed}/{number}")
        self.strategy = draw.choice(faults.STRATEGIES)
        self.ranks = draw.choice(faults.ranks_of(self.strategy))
        self.victim = draw.randrange(self.ranks)
        self.model = ["Python"]

    def command(self):
        here = pathlib.Path(__file__).resolve()
        return [sys.executable, str(here), "ranks", str(self.ranks),
                str(here.with_name("train_on.py")), self.strategy, self.engine,
                str(self.options.timeout)]

    def find_victim(self, folder, mark):
        joined = pathlib.Path(folder, f"joined{self.victim}").exists()
        return super().find_victim(folder, mark) if joined else None


def start_ranks(ranks, command):
    """Returns the exit code of the job."""
    place = {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(faults.free_port())}
    children = [
        subprocess.Popen([sys.executable, *command], env={
            **os.environ, **place, "RANK": str(rank), "LOCAL_RANK": str(rank)})
        for rank in range(ranks)]
    while not any(child.poll() for child in children):
        if all(child.poll() == 0 for child in children):
            return 0
        time.sleep(0.05)
    until = time.monotonic() + GRACE
    while (any(child.poll() is None for child in children)
           and time.monotonic() < until):
        time.sleep(0.05)
    for child in children:
        child.kill()
        child.wait()
    return max(child.returncode for child in children)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hang-library", required=True)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", default=time.strftime("%Y%m%d"))
    parser.add_argument("--only", type=int)
    parser.add_argument("--timeout", type=float, default=4)
    parser.add_argument("--deadline", type=float, default=60)
    parser.add_argument("--earliest", type=float, default=0)
    parser.add_argument("--latest", type=float, default=5)
    options = parser.parse_args()
    options.hang_library = os.path.abspath(options.hang_library)
    faults.SIGNALS["interrupt"] = signal.SIGINT
    numbers = range(options.count) if options.only is None else [options.only]
    return 1 if faults.perform_all(numbers, options, PythonRun) else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["ranks"]:
        sys.exit(start_ranks(int(sys.argv[2]), sys.argv[3:]))
    sys.exit(main())
