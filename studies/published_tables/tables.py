# SPDX-License-Identifier: Apache-2.0
"""The cells of the published tables, and the request that stands for each.

A request is what a user could type after `paceline predict`: its keys are the
flags of that command with underscores.  Throughput is samples per second, of
the whole job in ddl_benchmarks, dlperf and bluefog, of one device in the
PyTorch tables, as the tables have it.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "reference"
CLUSTERS = ROOT / "clusters"

THROUGHPUT = {
    "ddl_benchmarks": "throughput_samples_per_s",
    "dlperf": "throughput_samples_per_s",
    "pytorch_ddp": "throughput_examples_per_s_per_gpu",
    "pytorch_ddp_bucket_diff": "throughput_examples_per_s_per_gpu",
    "bluefog": "throughput_img_per_s",
}

# What `reference/` has no cells of: predicted, and compared in README.md with
# what is published of them.
NOT_SCORED = {
    "ddp_rpc": "its published cells are not in reference/; see README.md",
}


@dataclass(frozen=True)
class Cell:
    """One key of prediction_keys.csv, with its row where that is published."""

    table: str
    row_id: str
    published: float | None = None  # samples/s, as the table counts them
    flags: frozenset = frozenset()

    @property
    def key(self):
        return self.row_id.split("|")

    @property
    def gpus(self):
        if self.table == "pytorch_ddp":  # "no ddp", "2M/8G"
            setup = self.key[1]
            return 1 if setup == "no ddp" else int(setup[0]) * int(setup[3])
        if self.table == "ddp_rpc":  # "Trainer3", "All"
            return DDP_RPC_TRAINERS
        return int(self.key[1 if self.per_device else -1])

    @property
    def gpus_per_host(self):
        if self.table == "ddl_benchmarks" or self.key[0] == "text":
            return 4
        return 8

    @property
    def hosts(self):
        return -(-self.gpus // self.gpus_per_host)

    @property
    def per_device(self):
        """Whether the table counts the samples of one device."""
        return self.table.startswith("pytorch") or (
            self.table == "ddp_rpc" and self.key[0] != "All"
        )

    @property
    def is_input(self):
        """Whether requests are made from the cell, so that it is never scored."""
        if self.table == "dlperf":
            return self.gpus <= 8
        return self.table == "pytorch_ddp" and self.key[1:] == ["no ddp", "p50"]

    @property
    def is_repeat(self):
        """Whether another row of the table is the same run."""
        return "same_run_as_bert_amp_b64" in self.flags

    @property
    def is_suspect(self):
        """Whether the row does not show the set-up that its key names."""
        return "suspect_ran_over_10gbe" in self.flags or self.key[0] == "text"

    @property
    def series(self):
        """Cells that share a job but for its number of devices."""
        last = 1 if self.table.startswith("pytorch") else -1
        return "|".join(self.key[:last])


def read_cells(reference=REFERENCE):
    """Every key of prediction_keys.csv, in its order."""
    keys = pandas.read_csv(reference / "prediction_keys.csv", dtype=str)
    rows = {}
    for table, column in THROUGHPUT.items():
        frame = pandas.read_csv(reference / f"{table}.csv")
        if "flags" not in frame:
            frame["flags"] = ""
        for row in frame.fillna({"flags": ""}).to_dict("records"):
            rows[table, row["row_id"]] = (row[column], row["flags"])
    cells = []
    for system, row_id in zip(keys["system"], keys["row_id"]):
        published, flags = rows.get((system, row_id), (None, ""))
        cells.append(
            Cell(system, row_id, published, frozenset(flags.split(";")))
        )
    return cells


class Requests:
    """Turns cells into requests; `records` gives DLPerf's small cells as files.

    Raises KeyError for a key that names something the table does not have.
    """

    def __init__(self, cells, records, clusters=CLUSTERS):
        self._published = {cell.row_id: cell.published for cell in cells}
        self._records = records
        self._clusters = Path(clusters)
        self._of = {
            "ddl_benchmarks": self._ddl_benchmarks,
            "dlperf": self._dlperf,
            "pytorch_ddp": self._pytorch_ddp,
            "pytorch_ddp_bucket_diff": self._pytorch_ddp,
            "bluefog": self._bluefog,
            "ddp_rpc": self._ddp_rpc,
        }

    def request(self, cell):
        request = {"id": cell.row_id}
        if cell.table != "ddp_rpc":  # whose trainers and servers say it
            request["ranks"] = cell.gpus
        request.update(self._of[cell.table](cell))
        request["cluster"] = str(self._clusters / request["cluster"])
        return request

    def _ddl_benchmarks(self, cell):
        method, model, network, _ = cell.key
        network_name, batch_size, optimizer = DDL_MODELS[model]
        request = {
            "network": network_name,
            "cluster": DDL_CLUSTERS[network],
            "batch_size": batch_size,
            "optimizer": optimizer,
        }
        if method in DDL_ON_SERVERS:
            return request | byteps(DDL_ON_SERVERS[method], network_name, cell)
        strategy, engine = DDL_ON_ALL_REDUCE[method]
        return request | {"strategy": strategy, "engine": engine}

    def _dlperf(self, cell):
        return {
            "measured": str(self._records[cell.series]),
            "cluster": dlperf_cluster(cell),
        }

    def _pytorch_ddp(self, cell):
        model = cell.key[0]
        bucket = 1 if cell.table == "pytorch_ddp_bucket_diff" else 25
        ddp = f"ddp:bucket-mb={bucket},first-bucket-mb=1"
        return {
            "network": model,
            "cluster": "8x8-v100-4x100gbib.toml",
            "batch_size": 32,
            "strategy": "none" if cell.key[1] == "no ddp" else ddp,
            "device_rate": self._published[f"{model}|no ddp|p50"],
            "engine": "nccl-2.4",
        }

    def _bluefog(self, cell):
        chart, algorithm, _ = cell.key
        request = {
            "network": "resnet50",
            "cluster": "16x8-v100-25gb.toml",
            "batch_size": BLUEFOG_BATCH[chart],
            "strategy": BLUEFOG_ON_SEVERAL[algorithm],
            "engine": "nccl-2.4" if algorithm == "horovod" else "bluefog",
        }
        if cell.hosts == 1 and algorithm != "horovod":
            request["strategy"] = BLUEFOG_ON_ONE
        if chart == "text":  # four of a machine's devices
            request["hosts"] = hosts_of("node", cell.hosts, 4)
        return request


    def _ddp_rpc(self, cell):
        return {
            "network": "hybrid",
            "cluster": "8x8-v100-4x100gbib.toml",
            "trainers": DDP_RPC_TRAINERS,
            "servers": DDP_RPC_TRAINERS,
            "hosts": hosts_of("dgx", 1, 2 * DDP_RPC_TRAINERS + 1),
            "as_original": "true",
            "staleness": 64,
            "strategy": "ddp",
            "engine": "gloo",
        }


def hosts_of(name, count, slots):
    return ",".join(f"{name}{i}:{slots}" for i in range(count))


# PyTorch's DDP and RPC benchmark, on one machine with 8 V100: as many servers
# as trainers, and the master (reference/setup_other_systems.csv).
DDP_RPC_TRAINERS = 8

# HKBU-HPML/ddl-benchmarks.  Networks, batch sizes, partitions and credits:
# reference/ddl_benchmarks_setup.csv.
DDL_CLUSTERS = {
    "10GbE": "8x4-2080ti-10gbe.toml",
    "100GbIB": "8x4-2080ti-100gbib.toml",
    "100GbE": "8x4-2080ti-100gbe.toml",
}
DDL_MODELS = {
    "ResNet-50": ("resnet50", 64, "sgd"),
    "BERT-Base": ("bert-base", 64, "adamw"),
    "BERT-Large": ("bert-large", 8, "adamw"),
}
DDL_ON_ALL_REDUCE = {
    "BSP-A2A": ("bsp", "nccl-2.4"),
    "WFBP-A2A": ("wfbp", "nccl-2.4"),
    "MG-WFBP": ("mg-wfbp:small-elements=8192", "nccl-2.4"),
    "ByteScheduler-A2A": (  # partitions of 4, a credit of 16 million elements
        "bytescheduler:order=priority,partition-mb=15.2587890625,"
        "credit-mb=61.03515625",
        "bytescheduler",
    ),
}
# ByteScheduler-PS differs from WFBP-PS in a flag of the servers alone.
DDL_ON_SERVERS = {
    "BSP-PS": "bsp",
    "WFBP-PS": "wfbp",
    "ByteScheduler-PS": "wfbp",
}

def byteps(schedule, network, cell):
    """BytePS: as many server hosts as worker hosts; none beside one worker."""
    request = {"engine": "byteps", "optimizer": "sgd"}
    if cell.hosts == 1:
        return request | {"strategy": f"{schedule}+ps:local=0"}
    strategy = (
        f"{schedule}+ps:local=0,placement=apart,assign=hash,servers={cell.hosts}"
    )
    return request | {
        "strategy": strategy,
        "ranks": cell.gpus + cell.hosts,
        "hosts": ",".join(
            [hosts_of("node", cell.hosts, 4), hosts_of("server", cell.hosts, 1)]
        ),
    }


# What Horovod fuses: gradients that become ready within its cycle of 5 ms.  No
# source says how many bytes; 8 MiB is of the order that these networks make.
HOROVOD = "fusion:bucket-mb=8"

# Bluefog-Lib/bluefog.  No source says what BlueFog fuses; 4 MiB.
BLUEFOG_BATCH = {"bf_full_benchmark1": 64, "bf_full_benchmark2": 32, "text": 64}
BLUEFOG_ON_ONE = (
    "fusion:bucket-mb=4+neighbor-allreduce:topology=one-peer-exp+"
    "awc:window=backward"
)
BLUEFOG_ON_SEVERAL = {
    "horovod": HOROVOD,
    "neighbor_allreduce": (
        "fusion:bucket-mb=4+neighbor-allreduce:topology=inner-outer-exp+"
        "awc:window=backward"
    ),
    "hierarchical_neighbor_allreduce": (
        "fusion:bucket-mb=4+hierarchical-neighbor-allreduce:"
        "topology=one-peer-exp,style=leader+awc:window=backward"
    ),
}

# Oneflow-Inc/DLPerf: how each framework hands gradients to the network (its
# scripts and defaults), and whether gradients of 16-bit compute cross in 16
# bits.
DLPERF_FRAMEWORKS = {
    "MXNet": (HOROVOD, True),
    "NGC MXNet": ("fusion:bucket-mb=6.1", True),  # 16 groups of ResNet-50
    "NGC PyTorch": ("fusion:bucket-mb=38.1", True),  # apex, 10 million elements
    "NGC TensorFlow 1.x": (HOROVOD, False),
    "OneFlow": ("fusion:bucket-mb=16", False),
    "PaddlePaddle": ("fusion:bucket-mb=16", False),
    "PyTorch": ("ddp:bucket-mb=25,first-bucket-mb=1", False),
    "TensorFlow 2.x": ("fusion:bucket-mb=25", False),  # no source
}


def dlperf_cluster(cell):
    """The script of Paddle's BERT switches InfiniBand off."""
    table, framework, _ = cell.key
    if table.startswith("bert") and framework.startswith("PaddlePaddle"):
        return "4x8-v100-100gb-sockets.toml"
    return "4x8-v100-100gbib.toml"


def dlperf_strategy(table, column):
    """Of a series; `column` is the framework with DLPerf's settings."""
    framework = column.split(" w/")[0].removesuffix(" W/O clip")
    strategy, half = DLPERF_FRAMEWORKS[framework]
    if framework == "NGC PyTorch" and table.startswith("bert"):
        strategy = "bsp"  # apex's message_size is above the model's
    return strategy + ("+fp16" if half and "_amp_" in table else "")
