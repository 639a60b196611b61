# SPDX-License-Identifier: Apache-2.0
"""Calls `paceline predict`."""

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tables import ROOT

PROGRAM = ROOT / "build" / "paceline"


def predict(requests, program=PROGRAM):
    """Samples/s of all ranks that train, one a request, in order.

    Raises RuntimeError with the program's words where a request fails.
    """
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda it: predict_one(it, program), requests))


def predict_one(request, program):
    words = [str(program), "predict"]
    for key, value in request.items():
        if key != "id":
            flag = "model" if key == "network" else key.replace("_", "-")
            words += ["--" + flag, str(value)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        words += ["--records", str(path)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{request['id']}: {done.stderr.strip()}")
        return samples_per_s(json.loads(path.read_text()))


def samples_per_s(record):
    """Over all steps of a record of docs/record.md."""
    job = record["configuration"]
    window_ns = max(rank["window_ns"] for rank in record["ranks"])
    samples = (
        record["predicted"]["training_ranks"] * job["batch_size"] * job["steps"]
    )
    return samples / (window_ns * 1e-9)
