#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts the larger system of each published pair from the smaller one, and prints the error beside linear scaling's.

The compute of a pair is calibrated from its smaller system alone: --device-rate is bisected until `paceline predict` gives
the published throughput there.  Nothing of the larger system is used, so each system is left out of what predicts it.
Needs the standard library alone.
"""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "reference" / "modern"

# What the tables' rows leave out, of each kind of node: the device, its memory's and its links' rates in GB/s (line rates of
# the parts' data sheets), and how hosts are joined: cards of a rate, one a device or one a host.
NODES = {
    "A100 PCIe, 1 x HDR100": ("A100-PCIE-80GB", 1935, ("pcie", "31.5GB/s"), ("host", "100Gbit")),
    "H100, 8 x NDR": ("H100-SXM5-80GB", 3350, ("nvlink", "450GB/s"), ("device", "400Gbit")),
    "H100, 8 x 200": ("H100-SXM5-80GB", 3350, ("nvlink", "450GB/s"), ("device", "200Gbit")),
    "H100, RoCE": ("H100-SXM5-80GB", 3350, ("nvlink", "450GB/s"), ("device", "500Gbit")),
    "L40S, 2 x 400": ("L40S", 864, ("pcie", "31.5GB/s"), ("host", "800Gbit")),
    "DGX A100": ("A100-SXM4-80GB", 2039, ("nvlink", "300GB/s"), ("device", "200Gbit")),
    "DGX-1": ("V100-SXM2-32GB", 900, ("nvlink", "150GB/s"), ("host", "400Gbit")),
}


def cluster_text(kind, nodes, slots):
    device, memory, (inside, rate), (sharing, network) = NODES[kind]
    return f"""name = "{kind}"
source = "line rates of the parts"
[[hosts]]
name = "n"
count = {nodes}
slots = {slots}
[[links]]
name = "{inside}"
joins = "devices"
sharing = "device"
rate = "{rate}"
latency = "2us"
[[links]]
name = "ib"
joins = "hosts"
sharing = "{sharing}"
rate = "{network}"
latency = "2us"
[device]
name = "{device}"
memory_bandwidth = "{memory}GB/s"
"""


def node_of(row):
    """The kind of node of a row of mlperf_node_pairs.csv."""
    network = row["host_networking_b"]
    if "A100 - PCIe" in row["accelerator"]:
        return "A100 PCIe, 1 x HDR100"
    if "L40S" in row["accelerator"]:
        return "L40S, 2 x 400"
    if "8x 200" in network:
        return "H100, 8 x 200"
    if "ROCE" in network:
        return "H100, RoCE"
    return "H100, 8 x NDR"


def rows_of(name):
    with open(REFERENCE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def pair(table, kind, job, slots, small, large):
    return {"table": table, "kind": kind, "job": job, "slots": slots, "small": small, "large": large}


def mlperf_pairs():
    """BERT is reduced in 16 bits behind backward, ResNet by Horovod in 16 bits beside it; RetinaNet is no network of ours."""
    jobs = {
        "bert": {"network": "bert-large", "strategy": "bsp+fp16", "optimizer": "adamw"},
        "resnet": {"network": "resnet50", "strategy": "fusion:bucket-mb=64+fp16", "optimizer": "sgd"},
    }
    for row in rows_of("mlperf_node_pairs.csv"):
        if row["benchmark"] not in jobs:
            continue
        ends = [
            {
                "nodes": int(row[f"nodes_{end}"]),
                "batch": int(row[f"local_batch_{end}"]),
                "rate": float(row[f"samples_per_s_{end}"]),
            }
            for end in "ab"
        ]
        slots = int(row["gpus_per_node"])
        same = "same batch" if row["same_local_batch"] == "yes" else "other batch"
        yield pair(f"MLPerf {row['benchmark']}, {same}", node_of(row), jobs[row["benchmark"]], slots, *ends)


def dgx_pairs():
    """The reference is the smallest system of a series; BERT's step is an accumulated batch."""
    series = {}
    for row in rows_of("bert_resnet_dgx.csv"):
        batch = row["accumulated_batch_per_gpu"] or row["batch_per_gpu_per_micro_step"]
        key = tuple(row[c] for c in ("model", "task", "system", "precision", "seq_len_or_image"))
        end = {
            "gpus": int(row["gpus"]),
            "nodes": int(row["nodes"]),
            "batch": int(batch),
            "rate": float(row["throughput"]),
        }
        series.setdefault(key, []).append(end)
    for (model, task, system, precision, _), ends in series.items():
        half = "" if precision == "FP32" else "+fp16"
        job = {"network": "resnet50", "strategy": f"fusion{half}", "optimizer": "sgd"}
        if model == "BERT-Large":
            job = {"network": "bert-large", "strategy": f"bsp{half}", "optimizer": "adamw"}
        kind = "DGX A100" if "A100" in system else "DGX-1"
        small, *others = sorted(ends, key=lambda end: end["gpus"])
        for large in others:
            scaling = "nodes" if large["nodes"] > 1 else "one node"
            yield pair(f"DGX {model}, {scaling}", kind, job, 8, small, large)


class Program:
    def __init__(self, path, folder):
        self.folder = Path(folder)
        self.process = subprocess.Popen(
            [path, "predict", "--requests", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def rate(self, it, end, device_rate, batch=None):
        """Samples/s of all devices."""
        ranks = end.get("gpus") or end["nodes"] * it["slots"]
        file = self.folder / f"{end['nodes']}-{it['kind'].replace(' ', '')}.toml"
        if not file.exists():
            file.write_text(cluster_text(it["kind"], end["nodes"], it["slots"]), encoding="utf-8")
        request = it["job"] | {
            "cluster": str(file),
            "ranks": ranks,
            "batch_size": batch or end["batch"],
            "device_rate": device_rate,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or "{}")
        if "ranks" not in answer:
            raise RuntimeError(answer.get("error", "the program ended"))
        window_s = max(rank["window_ns"] for rank in answer["ranks"]) * 1e-9
        return ranks * request["batch_size"] * answer["configuration"]["steps"] / window_s

    def calibrated(self, it):
        """The rate of one device with which the smaller system is predicted as published."""
        small = it["small"]
        least = small["rate"] / (small.get("gpus") or small["nodes"] * it["slots"])
        low, high = least * 0.999, least * 2
        for _ in range(40):
            middle = (low * high) ** 0.5
            if self.rate(it, small, middle) < small["rate"]:
                low = middle
            else:
                high = middle
        return middle


def errors_of(program, it):
    """Errors of the prediction and of linear scaling, in percent."""
    small, large = it["small"], it["large"]
    devices = [end.get("gpus") or end["nodes"] * it["slots"] for end in (small, large)]
    linear = small["rate"] * devices[1] / devices[0]
    predicted = program.rate(it, large, program.calibrated(it))
    return [100 * (value / large["rate"] - 1) for value in (predicted, linear)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=str(ROOT / "build" / "paceline"))
    parser.add_argument("--cells", action="store_true", help="print each pair")
    arguments = parser.parse_args()
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.program, folder)
        for it in [*mlperf_pairs(), *dgx_pairs()]:
            errors = errors_of(program, it)
            tables.setdefault(it["table"], []).append(errors)
            if arguments.cells:
                print(f"{it['table']}: {it['kind']}: {it['small']} -> {it['large']}: {errors[0]:+.1f} {errors[1]:+.1f}")
        program.process.stdin.close()
        program.process.wait()
    print("| table | pairs | predicted, % | linear scaling, % |\n| --- | --- | --- | --- |")
    for table, errors in tables.items():
        means = [statistics.fmean(abs(error[i]) for error in errors) for i in (0, 1)]
        print(f"| {table} | {len(errors)} | {means[0]:.1f} | {means[1]:.1f} |")


if __name__ == "__main__":
    main()
