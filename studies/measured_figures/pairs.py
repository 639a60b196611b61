#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts larger systems of reference/modern from the smaller one of each pair.

Each request is `predict --measured` with the figure of the smaller system; the error is that of
the larger one's throughput, beside that of linear scaling. Links and devices are those of data
sheets. BERT is bert-large; gradients cross in 16 bits. Pairs without a built-in network, or whose
network has no stated rate, are left out.

    studies/measured_figures/pairs.py [PROGRAM] [FOLDER OF reference/modern]
"""

import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = 51200  # of the vocabulary, which the table of GPT-style models does not say
NETWORKS = {"bert": "bert-large", "resnet": "resnet50"}
# Name, link and its rate one way of a device, dense FLOP/s in 16 bits, rate of the memory.
DEVICES = {
    "H100-SXM": ("H100-SXM5-80GB", "nvlink4", "450GB/s", "989TFLOP/s", "3.35TB/s"),
    "A100 - PCIe": ("A100-PCIe-80GB", "pcie", "32GB/s", "312TFLOP/s", "1.9TB/s"),
    "A100": ("A100-SXM4-80GB", "nvlink3", "300GB/s", "312TFLOP/s", "2.0TB/s"),
    "V100": ("V100-SXM2", "nvlink2", "150GB/s", "125TFLOP/s", "0.9TB/s"),
    "L40S": ("L40S", "pcie", "32GB/s", "362TFLOP/s", "0.86TB/s"),
}


def cluster_text(accelerator, per_node, nodes, gbit_of_a_device):
    """A cluster file of such nodes, by data sheets."""
    name, link, rate, flops, memory = next(
        row for key, row in DEVICES.items() if key.replace(" ", "") in accelerator.replace(" ", "")
    )
    return f"""name = "{accelerator} x {per_node}"
source = "data sheets"
[[hosts]]
name = "n"
count = {max(2, nodes)}
slots = {per_node}
[[links]]
name = "{link}"
joins = "devices"
sharing = "device"
rate = "{rate}"
latency = "2us"
[[links]]
name = "infiniband"
joins = "hosts"
sharing = "device"
rate = "{gbit_of_a_device}Gbit"
latency = "2us"
[device]
name = "{name}"
flops = "{flops}"
memory_bandwidth = "{memory}"
"""


def gbit_of(networking, per_node):
    """Of each device: the largest "N x RATE" of the text; None where it says no such."""
    rates = [
        int(cards) * int(rate)
        for cards, rate in re.findall(r"(\d+) ?x[^,|:]*?(\d{2,3}) ?Gb", networking, re.IGNORECASE)
    ]
    return max(rates) / per_node if rates else None


def mlperf_pairs(folder):
    for row in csv.DictReader((folder / "mlperf_node_pairs.csv").open()):
        network = NETWORKS.get(row["benchmark"])
        per_node = int(row["gpus_per_node"])
        gbit = gbit_of(row["host_networking_b"], per_node)
        if network is None or gbit is None:
            yield row["benchmark"], None
            continue
        ranks = [int(row[f"nodes_{side}"]) * per_node for side in "ab"]
        batches = [int(row[f"local_batch_{side}"]) for side in "ab"]
        kind = "same batch" if row["same_local_batch"] == "yes" else "other batch"
        if ranks[1] > 8 * ranks[0]:
            kind = "beyond 8 times the nodes"
        yield f"mlperf, {kind}", {
            "id": f"{row['submitter']} {row['benchmark']} {ranks[0]} to {ranks[1]}",
            "cluster": cluster_text(row["accelerator"], per_node, int(row["nodes_b"]), gbit),
            "network": network,
            "ranks": ranks,
            "batch": batches,
            "accumulate": [1, 1],
            "rate": [float(row[f"samples_per_s_{side}"]) for side in "ab"],
            "strategy": "bsp+fp16" if network == "bert-large" else "fusion+fp16",
            "optimizer": "lamb" if network == "bert-large" else "lars",
            "tokens": 512 if network == "bert-large" else None,
        }


def dgx_pairs(folder):
    rows = list(csv.DictReader((folder / "bert_resnet_dgx.csv").open()))
    base = {}
    for row in rows:
        key = (row["model"], row["task"], row["system"], row["precision"], row["seq_len_or_image"])
        base.setdefault(key, row)
        small = base[key]
        if row is small:
            continue
        bert = row["model"].startswith("BERT")
        micro = int(row["batch_per_gpu_per_micro_step"])
        steps = [int(one["accumulated_batch_per_gpu"] or micro) // micro for one in (small, row)]
        if max(steps) > 64:  # the plan holds every micro-batch: minutes a pair
            yield f"accumulation over {max(steps)} micro-batches", None
            continue
        a100 = "A100" in row["system"]
        half = "" if row["precision"] == "FP32" else "+fp16"
        yield f"dgx, {'BERT' if bert else 'ResNet-50'}", {
            "id": f"{row['model']} {row['system']} {row['precision']} "
            f"{small['gpus']} to {row['gpus']}",
            "cluster": cluster_text("A100" if a100 else "V100", 8, 32, 200 if a100 else 100),
            "network": "bert-large" if bert else "resnet50",
            "ranks": [int(small["gpus"]), int(row["gpus"])],
            "batch": [micro * count for count in steps],
            "accumulate": steps,
            "rate": [float(small["throughput"]), float(row["throughput"])],
            "strategy": "fusion" + half,
            "optimizer": "lamb" if bert else "sgd",
            "tokens": int(row["seq_len_or_image"].split()[0]) if bert else None,
        }


def gpt_profile(hidden, layers, samples):
    """The linear layers of a decoder, each with times by its size: a measured figure says what they are together."""
    modules, parameters = [], []

    def add(name, rows, columns, us):
        modules.append({"name": name, "forward_us": us, "activation_bytes": 0})
        weight = {"name": f"{name}.weight", "sizes": [rows, columns], "module": name, "backward_us": 2 * us}
        parameters.append(weight)

    add("words", WORDS, hidden, 1.0)
    for layer in range(layers):
        for name, rows, columns in (("qkv", 3, 1), ("out", 1, 1), ("wide", 4, 1), ("narrow", 1, 4)):
            add(f"{layer}.{name}", rows * hidden, columns * hidden, rows * columns * hidden * hidden / 1000)
    return {
        "paceline_profile": 1,
        "model": "gpt",
        "origin": "sizes of layers",
        "device": "cuda",
        "dtype": "fp32",
        "batch_size": samples,
        "update_us": 0,
        "peak_memory_bytes": None,
        "modules": modules,
        "parameters": parameters,
        "ready_order": [one["name"] for one in reversed(parameters)],
    }


def gpt_pairs(folder):
    """From 2 to 4 devices with the same accumulation; gradients of 16 bits cross behind the backward pass."""
    rows = list(csv.DictReader((folder / "gpt_data_parallel.csv").open()))
    keys = ("hidden", "layers", "micro_batch", "grad_accum_steps")
    small = {tuple(row[key] for key in keys): row for row in rows if row["dp"] == "2"}
    for row in rows:
        hidden, layers, micro, steps = (int(row[key]) for key in keys)
        base = small.get(tuple(row[key] for key in keys))
        if base is None or row is base:
            continue
        yield f"gpt, 2 to 4 A100, {hidden} wide", {
            "id": f"{hidden} wide, {layers} layers, {steps} x {micro}",
            "cluster": cluster_text("A100", 4, 2, 200),
            "network": gpt_profile(hidden, layers, micro),
            "ranks": [2, 4],
            "batch": [micro * steps] * 2,
            "accumulate": [steps] * 2,
            "rate": [int(one["gpus"]) * micro * steps * 1e3 / float(one["iteration_time_ms"]) for one in (base, row)],
            "strategy": "bsp+fp16",
            "optimizer": "adamw",
        }


def requests_of(pairs, folder):
    for number, pair in enumerate(pairs):
        file = folder / f"{number}.toml"
        file.write_text(pair["cluster"], encoding="utf-8")
        network = pair["network"]
        if isinstance(network, dict):
            network = str(folder / f"{number}.profile.json")
            Path(network).write_text(json.dumps(pair["network"]), encoding="utf-8")
        tokens = {"sequence_length": pair["tokens"]} if pair.get("tokens") else {}
        yield {
            **tokens,
            "id": pair["id"],
            "network": network,
            "cluster": str(file),
            "ranks": pair["ranks"][1],
            "batch_size": pair["batch"][1],
            "accumulate": pair["accumulate"][1],
            "strategy": pair["strategy"],
            "optimizer": pair["optimizer"],
            "measured": [
                f"ranks={pair['ranks'][0]} batch={pair['batch'][0]} "
                f"accumulate={pair['accumulate'][0]} rate={pair['rate'][0]}"
            ],
        }


def rate_of(record):
    steps = max(rank["window_ns"] for rank in record["ranks"]) * 1e-9
    case = record["configuration"]
    return record["predicted"]["training_ranks"] * case["batch_size"] * case["steps"] / steps


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/paceline"
    reference = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "reference/modern"
    named = [*mlperf_pairs(reference), *dgx_pairs(reference), *gpt_pairs(reference)]
    left_out = sorted({name for name, pair in named if pair is None})
    named = [(name, pair) for name, pair in named if pair is not None]
    with tempfile.TemporaryDirectory() as folder:
        lines = [json.dumps(one) for one in requests_of([p for _, p in named], Path(folder))]
        done = subprocess.run(
            [program, "predict", "--requests", "-"],
            input="\n".join(lines) + "\n",
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    errors = {}
    for (name, pair), line in zip(named, done.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        if answer.get("error"):
            print(f"{pair['id']}: {answer['error']}")
            continue
        linear = pair["rate"][0] * pair["ranks"][1] / pair["ranks"][0]
        pair_errors = [100 * (rate / pair["rate"][1] - 1) for rate in (rate_of(answer), linear)]
        bar = answer["predicted"]["error_bar"]
        step = pair["ranks"][1] * pair["batch"][1] / pair["rate"][1] * 1e9
        within = bar["low_ns"] <= step <= bar["high_ns"]
        print(
            f"{name:32} {pair['id']:58} {pair_errors[0]:+6.1f} % linear {pair_errors[1]:+6.1f} %"
            f"{'' if within else '  outside its interval'}"
        )
        errors.setdefault(name, []).append([abs(one) for one in pair_errors] + [within])
    print()
    for name, rows in errors.items():
        mean = [sum(row[k] for row in rows) / len(rows) for k in range(3)]
        print(
            f"{name:32} {len(rows):3} pairs: mean {mean[0]:5.1f} %, linear {mean[1]:5.1f} %, "
            f"{100 * mean[2]:.0f} % within their intervals"
        )
    print("left out:", ", ".join(left_out) or "nothing")


if __name__ == "__main__":
    main()
