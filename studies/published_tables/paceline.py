# SPDX-License-Identifier: Apache-2.0
"""Asks `paceline predict --requests -`, one process for many requests."""

import json
import subprocess

from tables import ROOT

PROGRAM = ROOT / "build" / "paceline"


class Program:
    """A running program, which keeps compiled plans from request to request.

    Use as a context manager.
    """

    def __init__(self, path=PROGRAM):
        self._process = subprocess.Popen(
            [str(path), "predict", "--requests", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    def samples_per_s(self, request):
        """Of all ranks that train.

        Raises RuntimeError with the program's words where it rejects.
        """
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or "{}")
        if "ranks" not in answer:
            why = answer.get("error", "the program ended")
            raise RuntimeError(f"{request['id']}: {why}")
        return samples_per_s(answer)


def samples_per_s(record):
    """Over all steps of a record (docs/record.md)."""
    job = record["configuration"]
    window_ns = max(rank["window_ns"] for rank in record["ranks"])
    samples = (
        record["predicted"]["training_ranks"] * job["batch_size"] * job["steps"]
    )
    return samples / (window_ns * 1e-9)
