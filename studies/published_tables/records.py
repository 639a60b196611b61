# SPDX-License-Identifier: Apache-2.0
"""DLPerf's cells of 1 and 8 devices as run records, for `predict --measured`."""

import json

import pandas

from tables import REFERENCE, dlperf_strategy

STEPS = 10  # all alike: a cell is one number
NETWORKS = {"ResNet-50-v1.5": "resnet50", "BERT-Base": "bert-base-30522"}


def write_records(folder, reference=REFERENCE):
    """One file a series, with a record of 1 and one of 8 devices.

    Returns the files by series, `table_id|framework`.
    """
    table = pandas.read_csv(reference / "dlperf.csv")
    files = {}
    for (table_id, column), rows in table.groupby(["table_id", "framework"]):
        path = folder / f"dlperf-{len(files)}.jsonl"
        small = rows[rows["gpus"].isin([1, 8])].to_dict("records")
        lines = [json.dumps(record_of(row)) for row in small]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        files[f"{table_id}|{column}"] = path
    return files


def record_of(row):
    """One row of dlperf.csv in the format of docs/record.schema.json."""
    ranks = row["gpus"]
    batch_size = row["batch_size_per_device"]
    seconds = batch_size * ranks / row["throughput_samples_per_s"]
    step_ns = round(seconds * 1e9)
    return {
        "version": 1,
        "source": "imported",
        "experiment": "dlperf",
        "started_at": "",
        "run": 0,
        "configuration": {
            "label": row["row_id"],
            "model": NETWORKS[row["model"]],
            "batch_size": batch_size,
            "image_size": None,
            "classes": None,
            "ranks": ranks,
            "ranks_per_host": [ranks],
            "strategy": dlperf_strategy(row["table_id"], row["framework"]),
            "bucket_mib": 25.0,
            "engine": "nccl-2.4",
            "device": "cuda",
            "dtype": row["precision"],
            "channels_last": False,
            "threads": None,
            "warmup_steps": 0,
            "steps": STEPS,
            "accumulate": 1,
            "sync_each_step": False,
            "seed": 0,
            "optimizer": "sgd",
            "learning_rate": 0.001,
            "momentum": 0.9,
            "weight_decay": 0.0001,
            "discard": False,
        },
        "environment": {
            "paceline_version": "",
            "git_hash": "",
            "compiler": "",
            "build_type": "",
            "torch_version": "",
            "torch_git": "",
            "cuda_version": "",
            "nccl_version": "",
            "variables": {},
            "hosts": [],
        },
        "ranks": [rank_of(rank, step_ns) for rank in range(ranks)],
        "wire": {
            "measured_bytes_per_step": None,
            "planned_bytes_per_step": None,
            "bytes_by_pattern": {},
            "calls_per_step": None,
        },
        "verified": {},
        "warnings": [],
        "error": None,
    }


def rank_of(rank, step_ns):
    return {
        "rank": rank,
        "host": "node0",
        "local_rank": rank,
        "device": f"cuda:{rank}",
        "step_ns": [step_ns] * STEPS,
        "phase_ns": {},
        "window_ns": step_ns * STEPS,
        "flush_ns": None,
        "peak_memory_bytes": None,
        "compute_only_step_ns": None,
    }
