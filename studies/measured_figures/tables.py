# SPDX-License-Identifier: Apache-2.0
"""The systems of reference/modern: series of one job on several numbers of ranks.

Links and devices are those of data sheets. Gradients cross in 16 bits where training is mixed, but
RetinaNet's, which PyTorch's DDP sums as parameters are stored. What is left out has its reason in
place of a series.
"""

import csv
import re
from dataclasses import dataclass

from jobs import Figure, Job
from networks import decoder, retinanet

# Name, link and its rate one way of a device, dense FLOP/s in 16 bits, rate of the memory.
DEVICES = {
    "H100-SXM": ("H100-SXM5-80GB", "nvlink4", "450GB/s", "989TFLOP/s", "3.35TB/s"),
    "A100 - PCIe": ("A100-PCIe-80GB", "pcie", "32GB/s", "312TFLOP/s", "1.9TB/s"),
    "A100": ("A100-SXM4-80GB", "nvlink3", "300GB/s", "312TFLOP/s", "2.0TB/s"),
    "V100": ("V100-SXM2", "nvlink2", "150GB/s", "125TFLOP/s", "0.9TB/s"),
    "L40S": ("L40S", "pcie", "32GB/s", "362TFLOP/s", "0.86TB/s"),
}
MOST_MICRO_BATCHES = 64  # the plan holds every micro-batch: minutes a system
MLPERF = {  # network, strategy, optimizer, tokens
    "bert": ("bert-large", "bsp+fp16", "lamb", 512),
    "resnet": ("resnet50", "fusion+fp16", "lars", None),
    "retinanet": (None, "ddp", "adam", None),
}


@dataclass(frozen=True)
class Series:
    """Systems of one job, by the number of ranks."""

    kind: str
    job: Job
    figures: tuple[Figure, ...]


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


def rows_of(folder, name):
    return csv.DictReader((folder / name).open(encoding="utf-8"))


def mlperf(folder):
    """Series whose systems are joined by a row of a smaller and a larger one."""
    joined = []  # of systems by name, their common facts and figures
    for row in rows_of(folder, "mlperf_node_pairs.csv"):
        per_node = int(row["gpus_per_node"])
        figures = {
            (row["round"], row["benchmark"], row[f"system_{side}"]): Figure(
                ranks=int(row[f"nodes_{side}"]) * per_node,
                batch=int(row[f"local_batch_{side}"]),
                rate=float(row[f"samples_per_s_{side}"]),
            )
            for side in "ab"
        }
        series = next((one for one in joined if one[1].keys() & figures.keys()), None)
        if series is None:
            joined.append((row, figures))
        else:
            series[1].update(figures)
    for row, figures in joined:
        per_node = int(row["gpus_per_node"])
        gbit = gbit_of(row["host_networking_b"], per_node)
        accelerator = row["accelerator"].removeprefix("NVIDIA ")
        name = f"{row['submitter']} {row['round']} {row['benchmark']} {accelerator}"
        if gbit is None:
            yield f"{name}: the rate of its network is not stated"
            continue
        ordered = sorted(figures.values(), key=lambda one: one.ranks)
        network, strategy, optimizer, tokens = MLPERF[row["benchmark"]]
        nodes = ordered[-1].ranks // per_node
        yield Series(
            kind=f"mlperf {row['benchmark']}",
            job=Job(
                id=name,
                cluster=cluster_text(row["accelerator"], per_node, nodes, gbit),
                network=network or retinanet(ordered[0].batch),
                strategy=strategy,
                optimizer=optimizer,
                tokens=tokens,
            ),
            figures=tuple(ordered),
        )


def dgx(folder):
    """BERT and ResNet-50 on one system each, with the accumulation of its row."""
    by_system = {}
    for row in rows_of(folder, "bert_resnet_dgx.csv"):
        key = (row["model"], row["task"], row["system"], row["precision"], row["seq_len_or_image"])
        by_system.setdefault(key, []).append(row)
    for (model, _, system, precision, length), rows in by_system.items():
        figures = []
        for row in rows:
            micro = int(row["batch_per_gpu_per_micro_step"])
            steps = int(row["accumulated_batch_per_gpu"] or micro) // micro
            figures.append(Figure(int(row["gpus"]), micro * steps, float(row["throughput"]), steps))
        most = max(one.accumulate for one in figures)
        if most > MOST_MICRO_BATCHES:
            yield f"{model} {system} {precision}: accumulation over {most} micro-batches"
            continue
        bert, a100 = model.startswith("BERT"), "A100" in system
        one_node = max(one.ranks for one in figures) <= 8
        yield Series(
            kind=f"dgx {model.split(' ')[0]}, {'one node' if one_node else '1 to 32 nodes'}",
            job=Job(
                id=f"{model} {system} {precision}",
                cluster=cluster_text("A100" if a100 else "V100", 8, 32, 200 if a100 else 100),
                network="bert-large" if bert else "resnet50",
                strategy="fusion" if precision == "FP32" else "fusion+fp16",
                optimizer="lamb" if bert else "sgd",
                tokens=int(length.split()[0]) if bert else None,
            ),
            figures=tuple(figures),
        )


def gpt(folder):
    """Decoders on 2 and 4 devices with the same accumulation; gradients cross behind backward."""
    keys = ("hidden", "layers", "micro_batch", "grad_accum_steps")
    small = {}
    rows = list(rows_of(folder, "gpt_data_parallel.csv"))
    for row in rows:
        if row["dp"] == "2":
            small[tuple(row[key] for key in keys)] = row
    for row in rows:
        hidden, layers, micro, steps = (int(row[key]) for key in keys)
        base = small.get(tuple(row[key] for key in keys))
        if base is None or row is base:
            continue
        yield Series(
            kind=f"gpt, 2 and 4 A100, {hidden} wide",
            job=Job(
                id=f"{hidden} wide, {layers} layers, {steps} x {micro}",
                cluster=cluster_text("A100", 4, 2, 200),
                network=decoder("gpt", hidden, layers, micro),
                strategy="bsp+fp16",
                optimizer="adamw",
            ),
            figures=tuple(
                Figure(
                    int(one["gpus"]),
                    micro * steps,
                    int(one["gpus"]) * micro * steps * 1e3 / float(one["iteration_time_ms"]),
                    steps,
                )
                for one in (base, row)
            ),
        )


def cloud(folder):
    """Decoders on nodes of 8 H100 with 400 Gb/s each, which the table does not say.

    Where parameters are sharded inside a node, gradients cross by a hierarchical all-reduce with
    shards of the optimizer; the gathers of parameters are the same on every number of nodes.
    """
    by_job = {}
    for row in rows_of(folder, "dgx_cloud.csv"):
        by_job.setdefault((row["model"], row["precision"]), []).append(row)
    for (model, precision), rows in by_job.items():
        if len({row["fsdp_width"] for row in rows}) > 1:
            yield f"{model} {precision}: parameters are sharded across nodes, which no strategy does"
            continue
        figures = []
        for row in rows:
            gpus = int(row["gpus"])
            batch = int(row["global_batch"]) // gpus
            figures.append(
                Figure(gpus, batch, int(row["global_batch"]) / float(row["value"]), batch // int(row["mbs"]))
            )
        micro = int(rows[0]["mbs"])
        if model.startswith("Llama3"):
            network = decoder(
                "llama3-8b", 4096, 32, micro, key_value=1024, wide=14336, gates=1, words=128256, heads=2
            )
        else:  # 5 billion parameters
            network = decoder("gpt3-5b", 4096, 24, micro)
        yield Series(
            kind=f"cloud {model.split(' ')[0]}",
            job=Job(
                id=f"{model} {precision}",
                cluster=cluster_text("H100-SXM", 8, max(int(row["nodes"]) for row in rows), 400),
                network=network,
                strategy="fusion" if model.startswith("Llama3") else "fusion+hierarchical+zero-1",
                optimizer="adamw",
                dtype="bf16",
            ),
            figures=tuple(figures),
        )
