# SPDX-License-Identifier: Apache-2.0
"""The formats of lines in DLPerf's logs, one for each framework and network, by the rules of
DLPerf's own extractors (Oneflow-Inc/DLPerf, extract_*.py)."""

import re
from dataclasses import dataclass

# What the number in a line of the log means.
STAMP = "stamp"  # time stamp of the line, at which the step ended
SECONDS = "seconds"  # how long the step took
MILLISECONDS = "milliseconds"
GLOBAL_RATE = "global rate"  # samples/s of all devices
STEP_RATE = "step rate"  # steps/s, summed over the nodes
EPOCHS = "epochs"  # milliseconds of all steps of a line together, and of each of them

AS_NUMBERED = 0  # the last step before the window is 20, or 19 where the log has a step 0
_DATED = r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})\s(\d{1,2}):(\d{1,2}):(\d{1,2})[.,](\d{1,6})"
_ABSL = r"(?<!\w)[IWE](\d{2})(\d{2}) (\d{1,2}):(\d{1,2}):(\d{1,2})\.(\d{1,6})"  # has no year
_UNIX = r"(?<!\d)(\d{9,10}\.\d+)\s*$"
_BATCH = r"Batch ?\[(?:\d+-)?(\d{1,9})\]"  # "Batch [20]", and of MXNet's Speedometer "Batch [19-20]"
_SPEED = r"Speed: (\d+\.?\d*) samples/sec"
MINDSPORE = "epoch time: "


@dataclass(frozen=True)
class Format:
    framework: str
    marker: str  # text that only lines with a step contain
    measure: str
    number: str  # regular expression of the number, or of the stamp
    step: str  # regular expression of the step's number, the product of its groups; empty: lines are counted
    last_skipped: int  # number of the last step before the measured ones
    extractor: str  # how DLPerf's extractor computes the rate from it
    first_counted: int = 1  # the step of the first line, where lines are counted
    # Further values of a line, which are checked: seconds, samples/s, first and last step; the mean
    # of all times so far; a rate.
    clocked: str = ""
    averaged: str = ""
    rated: str = ""  # samples/s of all devices, in that step or since the line before

    def __post_init__(self):
        for key in ("number", "step", "clocked", "averaged", "rated"):
            object.__setattr__(self, key, re.compile(getattr(self, key), re.A))


FORMATS = (
    Format(
        "OneFlow",
        "train: epoch ",
        STAMP,
        _UNIX,
        r"iter (\d{1,9}),",
        20,
        "stamps of iterations 20 and 120",
        rated=r"samples/s: (\S+) ",
    ),
    Format(
        "OneFlow",
        "total_loss: ",
        STAMP,
        _UNIX,
        r"step: (\d{1,9}),",
        19,
        "stamps of iterations 19 and 119",
        rated=r"throughput: (\S+) ",
    ),
    Format(
        "NGC TensorFlow 1.x",
        " throughput_train : ",
        STAMP,
        _DATED,
        r"Iteration: (\d{1,9})(?![\w.])",
        20,
        "stamps of iterations 20 and 120",
        rated=r"throughput_train : (\S+) seq/s",
    ),
    Format(
        "PyTorch",
        "Epoch: [0][",
        SECONDS,
        r"Time +(\d+\.?\d*) \(",
        r"Epoch: \[0\]\[ *(\d{1,9})/",
        19,
        "mean of the printed times of lines 21 to 120 after the sixth step, those of all ranks of a node in turn",
        averaged=r"Time +\d+\.?\d* \( *(\d+\.?\d*)\)",
    ),
    Format(
        "NGC PyTorch",
        "Epoch: 0 Iteration: ",
        STAMP,
        _DATED,
        r"Iteration: (\d{1,9}) ",
        20,
        "stamps of lines 20 and 120 after the fifth",
        rated=r"train\.total_ips : (\S+) img/s",
    ),
    Format(
        "NGC PyTorch",
        "Training Iteration: ",
        STAMP,
        _DATED,
        r"Training Iteration: (\d{1,9})(?![\w.])",
        20,
        "stamps of lines 20 and 120 after the fifth",
    ),
    Format(
        "NGC TensorFlow 1.x",
        " imgs_per_sec ",
        GLOBAL_RATE,
        r"imgs_per_sec : (\d+\.?\d*)",
        "",
        20,
        "mean of the printed rates",
        first_counted=21,
    ),
    Format("NGC MXNet", " Epoch[0] Batch ", GLOBAL_RATE, _SPEED, _BATCH, AS_NUMBERED, "mean of the printed rates"),
    Format("MXNet", "Epoch[0] Batch[", GLOBAL_RATE, _SPEED, _BATCH, AS_NUMBERED, "mean of the printed rates"),
    Format(
        "PaddlePaddle",
        "elapse ",
        SECONDS,
        r"elapse (\d+\.?\d*) sec",
        r"train batch (\d{1,9})(?![\w.])",
        19,
        "mean of batch / elapse",
    ),
    # Each node's step counts, so one step of all nodes counts as many steps as there are nodes.
    Format(
        "PaddlePaddle",
        " speed: ",
        STEP_RATE,
        r"speed: (\d+\.?\d*) steps/s",
        r"\bstep: (\d{1,9}),",
        20,
        "mean of the printed rates",
    ),
    Format(
        "MXNet",
        "throughput=",
        MILLISECONDS,
        r"latency=(\d+\.?\d*) ms/batch",
        r"\[step (\d{1,9})\]",
        20,
        "mean of batch / latency, median over ranks",
    ),
    Format(
        "TensorFlow 2.x",
        "TimeHistory: ",
        STAMP,
        _ABSL,
        r"between steps \d+ and (\d{1,9})(?![\w.])",
        100,
        "mean of the printed rates of steps 100 to 600",
        clocked=r"TimeHistory: (\S+) seconds, (\S+) examples/second between steps (\d+) and (\d+)",
    ),
    Format(
        "TensorFlow 2.x", "Train Step: ", STAMP, _ABSL, r"Train Step: (\d{1,9})/", 20, "stamps of lines 20 and 120"
    ),
    # A rank writes a line with the loss, which has the step, and then a line with the times.
    Format(
        "MindSpore",
        MINDSPORE,
        EPOCHS,
        r"epoch time: (\d+\.?\d*) ms, per step time: (\d+\.?\d*) ms",
        r"(?:epoch: (\d{1,4}) )?step: (\d{1,5}), (?:loss is|outputs are) ",
        20,
        "mean over ranks of the printed times",
    ),
)
