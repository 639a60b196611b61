# SPDX-License-Identifier: Apache-2.0
"""The readers at work on the output of a program that runs, line by line."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import live_case
import mutations
import trainers_test as logs
from paceline.readers import megatron, torchtitan
from paceline.readers.live_program import says_out_of_memory
from paceline.readers.live_series import Failure
from paceline.readers.live_trainers import READERS, Trainers


def answer(trainers, line):
    """What the line holds, or how it fails."""
    try:
        return trainers.read(line)
    except Failure as failure:
        return {"status": failure.status, "failure": str(failure)}


def answers(text, name=""):
    trainers = Trainers(name)
    return [one for one in (answer(trainers, line) for line in text.split("\n")) if one]


def failure(text, name=""):
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
            self.assertEqual([round(one["step_ns"][0]) for one in found], whole["ranks"][0]["step_ns"])
            for step_ns, low_ns, high_ns in (one["step_ns"] for one in found):
                self.assertTrue(low_ns < step_ns < high_ns)
            self.assertEqual({one["examples"] for one in found}, {64})
            self.assertEqual(answers(log, name), found)

    def test_the_steps_of_a_line(self):
        self.assertEqual([one["steps"] for one in answers(logs.megatron_log(10))], [None] + [10] * 7)
        self.assertEqual([one["steps"] for one in answers(logs.titan_log())], [10] * 6)

    def test_a_trainer_says_all_at_its_end(self):
        (one,) = answers(logs.HF)
        self.assertEqual((one["reader"], one["steps"], one["whole"]), ("hf-trainer", 174, True))
        self.assertEqual((round(one["step_ns"][0]), one["examples"]), (round(87.1234e9 / 174), 64))

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
            right = {one["step_ns"][0] for one in answers(log)}
            for kind, damaged in mutations.mutated(log):
                found = answers(damaged)
                if any("failure" in one for one in found):
                    continue
                other = {one["step_ns"][0] for one in found} - right
                # Without the head torchtitan's step is the clock's; over a line that is gone, that of more steps.
                self.assertTrue(not other or "titan" in log, f"{kind}: {other}")
                for step in other:
                    self.assertTrue(min(right) * 0.98 <= step <= max(right) * 1.02, f"{kind}: {step}")

    def test_random_bytes(self):
        dice = random.Random(mutations.SEED)
        content = "\n".join((logs.megatron_log(), logs.titan_log(), logs.HF)).encode().split(b"\n")
        trainers = Trainers()
        for number in range(100_000):
            piece = bytearray(dice.choice(content) if number % 4 else b"")
            for _ in range(dice.randrange(4)):
                at = dice.randrange(len(piece) + 1)
                piece[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(9))
            trainers = Trainers() if number % 50 == 0 else trainers
            answer(trainers, piece.decode("utf-8", errors="replace"))


def iteration(number, batch=16):
    return f" iteration {number}/ 500 | elapsed time per iteration (ms): {100 + number} | global batch size: {batch} |"


class Case(unittest.TestCase):
    def test_lines_are_held_against_the_case(self):
        lines = ["hello", iteration(1), iteration(2)]
        reader = live_case.taken(lines, now_ns=10**9, warmup_steps=0)
        self.assertEqual(live_case.steps_of(reader), [[101_000_000, 102_000_000]])
        self.assertEqual(reader.record()["adapter"], {"reader": "megatron"})
        for more, why in (
            (iteration(3, 32), "a step of megatron has 32 samples, and --batch-size 8 on 2 ranks are 16"),
            (iteration(9), "a line of megatron stands for 7 steps, and the case says 1; say --steps-per-line 7"),
        ):
            self.assertEqual(live_case.failure_of([*lines, more], warmup_steps=0), ("contradiction", why))

    def test_the_first_step_says_whose_the_lines_are(self):
        lines = [iteration(1), iteration(2)]
        event = '{"event": "step", "step_ns": 7}'
        for given, known, step_ns in (
            ([event, *lines], {}, 7),
            ([*lines, event], {}, 101_000_000),
            ([event, *lines], {"reader": "megatron"}, 101_000_000),
            ([event, *lines], {"command": ""}, 7),
        ):
            reader = live_case.taken(given, warmup_steps=0, steps=1, **known)
            self.assertEqual(live_case.steps_of(reader), [[step_ns]])


class Process(unittest.TestCase):
    def run_live(self, *arguments, given=b""):
        words = [sys.executable, "-m", "paceline.readers.live", *arguments]
        return subprocess.run(words, input=given, capture_output=True, check=False, timeout=60)

    def job(self, script, **more):
        return {
            "configuration": live_case.output().case.configuration,
            "rank": 1,
            "words": ["sh", "-c", script],
            "environment": {},
            "without": [],
            "log": "",
            **more,
        }

    def answers(self, script, **more):
        done = self.run_live(given=json.dumps(self.job(script, **more)).encode())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    def failure(self, script, **more):
        return self.answers(script, **more)[-1]

    def test_a_record_at_the_end(self):
        event = "echo '{\"event\": \"step\", \"step_ns\": 7}'; "
        *said, record = self.answers(f"{event} printf '\\377\\r' >&2; sleep 0.2; {event} {event}")
        self.assertEqual((said[0], said[-1]), ({"done": 1}, {"done": 3}))
        self.assertEqual([(one["rank"], one["step_ns"]) for one in record["ranks"]], [(1, [7, 7])])

    def test_a_program_that_does_not_exist(self):
        why = "cannot start '/no/such/program': No such file or directory"
        self.assertEqual(self.failure("", words=["/no/such/program"]), {"failure": why, "status": "exit"})

    def test_nothing_that_was_started_is_left(self):
        for script in ("sleep 1000", "yes", 'trap "" TERM; sleep 1000; sleep 1000'):
            with tempfile.NamedTemporaryFile() as pid:
                start = f"setsid sh -c 'echo $$ > {pid.name}; {script}' & until [ -s {pid.name} ]; do sleep 0.01; done"
                self.assertIn("ended with code 4", self.failure(f"{start}; exit 4")["failure"])
                self.assertFalse(os.path.exists(f"/proc/{int(pid.read())}"))

    def test_a_program_that_ignores_the_wish_to_end(self):
        with tempfile.NamedTemporaryFile() as pid:
            script = f"trap '' TERM; echo $$ > {pid.name}; while true; do sleep 1; done"
            words = [sys.executable, "-m", "paceline.readers.live"]
            with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
                reader.stdin.write(json.dumps(self.job(script)).encode())
                reader.stdin.close()
                while not (number := pid.read()):
                    pid.seek(0)
                reader.terminate()
                (said,) = reader.stdout.readlines()
            self.assertEqual(json.loads(said)["failure"], "was killed by signal 9 after 0 of 3 steps")
            self.assertFalse(os.path.exists(f"/proc/{int(number)}"))

    def test_environment_and_log(self):
        with tempfile.NamedTemporaryFile() as log:
            with unittest.mock.patch.dict(os.environ, {"GONE": "1"}):
                self.answers(
                    "echo $WORD$GONE; printf last >&2", environment={"WORD": "one"}, without=["GONE"], log=log.name
                )
            self.assertEqual(log.read(), b"one\nlast")

    def test_the_log_is_the_output_as_it_came(self):
        with tempfile.NamedTemporaryFile() as log:
            self.answers("printf 'a\\r\\nb\\rc\\377'", log=log.name)
            self.assertEqual(log.read(), b"a\r\nb\rc\xff")
        why = "cannot keep its output in '/dev/full': No space left on device"
        self.assertEqual(self.failure("echo 1; exec sleep 60", log="/dev/full")["failure"], why)
        why = "cannot keep its output in '/dev/null/x': Not a directory"
        self.assertEqual(self.failure("echo 1", log="/dev/null/x")["failure"], why)

    def test_output_without_ends_of_lines(self):
        event = "echo '{\"event\": \"step\", \"step_ns\": 7}'; "
        *_, record = self.answers(f"head -c 100000000 /dev/zero; echo; {event * 3}")  # the test ends after 60 s
        self.assertEqual([one["step_ns"] for one in record["ranks"]], [[7, 7]])

    def test_a_line_that_is_too_long(self):
        for mebibytes, done in ((7, 1), (9, 0)):
            padding = f"head -c {mebibytes << 20} /dev/zero | tr '\\0' x"
            script = f"printf '{{\"event\": \"step\", \"step_ns\": 7, \"note\": \"'; {padding}; printf '\"}}\\n'"
            *_, last, _ = self.answers(script)
            self.assertEqual(last, {"done": done}, mebibytes)

    def test_the_moment_of_a_line_is_when_it_was_read(self):
        moments = """
import pathlib, sys, time
from paceline.readers.live_program import Program
go, log = map(pathlib.Path, sys.argv[1:])
before = time.monotonic_ns()
program = Program(["sh", "-c", f"printf '1\\n2\\n'; read go < {go}; echo 3"], {}, [], str(log), True)
lines = (one for one in program.lines() if one[0])
first = next(lines)
go.write_text("\\n")
while log.read_text() != "1\\n2\\n3\\n":
    pass
read_ns = time.monotonic_ns() - before
time.sleep(0.5)
second, third = lines
program.end()
print(first[1] == second[1] < third[1] <= read_ns)
"""
        with tempfile.TemporaryDirectory() as folder:
            go, log = f"{folder}/go", f"{folder}/log"
            os.mkfifo(go)
            words = [sys.executable, "-c", moments, go, log]
            done = subprocess.run(words, capture_output=True, check=False, timeout=60)
            self.assertEqual((done.stdout, done.stderr), (b"True\n", b""))

    def test_a_failure_is_the_last_answer(self):
        error = "echo '{\"event\": \"error\", \"message\": \"\\ud800 \u00e9\"}'; exec sleep 60"
        self.assertEqual(self.failure(error), {"failure": "? \u00e9", "status": "exit"})
        for code, how, status in (
            (128, "ended with code 128", "exit"),
            (129, "was killed by signal 1", "signal"),
            (137, "was killed by signal 9", "signal"),
            (192, "was killed by signal 64", "signal"),
            (193, "ended with code 193", "exit"),
            (255, "ended with code 255", "exit"),
        ):
            self.assertEqual(self.failure(f"exit {code}"), {"failure": f"{how} after 0 of 3 steps", "status": status})
        self.assertEqual(
            self.failure("kill -9 $$"), {"failure": "was killed by signal 9 after 0 of 3 steps", "status": "signal"}
        )
        with tempfile.NamedTemporaryFile() as log:
            self.assertEqual(
                self.failure("echo CUDA out of memory; exit 3", log=log.name),
                {"failure": "ended with code 3 after 0 of 3 steps: CUDA out of memory", "status": "out-of-memory"},
            )

    def test_the_program_ends_with_its_reader(self):
        words = [sys.executable, "-m", "paceline.readers.live"]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
            reader.stdin.write(json.dumps(self.job("echo begun; exec sleep 60")).encode())
            reader.stdin.close()
            self.assertEqual(json.loads(reader.stdout.readline()), {"done": 0})
            reader.terminate()
            self.assertIn(b"after 0 of 3 steps", reader.stdout.read())

    def test_words_of_memory_that_ran_out(self):
        for words in (
            "RuntimeError: could not create a memory object",
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor",
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 411041792 bytes.",
            "terminate called after throwing an instance of 'std::bad_alloc'",
            "ResourceExhaustedError: Fail to alloc memory of 411041792 size",
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate",
            "numpy._core._exceptions._ArrayMemoryError: Unable to allocate",
        ):
            self.assertTrue(says_out_of_memory(words), words)
        self.assertFalse(says_out_of_memory("RuntimeError: the memory format is wrong"))

    def test_an_expression_is_checked(self):
        self.assertEqual(self.run_live("--check-regex", "took ([0-9]+)").returncode, 0)
        done = self.run_live("--check-regex", "(")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"'(' is no regular expression", done.stderr)

    def test_names(self):
        self.assertEqual(sorted(READERS), ["hf-trainer", "megatron", "torchtitan"])


if __name__ == "__main__":
    unittest.main()
