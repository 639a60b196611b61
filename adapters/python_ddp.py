#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of Python's DistributedDataParallel, as an external command.

Environment in, JSON lines out: docs/adapters.md has the contract.
"""

import contextlib
import dataclasses
import json
import os
import platform
import re
import sys
import time
import warnings

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import formula
import networks


class UsageError(Exception):
    """The case asks for something that cannot be."""


@dataclasses.dataclass
class Case:
    """PACELINE_CASE.  The keys of the record's configuration that matter to one
    rank, with their defaults, and three of this adapter's own.
    """

    model: str = "resnet50"
    batch_size: int = 32
    image_size: int = 0
    classes: int = 0
    bucket_mb: float = 25
    engine: str = "gloo"
    device: str = "cpu"
    dtype: str = "fp32"
    channels_last: bool = False
    threads: int = 0
    warmup: int = 5
    steps: int = 10
    accumulate: int = 1
    compat_accumulate: bool = False
    sync_each_step: bool = False
    seed: int = 0
    optimizer: str = "sgd"
    learning_rate: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 1e-4
    options: str = "defaults"
    dump: str = "none"
    dropout: float = 0.5


_CHOICES = {
    "model": tuple(networks.NETWORKS),
    "engine": ("gloo", "nccl"),
    "device": ("cpu", "cuda"),
    "dtype": ("fp32", "bf16", "amp"),
    "optimizer": ("sgd", "adamw"),
    "options": ("defaults", "best"),
    "dump": ("none", "formula", "integers"),
}
_AT_LEAST = {
    "batch_size": 1,
    "image_size": 0,
    "classes": 0,
    "threads": 0,
    "warmup": 0,
    "steps": 1,
    "accumulate": 1,
    "seed": 0,
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


def refuse_unsupported(case):
    """The same refusal as src/paceline/model/precision.cc."""
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


def emit(event, **values):
    print(json.dumps({"event": event, **values}), flush=True)


def rank_variable(name):
    try:
        return int(os.environ[name])
    except (KeyError, ValueError) as error:
        raise UsageError(f"environment variable {name} is not a number") from error


class Rank:
    """Everything one rank trains with."""

    def __init__(self, case):
        self.case = case
        self.rank = rank_variable("RANK")
        self.world = rank_variable("WORLD_SIZE")
        self.device = torch.device("cpu")
        if case.device == "cuda":
            local = rank_variable("LOCAL_RANK") % torch.cuda.device_count()
            self.device = torch.device("cuda", local)
            torch.cuda.set_device(self.device)
        if case.threads > 0:
            torch.set_num_threads(case.threads)
        dist.init_process_group(case.engine, init_method="env://")
        self.micro_batches = self.make_micro_batches()
        network = self.make_network()
        # Before wrapping, as the original benchmark does.
        self.optimizer = self.make_optimizer(network)
        self.model = self.wrap(network)
        self.scaler = None
        if case.dtype == "amp" and case.device == "cuda":
            self.scaler = torch.amp.GradScaler("cuda")

    @property
    def best(self):
        return self.case.options == "best"

    @property
    def tensor_dtype(self):
        return torch.bfloat16 if self.case.dtype == "bf16" else torch.float32

    def make_network(self):
        case = self.case
        info = networks.NETWORKS[case.model]
        torch.manual_seed(case.seed)
        network = info.make(
            case.image_size or info.image_size,
            case.classes or info.classes,
            case.dropout,
        )
        if case.dump == "formula":
            formula.fill_by_formula(network, case.seed)
        elif case.dump == "integers":
            formula.fill_with_integers(network, case.seed)
        layout = (
            torch.channels_last if case.channels_last else torch.preserve_format
        )
        return network.to(
            device=self.device, dtype=self.tensor_dtype, memory_format=layout
        )

    def make_micro_batches(self):
        case = self.case
        info = networks.NETWORKS[case.model]
        side = case.image_size or info.image_size
        inputs, target = formula.batch(
            (case.batch_size, info.channels, side, side),
            case.classes or info.classes,
            case.seed,
            self.rank,
            integers=case.dump == "integers",
        )
        layout = (
            torch.channels_last if case.channels_last else torch.preserve_format
        )
        parts = zip(inputs.chunk(case.accumulate), target.chunk(case.accumulate))
        return [
            (
                x.to(self.device, self.tensor_dtype, memory_format=layout),
                y.to(self.device),
            )
            for x, y in parts
        ]

    def make_optimizer(self, network):
        case = self.case
        # PyTorch's loop and its fused kernel round the odd end of a tensor
        # differently; Paceline's update is the fused one.
        fused = True if self.best or self.case.dump != "none" else None
        if case.optimizer == "adamw":
            return torch.optim.AdamW(
                network.parameters(),
                lr=case.learning_rate,
                weight_decay=case.weight_decay,
                fused=fused,
            )
        return torch.optim.SGD(
            network.parameters(),
            lr=case.learning_rate,
            momentum=case.momentum,
            weight_decay=case.weight_decay,
            fused=fused,
        )

    def wrap(self, network):
        index = self.device.index
        with warnings.catch_warnings():
            # 2.13 prefers a new name that older versions do not know.
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                network,
                device_ids=None if index is None else [index],
                broadcast_buffers=False,
                bucket_cap_mb=self.case.bucket_mb,
                gradient_as_bucket_view=self.best,
                # A static graph asserts when its first pass does not reduce.
                static_graph=self.best and self.case.accumulate == 1,
            )

    def autocast(self):
        if self.case.dtype != "amp":
            return contextlib.nullcontext()
        dtype = torch.float16 if self.case.device == "cuda" else torch.bfloat16
        return torch.autocast(self.case.device, dtype)

    def forward(self, micro_batch):
        inputs, target = micro_batch
        with self.autocast():
            logits = self.model(inputs)
            if self.case.dump == "integers":
                return formula.integer_loss(logits, target)
            loss = torch.nn.functional.cross_entropy(logits, target)
        return loss / self.case.accumulate if self.case.accumulate > 1 else loss

    def backward(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def update(self):
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()

    def step(self, clock, before_update=lambda: None):
        """One step; returns its loss.  `clock(phase)` ends a phase."""
        if not self.case.compat_accumulate:
            self.optimizer.zero_grad(set_to_none=True)
        total = None
        for index, micro_batch in enumerate(self.micro_batches):
            is_last = index + 1 == len(self.micro_batches)
            with contextlib.nullcontext() if is_last else self.model.no_sync():
                loss = self.forward(micro_batch)
                clock("forward")
                self.backward(loss)
                clock("backward")
            total = loss.detach() if total is None else total + loss.detach()
        before_update()
        self.update()
        if self.case.sync_each_step:
            self.synchronize()
        clock("update")
        return total

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def peak_memory_bytes(self):
        """Of the device's allocator on cuda, of the process on cpu."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        with open("/proc/self/status", encoding="utf-8") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) * 1024

    def emit_environment(self):
        cuda = self.device.type == "cuda"
        emit(
            "environment",
            framework="pytorch-ddp",
            framework_version=torch.__version__,
            python=platform.python_version(),
            cuda=torch.version.cuda,
            device_name=torch.cuda.get_device_name(self.device) if cuda else None,
            cpu_capability=torch.backends.cpu.get_cpu_capability(),
            host=platform.node(),
            rank=self.rank,
            world=self.world,
            threads=torch.get_num_threads(),
            backend=dist.get_backend(),
            case=dataclasses.asdict(self.case),
        )


class PhaseClock:
    """Splits the time since its start into phases, in nanoseconds."""

    def __init__(self):
        self.start_ns = self.last_ns = time.perf_counter_ns()
        self.phases_ns = {"forward": 0, "backward": 0, "update": 0}

    def __call__(self, phase):
        now_ns = time.perf_counter_ns()
        self.phases_ns[phase] += now_ns - self.last_ns
        self.last_ns = now_ns


class SignOfLife:
    """After a step: at most once a second a line that says how many are done."""

    INTERVAL_NS = 1_000_000_000

    def __init__(self):
        self.next_ns = 0

    def __call__(self, step):
        """The nanoseconds that the line took; 0 where none was due."""
        now_ns = time.perf_counter_ns()
        if now_ns < self.next_ns:
            return 0
        self.next_ns = now_ns + self.INTERVAL_NS
        emit("alive", step=step)
        return time.perf_counter_ns() - now_ns


def measure(rank):
    """A step lasts from the start of its forward to that of the next one, less
    the line between them where one was due; the last one to the end of the
    device's work."""
    case = rank.case
    alive = SignOfLife()
    for index in range(case.warmup):
        rank.step(lambda phase: None)
        alive(index + 1)
    rank.synchronize()
    clocks = []
    lines_ns = []
    for index in range(case.steps):
        clocks.append(PhaseClock())
        loss = rank.step(clocks[-1])
        is_last = index + 1 == case.steps
        lines_ns.append(0 if is_last else alive(case.warmup + index + 1))
    rank.synchronize()
    starts_ns = [clock.start_ns for clock in clocks] + [time.perf_counter_ns()]
    steps_ns = [
        starts_ns[index + 1] - starts_ns[index] - lines_ns[index]
        for index in range(case.steps)
    ]
    for index, clock in enumerate(clocks):
        emit(
            "step",
            index=index,
            step_ns=steps_ns[index],
            phases_ns=clock.phases_ns,
        )
    emit(
        "end",
        peak_memory_bytes=rank.peak_memory_bytes(),
        window_ns=sum(steps_ns),
        loss=loss.item(),
    )


def dump(rank):
    """Every step's averaged gradients and updated parameters, as fingerprints."""
    named = dict(rank.model.module.named_parameters())
    for index in range(rank.case.warmup + rank.case.steps):
        gradients = {}

        def before_update():
            for name, parameter in named.items():
                gradients[name] = f"{formula.fingerprint(parameter.grad):016x}"

        loss = rank.step(lambda phase: None, before_update)
        emit(
            "dump",
            index=index,
            loss=f"{formula.fingerprint(loss):016x}",
            gradients=gradients,
            parameters={
                name: f"{formula.fingerprint(parameter):016x}"
                for name, parameter in named.items()
            },
        )


def main():
    try:
        case = parse_case(os.environ.get("PACELINE_CASE", "{}"))
        refuse_unsupported(case)
        rank = Rank(case)
        rank.emit_environment()
        if case.dump == "none":
            measure(rank)
        else:
            dump(rank)
        dist.destroy_process_group()
    except UsageError as error:
        emit("error", message=str(error))
        return 2
    except Exception as error:  # the harness must learn of any failure
        emit("error", message=f"{type(error).__name__}: {error}")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
