# SPDX-License-Identifier: Apache-2.0
"""paceline run --command with the lines of trainers that Paceline's readers know."""

import unittest

from command_case import Command

# 40 ms a step, which the clock confirms.
MEGATRON = """
import sys, time
batch, loss, words = int(sys.argv[1]), sys.argv[2], "elapsed time per iteration (ms)"
print("using world size: 2, data-parallel size: 2", flush=True)
for number in range(1, 9):
    time.sleep(0.04)
    print(f" iteration {number:8d}/     8 | consumed samples: {number * batch:12d} | {words}: 40.{number} | "
          f"global batch size: {batch:5d} | lm loss: {loss if number > 4 else 2.5} | "
          "number of skipped iterations:   0 | number of nan iterations:   0 |", flush=True)
"""
TRAINER = """
print("***** Running training *****\\n  Total train batch size (w. parallel, distributed & accumulation) = 16\\n"
      "  Total optimization steps = 8")
import time; time.sleep(0.4)
print("{'train_runtime': 0.4, 'train_samples_per_second': 320.0, 'train_steps_per_second': 20.0, 'train_loss': 1.0}")
"""
WINDOW = ("--ranks", "2", "--warmup", "2", "--steps", "6")


class Readers(Command):
    def test_lines_are_known_by_themselves_and_by_name(self):
        command = f"{self.script(MEGATRON)} 16 2.4"
        for more in ((), ("--reader", "megatron")):
            _, records = self.run_command(command, *WINDOW, *more)
            (rank,) = records[-1]["ranks"]
            self.assertEqual(rank["step_ns"], [40_000_000 + k * 100_000 for k in range(3, 9)])
            self.assertEqual(records[-1]["adapter"]["reader"], "megatron")

    def test_json_lines_come_first(self):
        command = "for i in 1 2 3 4 5 6 7 8; do echo '{\"event\": \"step\", \"step_s\": 1e-4}'; done"
        _, [record] = self.run_command(command, *WINDOW)
        self.assertNotIn("reader", record.get("adapter", {}))

    def test_a_trainer_has_one_value(self):
        command = self.script(TRAINER)
        status, error = self.fails(command, *WINDOW)
        self.assertEqual(status, "contradiction")
        self.assertIn("say --steps-per-line 8 --warmup 0 --steps 8", error)
        more = ("--ranks", "2", "--steps-per-line", "8", "--warmup", "0", "--steps", "8")
        _, records = self.run_command(command, *more)
        self.assertEqual(records[-1]["ranks"][0]["step_ns"], [50_000_000])

    def test_contradictions_and_failures(self):
        script = self.script(MEGATRON)
        for arguments, status, why in (
            ("32 2.4", "contradiction", "a step of megatron has 32 samples, and --batch-size 8 on 2 ranks are 16"),
            ("16 nan", "not-finite", "the loss is nan"),
        ):
            found, error = self.fails(f"{script} {arguments}", *WINDOW)
            self.assertEqual(found, status)
            self.assertIn(why, error)
        status, error = self.fails("echo hello", *WINDOW, "--reader", "torchtitan")
        self.assertEqual(status, "no-samples")
        self.assertEqual(error, "it wrote no line of a step of torchtitan (--reader)")


if __name__ == "__main__":
    unittest.main()
