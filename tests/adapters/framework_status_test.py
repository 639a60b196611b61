# SPDX-License-Identifier: Apache-2.0
"""A stub framework that fails in each way that docs/adapters.md lists, started
as an adapter is; that a framework is absent is in tests/case/outside_test.cc.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PACELINE = os.environ["PACELINE"]
DOCS = pathlib.Path(__file__).parents[2] / "docs" / "adapters.md"

# An interpreter that does what STUB says, whatever program it is given.
STUB = f"""#!{sys.executable}
import json, os, signal, sys, time

def emit(event, **values):
    print(json.dumps({{"event": event, **values}}), flush=True)

how, case = os.environ["STUB"], json.loads(os.environ["PACELINE_CASE"])
emit("environment", framework="stub", framework_version="1")
if how == "exit":
    print("no such GPU", flush=True)
    sys.exit(3)
if how == "signal":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "out-of-memory":
    print("torch.OutOfMemoryError: CUDA out of memory.", flush=True)
    sys.exit(1)
if how == "timeout":
    time.sleep(1000)
if how == "unsupported":
    emit("error", status="unsupported", message="no such layer")
    sys.exit(2)
if how.isdigit():  # it has room for so many samples
    if case["batch_size"] == 1:
        emit("error", message="ValueError: Expected more than 1 value per channel when training")
        sys.exit(2)
    if case["batch_size"] > int(how):
        print("XlaRuntimeError: INTERNAL: YNNPACK operation failed", flush=True)
        sys.exit(1)
if how == "broken":
    print("no such file", flush=True)
    sys.exit(1)
if how == "no-samples":
    sys.exit(0)
for index in range(case["steps"] - (how == "wrong-count")):
    emit("step", index=index, step_ns="fast" if how == "bad-output" else 1000)
turns = {{"paired_step_ns": ["fast"], "compute_only_step_ns": [1], "pair_of_step": [0]}}
emit("end", loss=float("nan") if how == "not-finite" else 1.5,
     **({{"in_turn": turns}} if how == "text-for-a-time" else {{}}))
"""

FAILURES = {
    "exit": "ended with code 3 after 0 of 15 steps: no such GPU",
    "signal": "was killed by signal 9",
    "out-of-memory": "CUDA out of memory",
    "timeout": "not done after 3 s",
    "no-samples": "no ",
    "wrong-count": "of 10",
    "not-finite": "the loss became a value that is not finite",
    "bad-output": "fast",
}


class Statuses(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.python = self.folder / "python"
        self.python.write_text(STUB, encoding="utf-8")
        self.python.chmod(0o755)

    def start_stub(self, stubs, *more):
        return subprocess.run(
            [
                PACELINE, "run", "--framework", "pytorch-ddp",
                "--python", str(self.python), "--model", "lenet",
                "--env", "STUB=" + stubs,
                "--deadline", "3", "--records", "r.jsonl", *more,
            ],
            cwd=self.folder, capture_output=True, text=True, timeout=200,
            check=False,
        )

    def run_stub(self, *stubs, code, more=()):
        done = self.start_stub(",".join(stubs), *more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        text = (self.folder / "r.jsonl").read_text(encoding="utf-8")
        records = [json.loads(line) for line in text.splitlines()]
        return done, {r["configuration"]["env"]["STUB"]: r for r in records}

    def test_a_good_one_between_the_failures_is_measured(self):
        done, records = self.run_stub(*FAILURES, "good", code=1)
        self.assertEqual(len(records), len(FAILURES) + 1)
        for how, words in FAILURES.items():
            with self.subTest(how=how):
                record = records[how]
                self.assertEqual(record["status"], how, record["error"])
                self.assertIn(words, record["error"])
                self.assertEqual(record["ranks"], [])
        self.assertEqual(records["good"]["ranks"][0]["step_ns"], [1000] * 10)
        self.assertEqual(records["good"]["adapter"]["framework"], "stub")

    def test_one_of_two_ranks_is_enough(self):
        _, records = self.run_stub("bad-output", code=1, more=("--ranks", "2"))
        self.assertEqual(records["bad-output"]["status"], "bad-output")
        self.assertRegex(records["bad-output"]["error"], "^rank [01]: ")

    def test_an_event_with_a_value_that_no_record_may_hold(self):
        _, records = self.run_stub("text-for-a-time", code=1)
        self.assertEqual(records["text-for-a-time"]["status"], "bad-output")
        self.assertRegex(records["text-for-a-time"]["error"], "paired_step_ns.*fast")

    def test_what_it_does_not_have_is_no_failure(self):
        _, records = self.run_stub("unsupported", code=0)
        self.assertEqual(records["unsupported"]["status"], "unsupported")
        self.assertIn("no such layer", records["unsupported"]["error"])

    def test_the_largest_batch_is_what_the_framework_has_room_for(self):
        done, records = self.run_stub("13", code=0, more=("--batch-size", "max"))
        record = records["13"]
        self.assertEqual(record["configuration"]["batch_size"], 13)
        self.assertEqual(
            record["adapter"]["batch_sizes_tried"],
            "1 is too small, 2 fits, 4 fits, 8 fits, 16 does not, 12 fits, 14 does not, 13 fits")
        again, records = self.run_stub(
            "13", code=0, more=("--batch-size", "max", "--resume"))
        self.assertEqual(records["13"], record)
        self.assertNotIn("searching", again.stderr)
        self.assertIn("searching", done.stderr)

    def test_a_search_without_a_size_says_the_least_that_it_tried(self):
        done = self.start_stub("1", "--batch-size", "max")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "not even a batch of 2 fits into .* GB: .*YNNPACK")
        self.assertIn("tried: 1 is too small, 2 does not", done.stderr)
        self.assertFalse((self.folder / "r.jsonl").exists())

    def test_a_search_ends_where_it_fails_for_another_reason(self):
        done = self.start_stub("broken", "--batch-size", "max")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, "a batch of 1 failed for another reason.*no such file")

    def test_every_status_of_the_docs_is_here(self):
        table = DOCS.read_text(encoding="utf-8").split("| `status` of the record")[1]
        rows = re.findall(r"^\| (`[^|]*) \|", table.split("\n\n")[0], re.MULTILINE)
        told = {name for row in rows for name in re.findall("`([a-z-]+)`", row)}
        # tests/adapters/command_test.py has times that contradict the clock.
        self.assertEqual(told, {*FAILURES, "contradiction", "unsupported", "not-installed"})


if __name__ == "__main__":
    unittest.main()
