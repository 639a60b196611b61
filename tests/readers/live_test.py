# SPDX-License-Identifier: Apache-2.0
"""The readers at work on the output of a program that runs, line by line."""

import random
import subprocess
import sys
import unittest

import mutations
import trainers_test as logs
from paceline.readers import megatron, torchtitan
from paceline.readers.live import READERS, Live


def answers(text, name=None):
    live = Live(name)
    return [one for one in map(live.answer, text.split("\n")) if one]


def failure(text, name=None):
    return next(one["failure"] for one in answers(text, name) if "failure" in one)


class Right(unittest.TestCase):
    def test_the_steps_are_those_of_the_file(self):
        for name, log, reader in (
            ("megatron", logs.megatron_log(), megatron),
            ("torchtitan", logs.titan_log(), torchtitan),
        ):
            found = answers(log)
            self.assertEqual({one["reader"] for one in found}, {name})
            (whole,) = logs.read(reader, log)
            self.assertEqual([round(one["step_ns"]) for one in found], whole["ranks"][0]["step_ns"])
            self.assertTrue(all(one["low_ns"] < one["step_ns"] < one["high_ns"] for one in found))
            self.assertEqual({one["examples"] for one in found}, {64})
            self.assertEqual(answers(log, name), found)

    def test_the_steps_of_a_line(self):
        self.assertEqual([one["steps"] for one in answers(logs.megatron_log(10))], [None] + [10] * 7)
        self.assertEqual([one["steps"] for one in answers(logs.titan_log())], [10] * 6)

    def test_a_trainer_says_all_at_its_end(self):
        (one,) = answers(logs.HF)
        self.assertEqual((one["reader"], one["steps"], one["whole"]), ("hf-trainer", 174, True))
        self.assertEqual((round(one["step_ns"]), one["examples"]), (round(87.1234e9 / 174), 64))

    def test_each_rank_has_its_own_lines(self):
        both = [f"[{rank}] {line}" for line in logs.megatron_log().split("\n") for rank in (0, 1)]
        self.assertEqual(len(answers("\n".join(both))), 2 * len(logs.TIMES))
        twice = [line for line in logs.megatron_log().split("\n") for _ in range(2)]
        self.assertIn("step 3 follows step 3", failure("\n".join(twice)))

    def test_lines_of_other_programs(self):
        noise = "tps: many\nhello\n{'loss': 1}\n Training starts now\n"
        self.assertEqual(answers(noise), [])
        self.assertEqual(answers(noise + logs.megatron_log()), answers(logs.megatron_log()))


class Failures(unittest.TestCase):
    def test_a_loss_that_is_not_finite_and_no_other_nan(self):
        self.assertFalse(any("failure" in one for one in answers(logs.megatron_log())))
        bad = logs.megatron_log() + "\n" + logs.megatron_line(11, 1270.5, **{"lm loss": "nan"})
        self.assertEqual(answers(bad)[-1]["status"], "not-finite")
        self.assertIn("the loss is nan", failure(bad))
        zero = logs.megatron_log() + "\n" + logs.megatron_line(11, 1270.5, **{"number of nan iterations": "1"})
        self.assertEqual(answers(zero)[-1]["status"], "not-finite")

    def test_a_line_that_one_reader_recognizes_and_finds_wrong(self):
        self.assertIn("the log says", failure(logs.HF.replace("'train_runtime': 87", "'train_runtime': 870")))

    def test_contradictions(self):
        lines = logs.megatron_log()
        for line, why in (
            (logs.megatron_line(11, 127.05, **{"throughput per GPU (TFLOP/s/GPU)": "401.5"}), "TFLOP"),
            (logs.megatron_line(11, 1270.5, **{"consumed samples": "900"}), "samples more"),
            (logs.megatron_line(9, 1270.5), "step 9 follows step 10"),
        ):
            self.assertIn(why, failure(lines + "\n" + line))


class Damaged(unittest.TestCase):
    def test_mutations_end_in_the_right_steps_or_a_sentence(self):
        for log in (logs.megatron_log(), logs.titan_log(), logs.HF):
            right = {one["step_ns"] for one in answers(log)}
            for kind, damaged in mutations.mutated(log):
                found = answers(damaged)
                if any("failure" in one for one in found):
                    continue
                other = {one["step_ns"] for one in found} - right
                # Without the head torchtitan's step is the clock's; over a line that is gone, that of more steps.
                self.assertTrue(not other or "titan" in log, f"{kind}: {other}")
                for step in other:
                    self.assertTrue(min(right) * 0.98 <= step <= max(right) * 1.02, f"{kind}: {step}")

    def test_random_bytes(self):
        dice = random.Random(mutations.SEED)
        content = "\n".join((logs.megatron_log(), logs.titan_log(), logs.HF)).encode().split(b"\n")
        live = Live()
        for number in range(100_000):
            piece = bytearray(dice.choice(content) if number % 4 else b"")
            for _ in range(dice.randrange(4)):
                at = dice.randrange(len(piece) + 1)
                piece[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(9))
            live = Live() if number % 50 == 0 else live
            live.answer(piece.decode("utf-8", errors="replace"))


class Process(unittest.TestCase):
    def run_live(self, *arguments, given=""):
        words = [sys.executable, "-m", "paceline.readers.live", *arguments]
        return subprocess.run(words, input=given, capture_output=True, text=True, check=False, timeout=60)

    def test_one_answer_a_line(self):
        log = "\n" + logs.megatron_log() + "\n"
        done = self.run_live("megatron", given=log)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.count("\n"), log.count("\n"))

    def test_names(self):
        self.assertEqual(sorted(READERS), ["hf-trainer", "megatron", "torchtitan"])
        done = self.run_live("other")
        self.assertEqual(done.returncode, 2)
        self.assertIn("known are megatron, torchtitan, hf-trainer", done.stderr)


if __name__ == "__main__":
    unittest.main()
