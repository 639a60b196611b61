# SPDX-License-Identifier: Apache-2.0
"""The steps that --step-regex finds in the output of a program that runs."""

import unittest

from live_case import failure_of, output, status_of, steps_of, taken
from paceline.readers.checks import figure
from paceline.readers.live_regex import compiled


class Expressions(unittest.TestCase):
    def test_one_group_or_none(self):
        for pattern in ("took", "took ([0-9]+)", "(?:a|b) (?P<time>[0-9]+)"):
            compiled(pattern)
        for pattern, why in (
            ("(", "'(' is no regular expression: missing )"),
            ("(a)(b)", "'(a)(b)' has several groups; put one around the number"),
            ("([[:digit:]]+)", "is no regular expression: Possible nested set"),
            ("(?u)a", "is no regular expression"),
        ):
            with self.assertRaises(ValueError) as raised:
                compiled(pattern)
            self.assertIn(why, str(raised.exception))


class Numbers(unittest.TestCase):
    def test_the_whole_match_must_be_a_number(self):
        found = {"step_regex": "step ([0-9.,]+)"}
        self.assertEqual(status_of(["step 1,23.5"] * 3, **found), "bad-output")
        for text in ("234.5", "1,234.5", "1,234,567", "12", ".5"):
            self.assertEqual(status_of(["step " + text] * 3, **found), "ok", text)
        self.assertIn("finds '', which is no number", failure_of(["a"], step_regex="a([0-9]+)?")[1])

    def test_a_match_must_not_stop_inside_a_number(self):
        found = {"step_regex": "tps: ([0-9.]+)", "warmup_steps": 0, "steps": 1}
        for number in ("12,345", "12,34", "1.5e-3", "7e3"):
            self.assertIn(f"inside the number '{number}'", failure_of([f"tps: {number} x"], **found)[1])
        for whole in ("12, 345", "12.", "12e", "12 345"):
            self.assertEqual(status_of([f"tps: {whole}"], **found), "ok", whole)
        found["step_regex"] = "([0-9]+) tokens"
        self.assertIn("inside the number '1,234'", failure_of(["1,234 tokens"], **found)[1])
        self.assertIn("inside the number '0.25'", failure_of(["0.25 tokens"], **found)[1])
        self.assertEqual(status_of(["a,234 tokens"], **found), "ok")
        found["step_regex"] = "^[0-9]+,([0-9.]+),"  # a column, as the expression says
        self.assertEqual(status_of(["7,345,8"], **found), "ok")

    def test_nan_is_a_failure_of_the_loss_alone(self):
        found = {"step_regex": "v=([0-9.]+|nan)", "warmup_steps": 0, "steps": 1}
        for line in ("v=1 | number of nan iterations: 0", "v=1 | grad norm: nan", "v=1 loss scale: 1.0 nan", "v=1 for Fernando"):
            self.assertEqual(status_of([line], **found), "ok", line)
        for line in ("v=1 lm loss: nan", "v=1 loss=-inf", "v=1 'loss': nan,", "v=1 train_loss nan", "v=1 loss=nan", "v=nan"):
            self.assertEqual(status_of([line], **found), "not-finite", line)
        self.assertEqual(failure_of(["v=nan"], **found)[1], "a value is not finite: 'v=nan'")

    def test_the_digits_are_known_to_half_a_unit(self):
        for text, half in (("12.3", 0.05), ("7", 0.5), ("1.2e3", 50), ("1.2E-1", 0.005)):
            self.assertAlmostEqual(figure(text, "", "").half, half, delta=1e-12 * half)


class Units(unittest.TestCase):
    def read(self, unit, scope, number, **known):
        known = {"step_regex": "v=([-0-9.,e]+)", "warmup_steps": 0, "steps": 1, **known}
        ((step_ns,),) = steps_of(taken([f"v={number}"], step_unit=unit, rate_scope=scope, **known))
        return step_ns

    def test_times_and_rates(self):
        for unit, scope, number, step_ns in (
            ("", "", "0.25", 250_000_000), ("ms", "", "0.25", 250_000), ("us", "", "0.25", 250), ("ns", "", "250", 250),
            ("steps/s", "", "4", 250_000_000), ("samples/s", "", "64", 250_000_000),
            ("samples/s", "node", "64", 250_000_000), ("samples/s", "device", "32", 250_000_000),
            ("samples/s", "", "1,600", 10_000_000),
        ):  # fmt: skip
            self.assertEqual(self.read(unit, scope, number), step_ns, (unit, scope))
        self.assertEqual(self.read("samples/s", "node", "64", ranks=4, ranks_per_host=[2, 2]), 250_000_000)

    def test_tokens(self):
        self.assertEqual(self.read("tokens/s", "", "6400", sequence_length=100), 250_000_000)
        self.assertEqual(self.read("tokens/s", "device", "3.2e3", sequence_length=100), 250_000_000)
        self.assertEqual(self.read("tokens/s", "", "6400", sequence_length=100, tokens_per_sample=50), 125_000_000)

    def test_what_is_no_duration(self):
        for unit, number in (("", "1e400"), ("", "-1"), ("", "0"), ("steps/s", "0"), ("", "1e9")):
            found = {"step_regex": "v=([-0-9.,e]+)", "step_unit": unit}
            self.assertEqual(status_of([f"v={number}"], **found), "bad-output", number)

    def test_a_unit_may_turn_over_on_the_way(self):
        lines = ["2.5it/s", "1.25s/it", "2.00s/it", "3 s/it"]
        reader = taken(lines, step_regex="([0-9.]+)it/s", step_unit="steps/s", ranks=1)
        self.assertEqual(steps_of(reader), [[1_250_000_000, 2_000_000_000]])
        self.assertIn("in 2 lines", reader.matches.remarks()[0]["seen"])
        timed = taken(["1.5 s/step", "2 s/step", "4.0 step/s"], step_regex="([0-9.]+) s/step")
        self.assertEqual(steps_of(timed), [[2_000_000_000, 250_000_000]])
        self.assertEqual(output(step_regex="took ([0-9.]+)").matches.remarks(), [])


class Lines(unittest.TestCase):
    def test_lines_of_several_steps_are_counted_in_steps(self):
        several = {"steps_per_line": 5, "warmup_steps": 5, "steps": 10}
        reader = output(step_regex="took ([0-9]+)", step_unit="us", **several)
        for line in range(1, 5):
            reader.take(f"took {line}", line)
            self.assertEqual(reader.steps.done, 5 * line)
        (samples,) = reader.steps.samples()
        self.assertEqual((samples["step_ns"], samples["window_ns"]), ([2000, 3000], 5000))
        remarks = {one["code"]: one["seen"] for one in reader.steps.remarks()}
        self.assertEqual(remarks["steps-unused"], "5 steps came after the 10 measured ones")
        self.assertEqual(remarks["steps-per-line"], "a line stands for 5 steps")
        timed = output(step_regex="took", **several)
        for now in (100, 150, 250):
            timed.take("took", now)
        self.assertEqual(steps_of(timed), [[10, 20]])

    def test_a_prefix_names_the_rank(self):
        found = {"launcher": "command", "step_regex": "^took ([0-9]+)", "warmup_steps": 0, "steps": 1}
        both = taken(["[default0]:took 1", "[default1]:took 2"], **found)
        self.assertEqual(steps_of(both), [[10**9], [2 * 10**9]])
        # A number and a colon may be the script's own.
        self.assertEqual(steps_of(taken(["7: took 1"], **found)), [[10**9]])
        # Prefixes that name different ranks name none.
        (samples,) = taken(["[1,1]<stdout>:[default0]:took 1"], **found).steps.samples()
        self.assertEqual(samples["rank"], 0)
        found["step_regex"] = r"\[default0\]:took ([0-9]+)"
        self.assertEqual(steps_of(taken(["[default0]:took 1"], **found)), [[10**9]])
        found["launcher"] = "ranks"  # which is known, whatever is started within it
        (samples,) = taken(["[default0]:took 1"], rank=1, **found).steps.samples()
        self.assertEqual(samples["rank"], 1)

    def test_the_time_of_the_line_counts_where_there_is_no_group(self):
        for warmup in (1, 0):  # without a warm-up it is not known when the first step began
            reader = output(step_regex="done", warmup_steps=warmup)
            for now in (1000, 1010, 1030):
                reader.take("step done", now)
            self.assertEqual(steps_of(reader), [[10, 20]])


if __name__ == "__main__":
    unittest.main()
