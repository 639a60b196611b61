# SPDX-License-Identifier: Apache-2.0
"""What paceline run --command reads, and what it holds against the clock."""

import json
import os
import shlex
import unittest

from command_case import MICROSECONDS, Command


class Lines(Command):
    """What stands before and in a line."""

    def test_a_line_may_stand_for_several_steps(self):
        command = "for i in $(seq 4); do echo took $i; done"
        more = (*MICROSECONDS, "--warmup", "5", "--steps", "10")
        _, [record] = self.run_command(command, *more, "--steps-per-line", "5")
        # The first line is of the warm-up, the next two are the window.
        self.assertEqual(record["ranks"][0]["step_ns"], [2000, 3000])
        codes = {warning["code"] for warning in record["warnings"]}
        self.assertLessEqual({"steps-per-line", "steps-unused"}, codes)

    def test_the_default_window_is_of_whole_lines(self):
        command = "for i in $(seq {total}); do echo $i; done | sed -n '0~20s/^/took /p'"
        more = (*MICROSECONDS, "--steps-per-line", "20")
        _, [record] = self.run_command(command, *more)
        self.assertEqual(record["configuration"]["warmup_steps"], 20)
        self.assertEqual(record["configuration"]["steps"], 20)
        self.assertEqual(record["ranks"][0]["step_ns"], [40000])

    def test_prefixes_of_launchers_hide_no_step(self):
        for prefix in ("[default%d]:", "[1,%d]<stdout>:", "%d: ", "[rank%d]: "):
            with self.subTest(prefix=prefix):
                event = json.dumps({"event": "step", "step_s": 1e-6})
                lines = [prefix % rank + event for rank in (0, 1) for _ in range(2)]
                command = "; ".join(f"echo {shlex.quote(line)}" for line in lines)
                more = ("--ranks", "2", "--warmup", "0", "--steps", "2")
                _, records = self.run_command(command, *more)
                self.assertEqual([r["rank"] for r in records[-1]["ranks"]], [0, 1])

    def test_an_anchored_expression_matches_behind_a_prefix(self):
        lines = [f"[default{rank}]:took {rank + 1}" for rank in (0, 1, 0, 1)]
        command = "; ".join(f"echo {shlex.quote(line)}" for line in lines)
        more = ("--step-regex", "^took ([0-9]+)", "--step-unit", "us", "--ranks", "2")
        _, [record] = self.run_command(command, *more, "--warmup", "0", "--steps", "2")
        self.assertEqual(
            [r["step_ns"] for r in record["ranks"]], [[1000, 1000], [2000, 2000]]
        )

    def test_one_rank_may_write_the_steps_of_all(self):
        for writer in ("0", "1"):
            with self.subTest(writer=writer):
                command = (
                    f"[ $RANK != {writer} ] || for i in 1 2; do echo took $i; done"
                )
                more = (*MICROSECONDS, "--launcher", "ranks", "--ranks", "2")
                more += ("--warmup", "0", "--steps", "2")
                _, records = self.run_command(command, *more)
                [rank] = records[-1]["ranks"]
                self.assertEqual(rank["rank"], int(writer))

    def test_no_rank_writes_a_step(self):
        more = (*MICROSECONDS, "--launcher", "ranks", "--ranks", "2")
        status, error = self.fails("echo hello", *more)
        self.assertEqual(status, "no-samples")
        self.assertEqual(error, "no line matches --step-regex 'took ([0-9]+)'")

    def test_variables_of_torchrun_are_not_handed_on(self):
        os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "True"
        self.addCleanup(os.environ.pop, "TORCHELASTIC_USE_AGENT_STORE")
        command = (
            "for i in 1 2; do echo took ${TORCHELASTIC_USE_AGENT_STORE:-7}; done; "
            "echo local $LOCAL_WORLD_SIZE of $WORLD_SIZE"
        )
        more = (*MICROSECONDS, "--warmup", "0", "--steps", "2", "--ranks", "2")
        _, [record] = self.run_command(command, *more, "--launcher", "ranks")
        self.assertEqual(record["ranks"][0]["step_ns"], [7000, 7000])
        for log in (self.folder / "r.logs").glob("*"):
            self.assertIn("local 2 of 2\n", log.read_text(encoding="utf-8"))


class Statements(Command):
    """What a program says against what is known."""

    def test_steps_longer_than_the_run_are_an_error(self):
        command = "for i in $(seq {total}); do echo took 50; done"
        status, error = self.fails(command, "--step-regex", "took ([0-9]+)")
        self.assertEqual(status, "contradiction")
        self.assertIn("its 15 steps took 750 s by its own words, but it ran", error)

    def test_another_case_is_an_error(self):
        for said, flag in (
            ({"world": 1}, "--ranks"),
            ({"batch_size": 16}, "--batch-size"),
            ({"model": "bert"}, "--model"),
            ({"case": {"steps": 3}}, "--steps"),
        ):
            with self.subTest(said=said):
                event = json.dumps({"event": "environment", **said})
                command = f"echo {shlex.quote(event)}; sleep 100"
                more = ("--ranks", "2", "--model", "lenet", "--dtype", "fp32")
                status, error = self.fails(command, *more)
                self.assertEqual(status, "contradiction")
                self.assertIn(f"give its own with {flag}", error)

    def test_heading_and_versions_are_the_program_s(self):
        event = {
            "event": "environment",
            "framework": "pytorch",
            "framework_version": "9.8.7",
            "dtype": "bf16",
        }
        step = json.dumps({"event": "step", "step_s": 1e-6})
        end = json.dumps({"event": "end"})
        steps = (
            f"for i in 1 2; do echo {shlex.quote(step)}; done; "
            f"echo {shlex.quote(end)}"
        )
        more = ("--warmup", "0", "--steps", "2")
        done, [record] = self.run_command(
            f"echo {shlex.quote(json.dumps(event))}; {steps}", *more
        )
        self.assertIn("bf16 on", done.stdout)
        for key in ("dtype", "optimizer", "learning_rate", "accumulate"):
            self.assertIsNone(record["configuration"][key], key)
        self.assertEqual(record["environment"]["torch_version"], "9.8.7")
        done, records = self.run_command(steps, *more)
        self.assertNotIn("fp32", done.stdout)
        self.assertIsNone(records[-1]["environment"]["torch_version"])
        done = self.paceline("report", str(self.file), "--format", "ddp")
        self.assertIn("* Maximum bucket size: -\n", done.stdout)


# The end of a job of torchrun, as it writes it.
TORCHRUN = """
raise ValueError("no such layer")
"""
TORCHRUN_SAYS = """\
Traceback (most recent call last):
  File "run.py", line 1, in <module>
    main()
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
Root Cause (first observed failure):
[0]:
  rank      : 1 (local_rank: 1)
  exitcode  : 1 (pid: 16660)
  traceback : To enable traceback see: https://pytorch.org/docs
============================================================
"""


class Torchrun(Command):
    def test_the_reason_is_the_child_s_exception(self):
        says = self.folder / "says"
        says.write_text(TORCHRUN_SAYS, encoding="utf-8")
        command = f"{self.script(TORCHRUN)}; cat {says} >&2; exit 1"
        status, error = self.fails(command, "--ranks", "2")
        self.assertEqual(status, "exit")
        self.assertTrue(error.endswith(": ValueError: no such layer"), error)


if __name__ == "__main__":
    unittest.main()
