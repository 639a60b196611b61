# SPDX-License-Identifier: Apache-2.0
"""Prints runs as Horovod's synthetic benchmark and ddl-benchmarks do, and makes logs of
ddl-benchmarks.

    python3 -m paceline.reports.ddl text|logs < RECORDS

`text` has the rates of up to 10 iterations of equal numbers of steps on rank 0, their mean, 1.96 population
standard deviations, and both times the number of ranks that train.  Networks that read text have sentences
instead of images.  Lines of cases that failed begin with '#'.

`logs` is one object, the text of each log by its name, which is the one that ddl-benchmarks' benchmarks.py
gives it and its plots.py reads.  Beside the records the program writes the `title` and the `file` of the
records, which the head of a log has, and in `logs` each case of the record file, in order: its
`configuration`, how many of its ranks are `workers`, the rate of its emulated link in `gbit_per_s`, the parts
of its strategy in `method`, and the indices of its `runs` and its `command`.
"""

import json
import math
import re
import sys

from ..readers.ddl_names import COMPRESSORS, METHODS, MODELS
from .markdown import counted
from .run_log import deviations, has_steps, mean, rate, rate_text, run_log, run_module, spread

_MOST_ITERATIONS = 10
_FUSES_ALL = "536870912"  # threshold in bytes with which the original fuses all tensors


def _first_original_names(names: dict) -> dict:
    """Returns, for each of Paceline's names, the first of theirs."""
    return {ours: theirs for theirs, ours in reversed(names.items())}


_METHOD_OF, _COMPRESSOR_OF, _MODEL_OF = map(_first_original_names, (METHODS, COMPRESSORS, MODELS))


def _rates(run: dict) -> tuple:
    """Returns the number of ranks that train, and the samples per second of each iteration on the first of them."""
    trainers = [rank["step_ns"] for rank in run["ranks"] if rank["step_ns"]]
    step_ns = trainers[0]
    iterations = min(_MOST_ITERATIONS, len(step_ns))
    while len(step_ns) % iterations:
        iterations -= 1
    steps = len(step_ns) // iterations
    samples = run["configuration"]["batch_size"] * float(steps)
    return len(trainers), [
        rate(samples, 1e-9 * float(sum(step_ns[begin : begin + steps])))
        for begin in range(0, len(step_ns), steps)
    ]


def _words(run: dict, case: dict) -> tuple:
    """Returns the words of the original's scripts for the rate of a device, for the mean of rates, for their sum, and
    for a device."""
    if case["tokens"] is not None:
        return "sentences/sec", "Sen/sec", "sen/sec", "GPU"  # the original says GPU on CPUs as well
    return "img/sec", "Img/sec", "img/sec", "GPU" if run["configuration"]["device"] == "cuda" else "CPU"


def _block(run: dict, case: dict) -> str:
    c = run["configuration"]
    ranks, rates = _rates(run)
    each, head, total, device = _words(run, case)
    if case["tokens"] is None:
        text = f"Model: {c['model'] or ''}\nBatch size: {c['batch_size']}\nNumber of {device}s: {ranks}\n"
        text += "Running warmup...\n"
    else:
        text = f"Running warmup...\nBERT Large Pretraining, Sentence len: {case['tokens']}\n"
    text += "Running benchmark...\n"
    for i, one in enumerate(rates):
        text += f"Iter #{i}: {one:.1f} {each} per {device}\n"
    text += f"{head} per {device}: {rate_text(rates)}\n"
    of_all = f"{ranks * mean(rates):.1f} +-{ranks * spread(rates):.1f}"
    return text + f"Total {total} on {ranks} {device}(s): {of_all}\n"


def text(given: dict) -> str:
    return run_log(given, _block)


def _repetition_summary(given: dict) -> str:
    """Returns, for each case with two runs or more, a line that begins with '#': the mean of the totals that its runs
    print, and its 95 % interval, by Student's t."""
    printed = ""
    for case in given["cases"]:
        runs = [given["records"][index] for index in case["runs"]]
        measured = [run for run in runs if run["error"] is None and has_steps(run)]
        if len(measured) < 2 or case["job"]:
            continue
        totals = [ranks * mean(rates) for ranks, rates in map(_rates, measured)]
        center, n = mean(totals), float(len(totals))
        half = case["student_t"] * math.sqrt(deviations(totals) / (n - 1) / n)
        c = runs[0]["configuration"]
        printed += (
            f"# {c['strategy'] or ''} on {counted(c['ranks'] or 1, 'rank')}, mean of {len(totals)} tries: "
            f"{center:.1f} {_words(runs[0], case)[2]}, "
            f"95 % interval {center - half:.1f} to {center + half:.1f}\n"
        )
    return printed


def _plain(text: str) -> str:
    """Returns the text for a file name: other characters than letters, digits and .+_= become
    underscores."""
    return re.sub(rb"[^A-Za-z0-9.+_=]", b"_", text.encode()).decode()


def _method(log: dict) -> tuple:
    """Returns ddl-benchmarks' words for the strategy, its compressor and its threshold. The options
    of schedule and exchange are left out, because the log's head has them. A strategy that
    ddl-benchmarks does not have is called by its whole text."""
    own, method = _plain(log["configuration"]["strategy"] or ""), log["method"]
    if method is None:
        return own, "none", "0"
    fuses_all = method["schedule"] == "bsp"
    threshold = _FUSES_ALL if fuses_all else "0"
    codec = _COMPRESSOR_OF.get(method["text"].removeprefix("bsp+"))
    if fuses_all and codec:
        return codec, codec, threshold
    if method["codec"]:
        return own, _plain(method["codec"]), threshold
    exchange = {"ps": "+ps", "all-reduce": ""}.get(method["exchange"])
    theirs = None if exchange is None else _METHOD_OF.get(method["schedule"] + exchange)
    return theirs or own, "none", threshold


def _network(log: dict) -> str:
    """Returns the original's number for an emulated link of 10 or 100 Gbit/s; for other links the text of the link."""
    gbit_per_s = log["gbit_per_s"]
    if gbit_per_s is None:
        return "none"
    return {10: "0", 100: "1"}.get(gbit_per_s) or _plain(log["configuration"]["link"])


def _names(logs: list) -> list:
    """Returns the logs' names.  If several logs would share a name, the second one gets -2, the third -3."""
    names = []
    for log in logs:
        c = log["configuration"]
        method, compressor, threshold = _method(log)
        model = _MODEL_OF.get(c["model"]) or _plain(c["model"] or "")
        stem = (
            f"rdma-{_network(log)}-method-{method}-dnn-{model}-bs-{c['batch_size'] or 0}"
            f"-nworker-{log['workers']}-compressor-{compressor}-thres-{threshold}"
        )
        name, copy = f"{stem}.log", 2
        while name in names:
            name, copy = f"{stem}-{copy}.log", copy + 1
        names.append(name)
    return names


def logs(given: dict) -> str:
    texts = {}
    for name, log in zip(_names(given["logs"]), given["logs"], strict=True):
        cases = [case for case in given["cases"] if case["runs"][0] in log["runs"]]
        own = {"records": given["records"], "cases": cases}
        started_at = given["records"][log["runs"][0]]["started_at"]
        head = f"# {given['title']}, {started_at}\n# records: {given['file']}\n# {log['command']}\n"
        texts[name] = head + text(own) + _repetition_summary(own)
    return json.dumps(texts)


if __name__ == "__main__":
    sys.exit(run_module({"text": text, "logs": logs}))
