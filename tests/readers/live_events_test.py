# SPDX-License-Identifier: Apache-2.0
"""The JSON lines of adapters and scripts, in the output of a program that runs."""

import json
import unittest

from live_case import failure_of, output, status_of, steps_of, taken
from paceline.readers.live_series import Failure

STEP = '{"event": "step", "step_s": 1}'


def step(ns):
    return json.dumps({"event": "step", "step_ns": ns})


class Steps(unittest.TestCase):
    def test_the_warm_up_is_dropped_unless_steps_have_an_index(self):
        plain = taken([step(10), step(11), step(12)])
        self.assertEqual(steps_of(plain), [[11, 12]])
        indexed = taken(['{"event": "step", "index": 0, "step_ns": 7}', '{"event": "step", "index": 1, "step_ns": 7}'], rank=1)
        (samples,) = indexed.steps.samples()
        self.assertEqual((samples["rank"], samples["step_ns"], samples["window_ns"]), (1, [7, 7], 14))

    def test_several_events_may_stand_in_one_line(self):
        self.assertEqual(status_of([STEP + STEP, "", STEP]), "ok")

    def test_phases_are_of_the_window(self):
        lines = [json.dumps({"event": "step", "step_ns": 9, "phases_ns": {"forward": k, "update": 5}}) for k in range(3)]
        (samples,) = taken(lines).steps.samples()
        self.assertEqual(samples["phase_ns"], {"forward": [1, 2], "update": [5, 5]})
        (samples,) = taken(lines[:2] + [step(9)]).steps.samples()
        self.assertEqual(samples["phase_ns"], {})

    def test_what_is_wrong_is_told(self):
        for lines, status in (
            ([STEP, "hello", "{", STEP, STEP], "ok"),
            ([STEP, STEP], "wrong-count"),
            (['{"event": "step", "step_s": 0}'], "bad-output"),
            (['{"event": "step", "step_s": 1e999}'], "bad-output"),
            (['{"event": "step", "step_s": ' + "9" * 400 + "}"], "bad-output"),
            (['{"event": "step", "step_ns": ' + "9" * 400 + "}"], "bad-output"),
            (['{"event": "step", "step_s": true}'], "bad-output"),
            (['{"event": "step", "step_s": NaN}'], "bad-output"),
            (['{"event": "step"}'], "bad-output"),
            (['{"event": "step", "step_ns": 1000000000, "step_s": 1}'] * 3, "ok"),
            (['{"event": "step", "step_ns": 1000000000, "step_s": 1.009}'] * 3, "ok"),
            (['{"event": "step", "step_ns": 1000000000, "step_s": 1.02}'] * 3, "contradiction"),
            (['{"event": "step", "step_ns": 1000000000, "step_s": "1"}'] * 3, "bad-output"),
            (['{"event": "step", "step_ns": 1000000000, "step_s": null}'] * 3, "ok"),
            (['{"event": "step", "step_ns": null, "step_s": 1}'] * 3, "ok"),
            (['{"event": "step", "step_s"'], "bad-output"),
            (['{"event": "step", "step_s": 1, "phases_ns": [1]}'], "bad-output"),
            (['{"event": "end", "wire": {}}'], "bad-output"),
            (['{"event": "end", "loss": "three"}'], "bad-output"),
            (['{"event": "step", "step_s": 1, "loss": NaN}'], "not-finite"),
            (['{"event": "step", "step_s": 1, "loss": -Infinity}'], "not-finite"),
            (['{"event": "step", "rank": 2, "step_s": 1}'], "wrong-count"),
            (['{"event": "error", "status": "unsupported", "message": "no"}'], "unsupported"),
            (['{"event": "error", "message": "no"}'], None),
            (['{"event": "error", "message": 3}'], "bad-output"),
            (['{"event": ' * 100_000], "bad-output"),
        ):
            with self.subTest(lines=[line[:60] for line in lines]):
                self.assertEqual(status_of(lines), status)
        self.assertEqual(steps_of(taken(["hello"])), [])
        self.assertIn("key 'step_s' is missing", failure_of(['{"event": "step"}'])[1])

    def test_each_rank_has_its_steps(self):
        lines = [json.dumps({"event": "step", "rank": rank, "step_s": 1}) for rank in (0, 2) * 3]
        self.assertEqual([one["rank"] for one in taken(lines, ranks=3).steps.samples()], [0, 2])
        for command, told in (("train", ", which {total} in the command hands over"), ("train {total}", "")):
            _, sentence = failure_of(lines[:-1], ranks=3, command=command)
            self.assertEqual(
                sentence,
                "2 of 3 steps came of rank 2; where a line stands for several steps, say how many, as --steps-per-line 2; "
                f"the program has to run 3 steps{told}; --warmup and --steps ask for fewer",
            )

    def test_a_prefix_names_the_rank_of_an_event(self):
        lines = [f"{rank}: {STEP}" for rank in (0, 1) * 3]
        self.assertEqual(steps_of(taken(lines, launcher="command")), [[10**9] * 2] * 2)
        self.assertEqual(steps_of(taken(lines, launcher="ranks")), [[10**9] * 2])


class End(unittest.TestCase):
    def test_the_window_is_not_shorter_than_its_steps(self):
        for window_ns, status in (
            (2100000, "ok"), (1980000, "ok"), (1979999, "bad-output"), (1000, "bad-output"), (0, "bad-output"),
            (-5, "bad-output"),
        ):  # fmt: skip
            end = json.dumps({"event": "end", "window_ns": window_ns})
            self.assertEqual(status_of([step(1_000_000)] * 3 + [end]), status, window_ns)

    def test_the_end_may_say_what_crossed_and_steps_in_turn(self):
        wire = {"measured_bytes_per_step": 8, "planned_bytes_per_step": None, "calls_per_step": 2,
                "bytes_by_pattern": {"all-reduce": 8}}  # fmt: skip
        turns = {"paired_step_ns": [5, 6], "pair_of_step": [0, 1], "compute_only_step_ns": [3, 4]}
        end = {"event": "end", "wire": wire, "in_turn": turns, "peak_memory_bytes": 11, "loss": 1.5}
        record = taken([step(7)] * 3 + [json.dumps(end)], now_ns=10**9).record()
        self.assertEqual(record["wire"], wire)
        (samples,) = record["ranks"]
        self.assertEqual({key: samples[key] for key in turns}, turns)
        self.assertEqual((samples["peak_memory_bytes"], record["adapter"]), (11, {"loss": "1.5"}))
        turns["compute_only_step_ns"] = [3]
        self.assertIn("not equally long", failure_of([step(7)] * 3 + [json.dumps(end)])[1])

    def test_an_adapter_has_an_end(self):
        first = '{"event": "environment", "framework": "x", "layout": null}'
        reader = taken([first] + [step(7)] * 3)
        with self.assertRaisesRegex(Failure, "ended without the event 'end' after 3 of 3 steps"):
            reader.record()
        reader.take('{"event": "end"}', 10**9)
        self.assertEqual(reader.record()["adapter"], {"framework": "x"})
        self.assertEqual(taken([step(7)] * 3, now_ns=10**9).record()["source"], "external")


class StatedCase(unittest.TestCase):
    def status(self, keys, **known):
        return status_of(['{"event": "environment", ' + keys + "}"], **{"model": "lenet", **known})

    def test_the_same_case_and_what_is_not_said(self):
        for keys in (
            '"world": 2, "model": "lenet", "batch_size": 8',
            '"steps": 2, "warmup": 1',
            '"steps": 3',  # with those of the warm-up
            '"world": null, "model": null',
            '"case": {"steps": 2, "batch_size": 8}',
        ):
            self.assertEqual(self.status(keys), "ok", keys)

    def test_another_case_is_a_contradiction(self):
        for keys in (
            '"world": 1', '"accumulate": true', '"model": "resnet50"', '"batch_size": 16', '"steps": 4',
            '"case": {"steps": 3}', '"case": {"dtype": "bf16"}',
        ):  # fmt: skip
            self.assertEqual(self.status(keys), "contradiction", keys)
        _, sentence = failure_of(['{"event": "environment", "steps": 4}'])
        self.assertEqual(
            sentence,
            "it says that its steps is 4, and the case has 2 or 3; start it with the value of the case, or give its own "
            "with --steps",
        )

    def test_what_the_case_does_not_know_is_not_compared(self):
        self.assertEqual(self.status('"optimizer": "adamw"', model="command"), "contradiction")
        self.assertEqual(self.status('"accumulate": 2', model="command"), "contradiction")
        unknown = {"model": "command", "dtype": None, "optimizer": None, "accumulate": None}
        self.assertEqual(self.status('"model": "resnet50", "dtype": "bf16"', **unknown), "ok")
        self.assertEqual(self.status('"optimizer": "adamw", "accumulate": 2', **unknown), "ok")

    def test_the_record_keeps_what_is_said(self):
        reader = output()
        reader.take('{"event": "environment", "world": 2, "cuda": "12", "flops": 1.5, "case": {"b": 1, "a": 2}}', 0)
        self.assertEqual(reader.record()["adapter"], {"cuda": "12", "flops": "1.5", "case": '{"a":2,"b":1}'})


if __name__ == "__main__":
    unittest.main()
