# SPDX-License-Identifier: Apache-2.0
"""What tests of reports share: records, and what the program and the report make of them."""

import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from paceline.readers.record import environment, rank, run_record
from paceline.reports.side_by_side import Report

PROGRAM = os.environ["PACELINE"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "reference" / "dlperf.csv"
RATES = "framework,model,precision,batch_size_per_device,nodes,gpus,throughput_samples_per_s"

_ASKED = {
    "model": "lenet",
    "batch_size": 8,
    "ranks": 1,
    "strategy": "external",
    "bucket_mib": 25.0,
    "engine": "gloo",
    "device": "cpu",
    "dtype": "fp32",
    "channels_last": False,
    "threads": 1,
    "warmup_steps": 5,
    "steps": 10,
    "accumulate": 1,
    "sync_each_step": False,
    "seed": 0,
    "optimizer": "sgd",
    "learning_rate": 0.001,
    "momentum": 0.9,
    "weight_decay": 0.0001,
}


def measured(framework, ranks=1, step_ms=8, run=0, *, asked=None, **said):
    """A run of ten equal steps on one clock; `said` is what its program said of itself."""
    record = run_record(
        {**_ASKED, "label": framework, "ranks": ranks},
        [rank([step_ms * 1_000_000] * 10, host="a", device="cpu")],
        experiment="frameworks",
        run=run,
        started_at="2024-05-06T07:08:09Z",
        environment_of=environment(hosts=[{"host": "a", "facts": {}, "topology": None}]),
        adapter={"loss_first": "2.5", "parameters": "61706", **said},
    )
    if framework:
        record["configuration"]["framework"] = framework
    record["configuration"] |= asked or {}
    return {**record, "source": "external" if framework else "measured"}


def failed(record, error, status=None):
    return {**record, "ranks": [], "error": error, **({"status": status} if status else {})}


class ReportCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file_of(self, records):
        path = self.folder / "records.jsonl"
        lines = [json.dumps(one, separators=(",", ":")) for one in records]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def rates(self, *rows, more=""):
        """A table of published rates; `more` are the headers of further columns."""
        path = self.folder / "table.csv"
        path.write_text("\n".join((RATES + more, *rows)) + "\n", encoding="utf-8")
        return path

    def printed(self, path, form="dlperf"):
        done = subprocess.run(
            [PROGRAM, "report", str(path), "--format", form],
            cwd=self.folder,
            capture_output=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode("utf-8")

    def json_of(self, path):
        return json.loads(self.printed(path, "json"))

    def report_of(self, path):
        return Report(self.json_of(path))

    def found(self, path):
        """ "column: finding" of every table."""
        results = self.report_of(path).results
        return [f"{one.column}: {one.text}" for result in results for one in result.findings]

    def golden(self, name, text):
        """PACELINE_UPDATE_GOLDEN=1 in the environment rewrites the file, and fails."""
        path = pathlib.Path(__file__).parent / "golden" / name
        if os.environ.get("PACELINE_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
            self.fail(f"rewrote {path}; look at the difference")
        self.assertEqual(text, path.read_text(encoding="utf-8"))


def with_facts(record, **facts):
    """The record on a machine of these facts."""
    changed = copy.deepcopy(record)
    changed["environment"]["hosts"][0]["facts"] = facts
    return changed
