# SPDX-License-Identifier: Apache-2.0
"""Three steps of Python networks under each strategy that trains end as the interpreter says of all ranks' plans.

Each test is one job, which performs all checks, because each start takes seconds.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from train_test import EXACT, MODELS, TRAINS, torchrun

WORKER = pathlib.Path(__file__).with_name("interpreted_worker.py")
# PyTorch's Reducer performs the plan of `ddp`, which train_test.py compares with
# PyTorch's; what a rank has under `win-put` depends on times.
STRATEGIES = [text for text in (*EXACT, *TRAINS) if text not in ("ddp", "win-put")]
CHECKS = [[model, text, 2 if model == "decoder" else 1] for model in MODELS for text in STRATEGIES]
TOLERANCE = 1e-4  # as the conformance tests: sums of four ranks in another order


def mpirun(ranks, *words, timeout):
    """What the ranks print."""
    done = subprocess.run(
        [*shlex.split(os.environ["PACELINE_MPIRUN"]), str(ranks), sys.executable, *map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


class Interpreted(unittest.TestCase):
    def compare(self, start, ranks, engine):
        done = start(ranks, WORKER, engine, *map(json.dumps, CHECKS), timeout=800)
        found = {}
        for line in done.stdout.splitlines():
            if line.startswith('{"check"'):
                one = json.loads(line)
                found[one["check"]] = one["apart"]
        self.assertEqual(len(found), len(CHECKS))
        for check, apart in found.items():
            with self.subTest(check=check):
                if ranks == 2:  # whose sums have one order
                    self.assertEqual(apart, 0)
                else:
                    self.assertLess(apart, TOLERANCE)

    def test_gloo_on_2_ranks(self):
        self.compare(torchrun, 2, "gloo")

    def test_gloo_on_4_ranks(self):
        self.compare(torchrun, 4, "gloo")

    @unittest.skipUnless(os.environ.get("PACELINE_MPIRUN"), "no MPI here")
    def test_mpi_on_2_ranks(self):
        self.compare(mpirun, 2, "mpi")

    @unittest.skipUnless(os.environ.get("PACELINE_MPIRUN"), "no MPI here")
    def test_mpi_on_4_ranks(self):
        self.compare(mpirun, 4, "mpi")


if __name__ == "__main__":
    unittest.main()
