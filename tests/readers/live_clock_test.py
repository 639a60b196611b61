# SPDX-License-Identifier: Apache-2.0
"""What a program that runs says of its steps, held against the clock."""

import json
import unittest

from live_case import output
from paceline.readers.live_clock import prints_log
from paceline.readers.live_series import Failure

MS = 1_000_000
LINES = 25  # five of the warm-up


def steadily(line):
    """A second after the start of the program, and then every 50 ms."""
    return 1000 * MS + (line + 1) * 50 * MS


def four_ranks(unit="", scope="", **known):
    known = {"launcher": "command", "ranks": 4, "batch_size": 32, "warmup_steps": 5, "steps": 20, **known}
    if unit:
        known.update(step_regex="v=([0-9.e-]+)", step_unit=unit, rate_scope=scope)
    return output(**known)


def outcome(reader):
    try:
        return "".join(f"{one['code']}: {one['seen']}" for one in reader.record()["warnings"] if one["code"].startswith("times"))
    except Failure as failure:
        assert failure.status == "contradiction", failure
        return str(failure)


def said(reader, line, arrival=steadily):
    """What is said of a program that writes `line` again and again."""
    for k in range(LINES):
        reader.take(line, arrival(k))
    return outcome(reader)


def event(**step):
    return json.dumps({"event": "step", **step})


class Fitting(unittest.TestCase):
    def test_times_that_fit_say_nothing(self):
        for unit, scope, line in (
            ("", "", event(step_s=0.05)), ("", "", event(step_s=0.047)), ("ms", "", "v=50.0"),
            ("steps/s", "", "v=20.0"), ("samples/s", "", "v=2560"), ("samples/s", "device", "v=640"),
        ):  # fmt: skip
            self.assertEqual(said(four_ranks(unit, scope), line), "", (unit, scope, line))

    def test_a_wrong_scope_is_an_error_that_says_the_right_one(self):
        self.assertEqual(
            said(four_ranks("samples/s"), "v=640"),
            "a step took 200 ms by its own words, but 50 ms by the clock (2560 examples/s by the clock, 640 by its words); "
            "the numbers would fit with --rate-scope device",
        )
        self.assertEqual(
            said(four_ranks("samples/s", "device"), "v=2560"),
            "a step took 12.5 ms by its own words, but 50 ms by the clock (2560 examples/s by the clock, 1.024e+04 by its "
            "words); the numbers would fit with --rate-scope global",
        )

    def test_a_wrong_unit_is_an_error_that_says_the_right_one(self):
        for unit, number, fitting in (
            ("s", "50.0", "--step-unit ms"), ("us", "50.0", "--step-unit ms"), ("samples/s", "20.0", "--step-unit steps/s"),
            ("s", "19.8", "--step-unit steps/s"), ("ms", "2560", "--step-unit samples/s --rate-scope global"),
            ("steps/s", "0.05", "--step-unit s"),
        ):  # fmt: skip
            self.assertTrue(said(four_ranks(unit), f"v={number}").endswith(f"; the numbers would fit with {fitting}"), unit)

    def test_an_event_says_which_unit_it_has(self):
        for step, fitting in (
            ({"step_ns": 50000}, "as microseconds, and step_ns is in nanoseconds"),
            ({"step_ns": 50}, "as milliseconds, and step_ns is in nanoseconds"),
            ({"step_s": 50}, "as milliseconds, and step_s is in seconds"),
            ({"step_s": 50000}, "as microseconds, and step_s is in seconds"),
            ({"step_s": 20}, "as steps per second, and step_s is in seconds"),
        ):
            self.assertTrue(said(four_ranks(), event(**step)).endswith(f"; the numbers would fit {fitting}"), step)

    def test_lines_of_all_ranks_are_not_those_of_one(self):
        by_turns = said(four_ranks("ms"), "v=50.0", lambda line: 100 * MS + (line + 1) * 50 * MS // 4)
        self.assertIn("the lines of all 4 ranks would be so many", by_turns)
        self.assertEqual(said(four_ranks("ms"), "v=50.0", lambda line: steadily(line // 4) + line % 4), "")

    def test_a_line_may_stand_for_several_steps(self):
        several = {"steps_per_line": 5, "steps": 100}
        self.assertEqual(said(four_ranks("ms", **several), "v=10.0"), "")
        self.assertIn("as that of all 5 steps of its line", said(four_ranks("ms", **several), "v=50.0"))


class Less(unittest.TestCase):
    def test_what_is_not_timed_is_a_remark(self):
        """Loading data is no part of a step that a script times."""
        remark = "times-leave-out: a step took 25 ms by its own words, but 50 ms by the clock"
        self.assertTrue(said(four_ranks(), event(step_s=0.025)).startswith(remark))
        self.assertTrue(said(four_ranks("ms"), "v=35.0").startswith("times-leave-out"))
        self.assertTrue(
            said(four_ranks("ms"), "v=5.0").endswith("; leave the group out of --step-regex, and the arrival of the lines is timed")
        )

    def test_a_pause_between_steps_is_none(self):
        self.assertEqual(said(four_ranks(), event(step_s=0.05), lambda k: steadily(k) + (5000 * MS if k > 15 else 0)), "")

    def test_rounded_numbers_are_a_remark(self):
        """Half a unit of the last digit is not known: 0.1 may be 0.0501."""
        self.assertTrue(said(four_ranks("s"), "v=0.1").startswith("times-rounded"))
        self.assertTrue(said(four_ranks("s"), "v=0.10").startswith("a step took 100 ms by its own words, but 50 ms by the clock"))


class Late(unittest.TestCase):
    def test_late_lines_are_no_contradiction(self):
        def ticks(ns):  # of a launcher that looks ten times a second
            return (ns // (100 * MS) + 1) * 100 * MS

        for seconds, arrival in (
            (0.05, lambda k: steadily(LINES - 1)),  # all at the end
            (0.05, lambda k: steadily(14 if k < 15 else LINES - 1) + k),  # in blocks
            (0.05, lambda k: steadily(max(k, 10))),  # a block, then one by one
            (0.05, lambda k: ticks(steadily(k))),
            (0.13, lambda k: ticks((k + 1) * 130 * MS)),
            (0.05, lambda k: steadily(k) + (49 * MS if k == 4 else 0)),  # the last line of the warm-up
        ):
            self.assertEqual(said(four_ranks(), event(step_s=seconds), arrival), "")

    def test_steps_do_not_take_longer_than_the_run(self):
        def at_end(_):
            return steadily(LINES - 1)

        # The start of the program is not known to be without steps.
        self.assertEqual(said(four_ranks(), event(step_s=0.09), at_end), "")
        longer = "its 25 steps took 2.5 s by its own words, but it ran for 2.25 s until then; "
        self.assertTrue(said(four_ranks(), event(step_s=0.1), at_end).startswith(longer))
        self.assertIn("--step-unit ms", said(four_ranks("s"), "v=50", at_end))


class Adapters(unittest.TestCase):
    def outcome(self, share, alive_after):
        """Of an adapter, which writes its steps after the window."""
        reader = four_ranks()
        reader.take('{"event": "environment", "framework": "x"}', 0)
        now = 500 * MS
        for step in range(1, LINES + 1):
            now += 50 * MS
            if step == alive_after:
                reader.take(json.dumps({"event": "alive", "step": step}), now)
        for index in range(20):
            reader.take(event(index=index, step_ns=int(share * 50 * MS)), now)
        reader.take('{"event": "end"}', now)
        return outcome(reader)

    def test_an_adapter_leaves_nothing_out(self):
        self.assertEqual(self.outcome(1, 5), "")
        self.assertEqual(
            self.outcome(0.5, 5),
            "a step took 25 ms by its own words, but 50 ms by the clock (2560 examples/s by the clock, 5120 by its words); "
            "the steps of an adapter leave nothing of the loop out: each ends where the next one begins (docs/adapters.md)",
        )
        self.assertIn("by the clock", self.outcome(0.5, 10))
        self.assertIn("by the clock", self.outcome(2, 5))
        self.assertEqual(self.outcome(0.5, 1), "")  # steps of the warm-up may be long


class Logs(unittest.TestCase):
    def test_a_log_that_is_printed_is_not_held_against_the_clock(self):
        for command, is_log in (
            ("cat train.log", True), (" zcat a.gz b.gz", True), ("gzip -dc a.gz", True),
            ("cat hosts; python train.py", False), ("cat a | python train.py", False), ("python cat.py", False),
        ):  # fmt: skip
            self.assertEqual(prints_log(command), is_log, command)
            found = said(four_ranks("s", command=command), "v=127")
            self.assertEqual(found.startswith("times-of-a-log"), is_log, command)
            self.assertEqual("by its own words" in found, not is_log, command)


if __name__ == "__main__":
    unittest.main()
