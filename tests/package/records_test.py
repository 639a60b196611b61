# SPDX-License-Identifier: Apache-2.0
"""paceline.records: the figures of the program and the samples of the file, as rows and as data frames."""

import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import unittest
from unittest import mock

from paceline import records

PACELINE = os.environ["PACELINE"]
MEGATRON = "\n".join(
    f" iteration {k}/ 8 | consumed samples: {16 * k} | elapsed time per iteration (ms): {100 + k}.0 | "
    "global batch size: 16 | lm loss: 2.5 |"
    for k in range(1, 9)
)


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.file = cls.folder / "r.jsonl"
        for pace in (2, 3):
            command = f"for i in 1 2 3 4 5 6; do echo took {pace}$i; done"
            subprocess.run(
                [PACELINE, "run", "--command", command, "--batch-size", "8", "--step-regex", "took ([0-9]+)", "--step-unit",
                 "us", "--warmup", "1", "--steps", "5", "--runs", "3", "--label", f"pace {pace}", "--records", cls.file],
                check=True, capture_output=True, cwd=cls.folder)  # fmt: skip
        # The program that this test was given, not the one beside the package.
        given = mock.patch.object(records, "program", lambda: (PACELINE, dict(os.environ)))
        given.start()
        cls.addClassCleanup(given.stop)

    def test_cases_are_those_of_the_report(self):
        cases, _ = records.rows(self.file)
        said = subprocess.run([PACELINE, "report", self.file, "--format", "json"], check=True, capture_output=True)
        report = json.loads(said.stdout)["cases"]
        self.assertEqual([one["case_id"] for one in cases], list(range(len(report))))
        for row, one in zip(cases, report):
            self.assertEqual(row["step_p50_s"], one["step_p50_s"])
            self.assertEqual(row["examples_per_s_low"], one["examples_per_s_low"])
            self.assertEqual(row["configuration.batch_size"], 8)
            self.assertEqual(row["warnings"], [warning["code"] for warning in one["warnings"]])

    def test_samples_are_those_of_the_file(self):
        cases, samples = records.rows(self.file)
        self.assertEqual(len(samples), 2 * 3 * 5)
        first = {key: samples[0][key] for key in ("case", "run", "rank", "step", "step_ns")}
        self.assertEqual(first, {"case": "pace 2", "run": 0, "rank": 0, "step": 0, "step_ns": 22_000})
        for case in cases:
            own = [one["step_ns"] for one in samples if one["case_id"] == case["case_id"]]
            self.assertEqual(len(own), 15)
            self.assertEqual(statistics.median(own) * 1e-9, case["step_p50_s"])

    def test_logs_are_read_as_well(self):
        log = self.folder / "megatron.log"
        log.write_text(MEGATRON)
        (case,), samples = records.rows(log)
        self.assertEqual([one["step_ns"] for one in samples], [(100 + k) * 10**6 for k in range(1, 9)])
        self.assertEqual(samples[0]["case_id"], case["case_id"])
        self.assertIsNone(case["configuration.warmup_steps"])

    def test_directories_and_copies_count_as_in_the_report(self):
        folder = self.folder / "logs"
        folder.mkdir()
        for name in ("a.log", "copy.log"):
            (folder / name).write_text(MEGATRON)
        for paths in ([folder], [folder / "a.log", folder / "copy.log"]):
            (case,), samples = records.rows(*paths)
            self.assertEqual((case["runs"], len(samples)), (1, 8))

    def test_what_the_program_rejects(self):
        other = self.folder / "notes.txt"
        other.write_text("hello\n")
        with self.assertRaisesRegex(ValueError, "notes.txt"):
            records.rows(other)

    @unittest.skipIf(importlib.util.find_spec("pandas"), "pandas is installed")
    def test_without_pandas_read_says_what_to_install(self):
        with self.assertRaisesRegex(ImportError, "paceline.pandas.*paceline.records.rows"):
            records.read(self.file)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_data_frames(self):
        cases, samples = records.read(self.file)
        medians = samples.groupby("case_id").step_ns.median() * 1e-9
        self.assertEqual(list(medians), list(cases.step_p50_s))


if __name__ == "__main__":
    unittest.main()
