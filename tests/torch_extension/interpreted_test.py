# SPDX-License-Identifier: Apache-2.0
"""Three steps of Python networks under each strategy that trains end as the interpreter says of all ranks' plans.

Each test is one job, which performs all checks, because each start takes seconds.
"""

import os
import shlex
import sys
import unittest

from train_test import EXACT, MODELS, TRAINS, found_by, torchrun

# PyTorch's Reducer performs the plan of `ddp`, which train_test.py compares with
# PyTorch's; what a rank has under `win-put` depends on times.
STRATEGIES = [text for text in (*EXACT, *TRAINS) if text not in ("ddp", "win-put")]
CHECKS = [[model, text, 2 if model == "decoder" else 1] for model in MODELS for text in STRATEGIES]
TOLERANCE = 1e-4  # as the conformance tests: sums of four ranks in another order
TOLERANCE_OF = {"bf16": 2e-3}  # whose sums are rounded to 8 bits in that order


def mpirun(ranks):
    return [*shlex.split(os.environ["PACELINE_MPIRUN"]), str(ranks), sys.executable]


class Interpreted(unittest.TestCase):
    def compare(self, start, ranks, engine):
        results = found_by(ranks, CHECKS, start=start, worker=("interpreted_worker.py", engine), timeout=800)
        for check, found in zip(CHECKS, results):
            with self.subTest(check=check):
                if ranks == 2:  # whose sums have one order
                    self.assertEqual(found["apart"], 0)
                else:
                    self.assertLess(found["apart"], TOLERANCE_OF.get(check[1], TOLERANCE))

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
