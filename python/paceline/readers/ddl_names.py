# SPDX-License-Identifier: Apache-2.0
"""Maps words in the file names of ddl-benchmarks' logs to Paceline's names.

    rdma-0-method-wfbp-dnn-bert-bs-8-nworker-4-compressor-none-thres-0.log
"""

import os
import re

METHODS = {
    "bspa2a": "bsp",
    "wfbp": "wfbp",
    "mgwfbp": "mg-wfbp",
    "bytescheduler": "bytescheduler",
    "bspps": "bsp+ps",
    "wfbpps": "wfbp+ps",
    "byteschedulerps": "bytescheduler+ps",
}
# A compressor's name may stand for a method; the schedule is then bsp.
COMPRESSORS = {
    "signum": "sign",
    "efsignum": "ef-sign",
    "eftopk": "topk:density=0.001",
    "topk": "topk:density=0.001",
}
NETWORKS = {"0": "10GbE", "1": "IB", "2": "IPoIB"}
MODELS = {"bert": "bert-large", "bert_base": "bert-base"}
EXAMPLE = "rdma-0-method-wfbp-dnn-bert-bs-8-nworker-4-compressor-none-thres-0.log"
_NAME = re.compile(
    r"rdma-(?P<network>\d+)-method-(?P<method>.+)-dnn-(?P<model>.+)-bs-(?P<batch>\d{1,6})"
    r"-nworker-(?P<workers>\d{1,5})-compressor-(?P<compressor>.+?)(?:-thres-.*)?",
    re.A,
)


def settings_in_file_name(path: str) -> dict:
    """Returns the keys of a configuration that the file name states.  `ranks` counts the ranks that
    train."""
    name = os.path.basename(path).removesuffix(".gz")
    match = _NAME.fullmatch(name.rpartition(".")[0] or name)
    if not match:
        return {}
    method, compressor = match["method"], match["compressor"]
    strategy = f"bsp+{COMPRESSORS[method]}" if method in COMPRESSORS else METHODS.get(method, method)
    label = method
    if compressor not in ("none", method):
        strategy += f"+{COMPRESSORS.get(compressor, compressor)}"
        label += f"+{compressor}"
    network = match["network"]
    return {
        "label": f"{label} {NETWORKS.get(network, f'rdma-{network}')}",
        "strategy": strategy,
        "model": MODELS.get(match["model"], match["model"]),
        "batch_size": int(match["batch"]),
        "ranks": int(match["workers"]),
    }
