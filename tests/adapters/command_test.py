# SPDX-License-Identifier: Apache-2.0
"""paceline run --command: a user's own training, and what may go wrong in it."""

import json
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import sys
import time
import unittest

from command_case import MICROSECONDS, PACELINE, Command

HERE = pathlib.Path(__file__).resolve().parent
STUB = shlex.join([sys.executable, str(HERE / "stub_framework.py")])

# A training of two ranks that starts them itself, as torchrun does, and prints
# a JSON line for each step of each.
OWN_RANKS = """
import json, os, subprocess, sys
if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, __file__],
                              env=dict(os.environ, RANK=str(rank)),
                              start_new_session=True) for rank in range(2)]
    sys.exit(max(rank.wait() for rank in ranks))
rank = int(os.environ["RANK"])
for step in range(12):
    microseconds = 0.25 * (rank + 1) + step
    line = {"event": "step", "rank": rank, "step_s": microseconds * 1e-6}
    os.write(1, json.dumps(line).encode())
    os.write(1, chr(10).encode())  # which another rank's line may come before
"""


class Steps(Command):
    def test_json_lines_of_ranks_that_the_command_starts(self):
        more = ("--ranks", "2", "--warmup", "2", "--steps", "10")
        _, [record] = self.run_command(self.script(OWN_RANKS), *more)
        self.assertEqual(record["source"], "external")
        self.assertEqual(record["configuration"]["label"], "train.py")
        self.assertEqual([r["rank"] for r in record["ranks"]], [0, 1])
        for rank in (0, 1):
            self.assertEqual(
                record["ranks"][rank]["step_ns"],
                [(25 * (rank + 1) + 100 * step) * 10 for step in range(2, 12)],
            )

    def test_rate_is_of_all_ranks_though_one_series_tells_of_them(self):
        command = "for i in 1 2 3; do echo '{\"event\": \"step\", \"step_s\": 2e-6}'; done"
        more = ("--ranks", "2", "--warmup", "1", "--steps", "2", "--format", "csv")
        done, _ = self.run_command(command, *more)
        header, row = done.stdout.splitlines()
        row = dict(zip(header.split(","), row.split(",")))
        # 2 ranks x 8 / 2 us
        self.assertEqual(round(float(row["examples_per_s"])), 8_000_000)

    def test_a_regular_expression_finds_times_and_rates(self):
        for unit, scope, lines, want in (
            ("us", None, ["t=250 us", "t=500 us"], [250_000, 500_000]),
            ("samples/s", "global", ["t=64000", "t=32000"], [250_000, 500_000]),
            ("samples/s", "device", ["t=32000", "t=16000"], [250_000, 500_000]),
        ):
            with self.subTest(unit=unit, scope=scope):
                command = "; ".join(f"echo epoch 1: {line} >&2" for line in lines)
                more = ["--step-regex", "t=([0-9.]+)", "--step-unit", unit]
                more += ["--rate-scope", scope] if scope else []
                more += ["--ranks", "2", "--warmup", "0", "--steps", "2"]
                _, records = self.run_command(command, *more)
                self.assertEqual(records[-1]["ranks"][0]["step_ns"], want)

    def test_without_a_group_the_time_of_the_line_counts(self):
        command = "for i in 1 2 3 4; do echo step $i done; sleep 0.05; done"
        more = ("--step-regex", "step .* done", "--warmup", "1", "--steps", "2")
        _, [record] = self.run_command(command, *more)
        for ns in record["ranks"][0]["step_ns"]:
            self.assertGreaterEqual(ns, 40_000_000)

    def test_placeholders_are_filled_and_a_sweep_varies_them(self):
        command = (
            "echo ranks={ranks} batch={batch} seed={seed} home=${HOME} x={x}; "
            "for i in 1 2; do echo took {batch}; done"
        )
        more = (*MICROSECONDS, "--warmup", "0", "--steps", "2")
        _, records = self.run_command(command, *more, "--seed", "3,4")
        self.assertEqual(len(records), 2)
        logs = sorted((self.folder / "r.logs").glob("*"))
        self.assertEqual(len(logs), 2)
        self.assertIn(
            f"ranks=1 batch=8 seed=3 home={os.environ['HOME']} x={{x}}\n",
            logs[0].read_text(encoding="utf-8"),
        )

    def test_steps_after_the_window_are_told(self):
        command = "for i in 1 2 3 4 5; do echo took 1; done"
        more = (*MICROSECONDS, "--warmup", "1", "--steps", "2")
        _, [record] = self.run_command(command, *more)
        # This machine may be busy, of which there is a warning too.
        [warning] = [w for w in record["warnings"] if w["code"] == "steps-unused"]
        self.assertIn("2 steps came after", warning["seen"])

    def test_the_stub_framework_is_started_for_each_rank(self):
        more = ("--launcher", "ranks", "--ranks", "2", "--steps", "5")
        _, [record] = self.run_command(STUB, *more)
        self.assertEqual([r["rank"] for r in record["ranks"]], [0, 1])
        self.assertEqual(len(record["ranks"][1]["step_ns"]), 5)
        self.assertEqual(record["adapter"]["framework"], "stub")
        self.assertEqual(record["adapter"]["loss"], "1.5")

    def test_an_adapter_may_be_a_file(self):
        (self.folder / "beside.py").write_text("VERSION = '7'\n", encoding="utf-8")
        text = (HERE / "stub_framework.py").read_text(encoding="utf-8")
        text = text.replace("import json\n", "import json\nimport beside\n", 1)
        text = text.replace('framework_version="1"', "framework_version=beside.VERSION")
        text += "\nfrom paceline.adapters.events import clipping\nassert clipping(0) == 'none'\n"
        (self.folder / "mine.py").write_text(text, encoding="utf-8")
        for name in ("./mine.py", str(self.folder / "mine.py")):
            with self.subTest(name=name):
                self.file.unlink(missing_ok=True)
                self.paceline(
                    "run", "--framework", name, "--model", "my-net", "--ranks", "2",
                    "--steps", "5", "--records", str(self.file),
                )
                [line] = self.file.read_text(encoding="utf-8").splitlines()
                record = json.loads(line)
                self.assertIsNone(record["error"])
                self.assertEqual(record["configuration"]["label"], "mine.py")
                self.assertEqual(record["adapter"]["framework_version"], "7")
                self.assertEqual([len(r["step_ns"]) for r in record["ranks"]], [5, 5])
        done = self.paceline("run", "--framework", "./no.py", "--model", "lenet", code=2)
        self.assertIn("there is no file './no.py'", done.stderr)

    def test_a_program_may_say_what_nobody_else_does(self):
        event = json.dumps({"event": "environment", "optimizer": "adamw", "accumulate": 2})
        step = json.dumps({"event": "step", "step_s": 1e-6})
        end = json.dumps({"event": "end"})
        command = "; ".join(f"echo {shlex.quote(one)}" for one in (event, step, step, end))
        more = ("--warmup", "0", "--steps", "2")
        _, [record] = self.run_command(command, *more)
        self.assertEqual(record["adapter"]["optimizer"], "adamw")
        for key in ("optimizer", "accumulate", "seed", "bucket_mib"):
            self.assertIsNone(record["configuration"][key], key)
        status, _ = self.fails(command, *more, "--optimizer", "sgd")
        self.assertEqual(status, "contradiction")

    def test_variables_of_the_environment_are_an_axis(self):
        command = "for i in 1 2; do echo took $PACE; done"
        more = (*MICROSECONDS, "--warmup", "0", "--steps", "2")
        done, records = self.run_command(command, *more, "--env", "PACE=2,3")
        self.assertEqual(
            [r["ranks"][0]["step_ns"][0] for r in records], [2 * 10**3, 3 * 10**3]
        )
        self.assertIn("env.PACE=3", done.stdout)


class LargestBatch(Command):
    STEPS = "for i in $(seq {total}); do echo took 1; done"
    MORE = (*MICROSECONDS, "--warmup", "0", "--steps", "2")

    def search(self, command, *more, code=0):
        return self.paceline(
            "run", "--command", command, "--records", str(self.file),
            "--batch-size", "max", *self.MORE, *more, code=code,
        )

    def records(self):
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def test_is_searched_by_doubling_and_bisection(self):
        command = (
            "echo {batch} >> tried; [ {batch} -gt 6 ] && "
            f"{{ echo MemoryError; exit 1; }}; {self.STEPS}"
        )
        self.search(command, "--seed", "1,1", "--runs", "2")
        records = self.records()
        self.assertEqual([r["configuration"]["batch_size"] for r in records], [6, 6])
        for record in records:
            self.assertEqual(record["adapter"]["batch_mode"], "max")
            self.assertEqual(
                record["adapter"]["batch_sizes_tried"],
                "1 fits, 2 fits, 4 fits, 8 does not, 6 fits, 7 does not",
            )
        tried = self.folder / "tried"
        self.assertEqual(tried.read_text(encoding="utf-8").split(), list("12486766"))
        self.search(command, "--seed", "1,1", "--runs", "2", "--resume")
        self.assertEqual(len(self.records()), 2)
        self.assertEqual(tried.read_text(encoding="utf-8").split(), list("12486766"))

    def test_without_a_limit_is_no_figure(self):
        done = self.search("# {batch}\n" + self.STEPS, code=2)
        self.assertIn("no limit was found: 65536 fits too", done.stderr)
        self.assertIn("  65536 fits\n", done.stderr)

    def test_is_searched_under_a_memory_limit(self):
        allocate = shlex.join(
            [sys.executable, "-c", "import sys; bytearray(int(sys.argv[1]) << 28)"]
        )
        command = f"{allocate} {{batch}} || exit 1; {self.STEPS}"
        before = resource.getrlimit(resource.RLIMIT_DATA)
        limit = 3 << 29  # of which six allocations are the whole
        resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
        try:
            self.search(command)
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, before)
        [record] = self.records()
        self.assertIn("8 does not", record["adapter"]["batch_sizes_tried"])
        self.assertIn(record["configuration"]["batch_size"], (4, 5))

    def test_another_failure_is_told_and_nothing_runs(self):
        command = "[ {batch} -gt 1 ] && { echo no such GPU; exit 3; }; " + self.STEPS
        done = self.search(command, code=2)
        self.assertIn("a batch of 2 failed for another reason", done.stderr)
        self.assertIn("no such GPU", done.stderr)
        self.assertFalse(self.file.exists())

    def test_no_size_at_all(self):
        done = self.search("echo {batch}: MemoryError; exit 1", code=2)
        self.assertIn("not even a batch of 1 fits", done.stderr)


class Failures(Command):
    def test_an_exit_code_with_the_last_words(self):
        status, error = self.fails("echo step; echo no such GPU >&2; exit 3")
        self.assertEqual(status, "exit")
        self.assertEqual(error, "ended with code 3 after 0 of 15 steps: no such GPU")

    def test_no_samples(self):
        status, error = self.fails("echo hello", "--step-regex", "took ([0-9]+)")
        self.assertEqual(status, "no-samples")
        self.assertIn("no line matches", error)

    def test_a_wrong_count(self):
        command = "for i in 1 2 3; do echo took 1; done"
        status, error = self.fails(command, "--step-regex", "took ([0-9]+)")
        self.assertEqual(status, "wrong-count")
        self.assertEqual(
            error,
            "3 of 15 steps came; where a line stands for several steps, say how "
            "many, as --steps-per-line 5; the program has to run 15 steps, which "
            "{total} in the command hands over; --warmup and --steps ask for fewer",
        )

    def test_an_adapter_without_an_end(self):
        first = json.dumps({"event": "environment", "framework": "mine"})
        step = json.dumps({"event": "step", "step_s": 1})
        command = (
            f"echo {shlex.quote(first)}; "
            f"for i in $(seq {{total}}); do echo {shlex.quote(step)}; done"
        )
        status, error = self.fails(command)
        self.assertEqual(status, "exit")
        self.assertIn("ended without the event 'end' after 15 of 15", error)

    def test_a_loss_that_is_not_finite(self):
        line = json.dumps({"event": "step", "step_s": 1, "loss": float("nan")})
        status, _ = self.fails(f"echo {shlex.quote(line)}")
        self.assertEqual(status, "not-finite")
        command = "echo took 1 loss nan"
        status, error = self.fails(command, "--step-regex", "took ([0-9]+)")
        self.assertEqual(status, "not-finite")
        self.assertIn("took 1 loss nan", error)

    def test_a_rank_that_fails_ends_the_others(self):
        command = "[ $RANK = 1 ] && exit 5; sleep 100"
        started = time.monotonic()
        status, error = self.fails(command, "--launcher", "ranks", "--ranks", "2")
        self.assertLess(time.monotonic() - started, 60)
        self.assertEqual(status, "exit")
        self.assertEqual(error, "rank 1: ended with code 5 after 0 of 15 steps")

    def test_many_failures_are_as_many_reasons(self):
        seeds = ",".join(str(seed) for seed in range(1, 21))
        pids = self.folder / "pids"
        command = (
            f"setsid sh -c 'echo $$ >> {pids}; exec sleep 1000' & "
            f"until [ $(wc -l < {pids}) -ge {{seed}} ]; do sleep 0.01; done; "
            "echo reason {seed}; exit 4"
        )
        pids.touch()
        done, records = self.run_command(command, "--seed", seeds, code=1)
        self.assertEqual(len(records), 20)
        left = pids.read_text(encoding="utf-8").split()
        self.assertEqual(len(left), 20)
        for pid in left:
            self.assert_gone(int(pid))
        for seed, record in enumerate(records, 1):
            self.assertTrue(record["error"].endswith(f": reason {seed}"))
            self.assertIn(record["error"], done.stdout)

    def test_resuming_repeats_nothing_that_has_finished(self):
        count = self.folder / "count"
        command = (
            f"echo {{seed}} >> {count}; [ {{seed}} = 2 -a ! -e {count}.fixed ] "
            "&& exit 1; for i in 1 2; do echo took 1; done"
        )
        more = (*MICROSECONDS, "--warmup", "0", "--steps", "2")
        more += ("--seed", "1,2,3")
        self.run_command(command, *more, code=1)
        pathlib.Path(f"{count}.fixed").touch()
        self.run_command(command, *more, "--resume")
        self.assertEqual(count.read_text(encoding="utf-8").split(), list("1232"))
        self.run_command(command, *more, "--resume")
        self.assertEqual(count.read_text(encoding="utf-8").split(), list("1232"))

    def test_resuming_a_half_done_matrix_repeats_nothing(self):
        begun = self.folder / "begun"
        command = (
            f"echo {{seed}} >> {begun}; [ {{seed}} = 3 -a ! -e {begun}.again ] "
            "&& sleep 1000; for i in 1 2; do echo took 1; done"
        )
        arguments = [
            "run", "--command", command, "--records", str(self.file),
            "--batch-size", "8", *MICROSECONDS, "--warmup", "0",
            "--steps", "2", "--seed", "1,2,3,4",
        ]
        running = subprocess.Popen(
            [PACELINE, *arguments],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not (begun.exists() and "3" in begun.read_text(encoding="utf-8")):
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(60), 130)
        self.assertEqual(len(self.file.read_text(encoding="utf-8").splitlines()), 2)
        pathlib.Path(f"{begun}.again").touch()
        self.paceline(*arguments, "--resume")
        self.assertEqual(begun.read_text(encoding="utf-8").split(), list("12334"))
        records = self.file.read_text(encoding="utf-8").splitlines()
        seeds = [json.loads(r)["configuration"]["seed"] for r in records]
        self.assertEqual(seeds, [1, 2, 3, 4])

    def test_a_deadline_leaves_no_process_behind(self):
        pids = self.folder / "pids"
        command = f"setsid sh -c 'echo $$ > {pids}; sleep 1000' & sleep 1000"
        status, error = self.fails(command, "--deadline", "2")
        self.assertEqual(status, "timeout")
        self.assertIn("not done after 2 s", error)
        self.assert_gone(int(pids.read_text(encoding="utf-8")))

    def test_a_killed_paceline_leaves_no_process_behind(self):
        pids = self.folder / "pids"
        command = f"setsid sh -c 'echo $$ > {pids}; sleep 1000' & sleep 1000"
        running = subprocess.Popen(
            [PACELINE, "run", "--command", command, "--batch-size", "1"],
            cwd=self.folder,
            stderr=subprocess.DEVNULL,
        )
        while not (pids.exists() and pids.read_text(encoding="utf-8").strip()):
            self.assertIsNone(running.poll())
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait()
        self.assert_gone(int(pids.read_text(encoding="utf-8")))

    def assert_gone(self, pid):
        end = time.monotonic() + 20
        while pathlib.Path(f"/proc/{pid}").exists():
            self.assertLess(time.monotonic(), end, f"process {pid} lives")
            time.sleep(0.05)


UNSEEN = ("--command", "train $RANKS", "--batch-size", "4")


class Mistakes(Command):
    def rejected(self, *arguments):
        return self.paceline("run", *arguments, code=2).stderr

    def test_are_told_before_anything_runs(self):
        for arguments, sentence in (
            (("--command", "true"), "--command: give --batch-size too"),
            (
                ("--command", "true", "--batch-size", "1", "--step-regex", "("),
                "--step-regex: '(' is no regular expression",
            ),
            (
                ("--command", "true", "--batch-size", "1", "--step-unit", "us"),
                "--step-unit: 'us' says what --step-regex finds",
            ),
            (("--step-regex", "x"), "--step-regex: 'x' belongs to --command"),
            (("--steps-per-line", "2"), "--steps-per-line: '2' belongs to --command"),
            (("--reader", "megatron"), "--reader: 'megatron' belongs to --command"),
            ((*UNSEEN, "--reader", "tqdm"), "'tqdm'"),
            (
                (*UNSEEN, "--reader", "megatron", "--step-regex", "x"),
                "--reader: the case has --step-regex too, 'x'; give one of the two",
            ),
            (
                (*UNSEEN, "--step-regex", "x", "--step-unit", "tokens/s"),
                "--step-unit: 'tokens/s' needs --tokens-per-sample",
            ),
            (
                (*UNSEEN, "--steps-per-line", "10", "--warmup", "5"),
                "--warmup: '5' steps are no whole number of lines of 10 steps; take 10",
            ),
            (
                ("--command", "true", "--batch-size", "4,8"),
                "--batch-size: 4 and 8 would be the same job: the command does not "
                "see it; write {batch} where it takes it",
            ),
            ((*UNSEEN, "--optimizer", "sgd,adamw"), "write {optimizer} where"),
            ((*UNSEEN, "--dtype", "fp32,bf16"), "write {dtype} where"),
            ((*UNSEEN, "--accumulate", "1,2"), "write {accumulate} where"),
            ((*UNSEEN, "--ranks", "1,2"), "write {ranks} where"),
            ((*UNSEEN, "--python", "a"), "write {python} where"),
            (
                ("--command", "true", "--batch-size", "max"),
                "--batch-size: the command does not see it",
            ),
            (("--strategy", "external"), "--strategy: 'external' is the strategy"),
            (
                ("--framework", "pytorch-ddp", "--strategy", "nosuch"),
                "--strategy: 'nosuch' is a strategy of Paceline's own ranks",
            ),
            (("--framework", "torhc"), "--framework: unknown framework 'torhc'"),
            (("--env", "RANK=3", "--model", "lenet"), "Paceline itself sets RANK"),
            (("--env", "RANK", "--model", "lenet"), "'RANK' is not NAME=VALUE"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(sentence, self.rejected(*arguments))


class Comparisons(Command):
    def test_diff_and_page_of_two_commands(self):
        more = ("--step-regex", "took ([0-9]+)", "--step-unit", "us")
        more += ("--warmup", "0", "--steps", "6", "--runs", "6")
        command = "for i in 1 2 3 4 5 6; do echo took $PACE$i; done"
        self.run_command(command, *more, "--env", "PACE=2,3")
        done = self.paceline(
            "diff", str(self.file), "--base", "env.PACE=2", "--test", "env.PACE=3",
            code=1,
        )
        self.assertIn("slower", done.stdout)
        self.paceline("report", str(self.file), "-o", "page.html")
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("--step-regex", page)

    def test_ab_takes_turns_with_two_commands(self):
        def side(digit):
            command = f"for i in 1 2 3 4 5 6; do echo took {digit}$i; done"
            return (
                PACELINE, "run", "--command", command, "--batch-size", "8",
                "--step-regex", "took ([0-9]+)", "--step-unit", "us",
                "--warmup", "0", "--steps", "6",
            )

        done = self.paceline(
            "ab", "--runs", "6", "--out", "d", "--", *side(2), "--", *side(3), code=1
        )
        self.assertIn("slower", done.stdout)
        for name, digit in (("a", 2), ("b", 3)):
            lines = (self.folder / f"d/{name}.jsonl").read_text(encoding="utf-8")
            records = [json.loads(line) for line in lines.splitlines()]
            self.assertEqual([r["run"] for r in records], list(range(6)))
            for record in records:
                self.assertEqual(record["source"], "external")
                self.assertEqual(
                    record["ranks"][0]["step_ns"],
                    [(10 * digit + i) * 10**3 for i in range(1, 7)],
                )

    def test_dry_run_prints_what_is_started(self):
        done = self.paceline(
            "run", "--command", "train {batch}", "--batch-size", "4",
            "--launcher", "ranks", "--ranks", "2", "--dry-run",
        )
        self.assertIn("RANK=0", done.stdout)
        self.assertIn("sh -c 'train 4'", done.stdout)


if __name__ == "__main__":
    unittest.main()
