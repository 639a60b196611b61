# SPDX-License-Identifier: Apache-2.0
"""A Python job in which one rank fails: all ranks end, one of them says why, and no process is left."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from train_test import free_port

START = """
import os, signal, sys, time
import torch
import paceline.torch as pt
pt.init(timeout=8)
rank = pt.rank()
open(f"{sys.argv[1]}/{rank}", "w").write(str(os.getpid()))
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 1))
model = pt.DataParallel(net, torch.optim.SGD(net.parameters(), lr=0.01), "wfbp")
x = torch.ones(4, 8)
for step in range(100000):
"""
STEP = "    model.step(lambda: model(x).mean())\n"
AT_THREE = "    if step == 3 and rank == 1:\n        "


def ranks_of(body, folder, between=None):
    """Two ranks of a script, started as a launcher would; their exit codes and what they wrote, when both have ended."""
    script = pathlib.Path(folder) / "train.py"
    script.write_text(textwrap.dedent(START) + body)
    port = str(free_port())
    children = []
    for rank in range(2):
        variables = {
            "RANK": str(rank),
            "WORLD_SIZE": "2",
            "LOCAL_RANK": str(rank),
            "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "OMP_NUM_THREADS": "1",
        }
        children.append(
            subprocess.Popen(
                [sys.executable, script, folder],
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    try:
        if between:
            between(children)
        printed = [child.communicate(timeout=90)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    return [child.returncode for child in children], "".join(printed)


class Faults(unittest.TestCase):
    def outcome(self, body, between=None):
        with tempfile.TemporaryDirectory() as folder:
            return ranks_of(body, folder, between)

    def test_an_exception_is_printed_once_and_ends_all(self):
        codes, printed = self.outcome(AT_THREE + "raise KeyError('my own')\n" + STEP)
        self.assertNotIn(0, codes)
        self.assertEqual(printed.count("Traceback (most recent call last)"), 1, printed)
        self.assertIn("KeyError: 'my own'", printed)
        self.assertRegex(printed, r"paceline: rank 1 ")

    def test_an_exception_in_the_closure_too(self):
        step = "    model.step(lambda: model(x).mean() if rank == 0 or step < 3 else 1 // 0)\n"
        codes, printed = self.outcome(step)
        self.assertNotIn(0, codes)
        self.assertEqual(printed.count("Traceback (most recent call last)"), 1, printed)
        self.assertIn("ZeroDivisionError", printed)

    def test_a_rank_that_dies_is_named(self):
        codes, printed = self.outcome(AT_THREE + "os.kill(os.getpid(), signal.SIGKILL)\n" + STEP)
        self.assertEqual(codes[1], -signal.SIGKILL)
        self.assertEqual(codes[0], 3)
        self.assertRegex(printed, r"paceline: rank 1 ")
        self.assertNotIn("Traceback", printed)

    def test_a_rank_that_leaves_the_others_waiting_is_named(self):
        codes, printed = self.outcome(AT_THREE + "time.sleep(60)\n" + STEP)
        self.assertEqual(codes[0], 3)
        self.assertIn("rank 1", printed)

    def test_ctrl_c_ends_all(self):
        def interrupt(children):
            time.sleep(6)
            for child in children:
                child.send_signal(signal.SIGINT)

        codes, printed = self.outcome(STEP, interrupt)
        self.assertNotIn(0, codes)
        self.assertEqual(printed.count("Traceback (most recent call last)"), 1, printed)
        self.assertIn("KeyboardInterrupt", printed)

    def test_two_ranks_that_end_have_code_0(self):
        codes, printed = self.outcome("    if step == 5:\n        break\n" + STEP)
        self.assertEqual(codes, [0, 0], printed)
        self.assertEqual(printed, "")


if __name__ == "__main__":
    unittest.main()
