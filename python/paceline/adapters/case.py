# SPDX-License-Identifier: Apache-2.0
"""Reads the input of an adapter: the case in PACELINE_CASE, and the variables that identify the
rank."""

import dataclasses
import json
import os
import re

import torch

from paceline.adapters import networks


class UsageError(Exception):
    """The case has an invalid or unsupported setting."""


@dataclasses.dataclass
class Case:
    """The values of PACELINE_CASE: those keys of the record's configuration that matter to one
    rank, with their defaults, and three keys that only this adapter has.
    """

    model: str = "resnet50"
    batch_size: int = 32
    image_size: int = 0
    classes: int = 0
    sequence_length: int = 0
    as_original: bool = False
    bucket_mb: float = 25
    engine: str = "gloo"
    device: str = "cpu"
    dtype: str = "fp32"
    channels_last: bool = False
    threads: int = 0
    warmup: int = 5
    steps: int = 10
    accumulate: int = 1
    sync_each_step: bool = False
    seed: int = 0
    optimizer: str = "sgd"
    learning_rate: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 1e-4
    clip_norm: float = 0.0
    options: str = "defaults"
    compiled: bool = False
    start: str = "random"
    dump: str = "none"
    dropout: float = -1.0


_CHOICES = {
    "model": tuple(networks.NETWORKS),
    "engine": ("gloo", "nccl"),
    "device": ("cpu", "cuda"),
    "dtype": ("fp32", "bf16", "amp"),
    "optimizer": (
        "sgd",
        "adam",
        "adamw",
        "bert-adamw",
        "rmsprop",
        "adagrad",
        "adadelta",
    ),
    "options": ("defaults", "best"),
    "start": ("random", "formula"),
    "dump": ("none", "formula", "integers"),
}
_AT_LEAST = {
    "batch_size": 1,
    "image_size": 0,
    "classes": 0,
    "sequence_length": 0,
    "threads": 0,
    "warmup": 0,
    "steps": 1,
    "accumulate": 1,
    "seed": 0,
    "clip_norm": 0,
}


def parse_case(text):
    try:
        given = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"PACELINE_CASE is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise UsageError("PACELINE_CASE is not a JSON object")
    fields = {field.name: field for field in dataclasses.fields(Case)}
    for key, value in given.items():
        if key not in fields:
            raise UsageError(
                f"unknown key '{key}'; known are {', '.join(fields)}"
            )
        check_value(key, value, fields[key].type)
    case = Case(**given)
    if case.batch_size % case.accumulate != 0:
        raise UsageError(
            f"batch_size {case.batch_size} is not a multiple of "
            f"accumulate {case.accumulate}"
        )
    if case.dump != "none" and case.dtype == "amp":
        raise UsageError("dump compares bits; amp's gradients carry a scale")
    if case.dump != "none" and (case.dtype, case.device) == ("bf16", "cpu"):
        raise UsageError(
            "dump compares bits; PyTorch's fused SGD of bf16 on a CPU leaves "
            "parameters as they were"
        )
    return case


def check_value(key, value, kind):
    is_kind = isinstance(value, kind) and not (
        kind is int and isinstance(value, bool)
    )
    if kind is float:
        is_kind = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_kind:
        raise UsageError(f"{key} = {value!r} is not of type {kind.__name__}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise UsageError(
            f"{key} = '{value}'; known are {', '.join(_CHOICES[key])}"
        )
    if key in _AT_LEAST and value < _AT_LEAST[key]:
        raise UsageError(f"{key} = {value} is below {_AT_LEAST[key]}")


def reject_unsupported(case):
    """Raises UsageError for what this machine cannot run. bf16 is checked as in
    src/paceline/case/machine.cc."""
    info = networks.NETWORKS[case.model]
    if not info.is_installed():
        raise UsageError(
            f"model {case.model}: {info.package} defines it and is not "
            f"installed in this Python; `pip install {info.package}` installs it"
        )
    texts = ("sequence_length",)
    images = ("image_size", "classes")
    for key in images if info.reads_text else texts:
        if getattr(case, key):
            raise UsageError(
                f"{key} is no option of {case.model}, which reads "
                f"{'text' if info.reads_text else 'images'}"
            )
    if info.reads_text and case.dump == "integers":
        raise UsageError(f"dump integers: {case.model} has layer normalization")
    if case.device == "cuda":
        if not torch.cuda.is_available():
            raise UsageError("device cuda: this PyTorch sees no CUDA device")
        return
    if case.engine == "nccl":
        raise UsageError("engine nccl needs device cuda")
    if case.dtype != "fp32":
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            words = re.findall(r"\S+", file.read())
        if not {"avx512_bf16", "amx_bf16", "bf16"} & set(words):
            raise UsageError(f"dtype {case.dtype}: no bf16 instructions here")


def rank_variable(name):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError) as error:
        raise UsageError(f"environment variable {name} is not a number") from error
