# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's DDP and RPC benchmark prints, to the character.

    python3 -m paceline.reports.ddp_rpc text < RUNS

RUNS is what the program writes to this module: {"runs": [...]}, each with its `environment`, the `title` of
its table where there are several, why it `failed`, its `rows` and, of a run of less than an epoch of ten
steps, the sentence `no_epoch`; null or an empty list for what there is not.  A row is a trainer or all of
them: its `name`, the `seconds` of its epochs and the `last_examples` of its last one.

A banner, the topology, and a row for each trainer and for all of them with percentiles of epochs.  The column
headed epoch/sec holds examples per second: those of a trainer's last epoch over the percentile, truncated.
"""

import sys

from .ddp import quantile
from .run_log import run_module

_PERCENTILES = (50, 75, 90, 95)


def _banner(environment: dict) -> str:
    rule, hosts = "-" * 43, environment["hosts"]
    topology = hosts[0]["topology"] or "" if hosts else ""
    return (
        f"{rule}\n                  Info                     \n{rule}\n\n"
        f"* PyTorch version: {environment['torch_version'] or '-'}\n"
        f"* CUDA version: {environment['cuda_version']}\n\n"
        f"------------ nvidia-smi topo -m -----------\n\n{topology}\n{rule}\n"
        f"PyTorch Distributed Benchmark (DDP and RPC)\n{rule}\n"
    )


def _row(row: dict) -> str:
    text, seconds = f"{row['name']:>8}:", sorted(row["seconds"])
    for percentage in _PERCENTILES:
        value = quantile(seconds, percentage / 100)
        rate = int(row["last_examples"] / value) if value > 0 else 0
        text += f"  p{percentage:02}:  {value:.3f}s  {rate:>6}/s"
    return text + "\n"


def text(given: dict) -> str:
    printed = ""
    for run in given["runs"]:
        printed = printed or _banner(run["environment"])
        if run["title"] is not None:
            printed += f"\n{run['title']}\n"
        if run["failed"] is not None:
            printed += f"\nfailed: {run['failed']}\n"
        if not run["rows"] and run["no_epoch"] is None:
            continue
        printed += f"\n{'':10}" + f"{'sec/epoch':>14}{'epoch/sec':>10}" * len(_PERCENTILES) + "\n"
        printed += "".join(map(_row, run["rows"]))
        if run["no_epoch"] is not None:
            printed += f"{run['no_epoch']}\n"
    return printed


if __name__ == "__main__":
    sys.exit(run_module({"text": text}))
