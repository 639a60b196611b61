# SPDX-License-Identifier: Apache-2.0
"""The training loop that the adapters of all frameworks except PyTorch share (docs/adapters.md).

A framework's program has a Trainer and calls `main`.
"""

import dataclasses
import hashlib
import json
import os
import platform
import re
import sys
import time

from paceline.adapters import formula_numpy
from paceline.adapters import functional
from paceline.adapters.events import ProgressReporter, clipping, emit
from paceline.adapters.norms import WeightNorms, stride_of


class Unsupported(Exception):
    """The case asks for something that this framework or its adapter does not support."""


@dataclasses.dataclass
class Job:
    """The settings of PACELINE_CASE, and the rank and world size of this process."""

    model: str = "resnet50"
    batch_size: int = 32
    image_size: int = 0
    classes: int = 0
    sequence_length: int = 0
    as_original: bool = False
    device: str = "cpu"
    dtype: str = "fp32"
    threads: int = 0
    warmup: int = 5
    steps: int = 10
    accumulate: int = 1
    seed: int = 0
    optimizer: str = "sgd"
    learning_rate: float = 0.001
    momentum: float = 0.9
    weight_decay: float = 1e-4
    clip_norm: float = 0.0  # 0: none
    compiled: bool = False
    channels_last: bool = False
    # The bucket size and the engine have no meaning for frameworks other than PyTorch. The harness
    # synchronizes the device after every step.
    bucket_mb: float = 25
    engine: str = "gloo"
    sync_each_step: bool = False
    start: str = "formula"  # the only supported value
    rank: int = 0
    world: int = 1

    @property
    def network(self):
        return functional.NETWORKS[self.model]

    @property
    def size(self):
        """Returns the side of an image, or the number of tokens of a text."""
        return self.image_size or self.sequence_length or self.network.size

    @property
    def classes_or_default(self):
        return self.classes or self.network.classes

    def shapes(self):
        return self.network.shapes(self.size, self.classes_or_default)

    @property
    def epsilon(self):
        """Returns the epsilon of AdamW."""
        return 1e-6 if self.optimizer == "bert-adamw" else 1e-8

    def decay_of(self, shape):
        """Returns the weight decay of a parameter; with `bert-adamw`, biases and
        normalizations have none."""
        all_ = self.optimizer != "bert-adamw" or len(shape) > 1
        return self.weight_decay if all_ else 0.0

    def flops(self):
        return functional.flops(self.network, self.size, self.classes_or_default)

    def weights(self):
        """Returns every parameter by name, float32, in PyTorch's layout."""
        return formula_numpy.weights(self.shapes(), self.seed)

    def batch(self):
        """Returns images [batch, channel, row, column] and classes; or for texts the
        batch that functional_bert describes."""
        if self.network.reads_text:
            return formula_numpy.text_batch(
                (self.batch_size, self.size), self.seed, self.rank, self.as_original
            )
        return formula_numpy.batch(
            (self.batch_size, self.network.channels, self.size, self.size),
            self.classes_or_default,
            self.seed,
            self.rank,
        )


def read_job():
    given = json.loads(os.environ.get("PACELINE_CASE", "{}"))
    known = {field.name for field in dataclasses.fields(Job)}
    for key in given:
        if key not in known:
            raise Unsupported(f"unknown key '{key}'; known are {', '.join(known)}")
    job = Job(
        **given, rank=int(os.environ["RANK"]), world=int(os.environ["WORLD_SIZE"])
    )
    if job.model not in functional.NETWORKS:
        raise Unsupported(
            f"model {job.model}: this adapter has {', '.join(functional.NETWORKS)}"
        )
    for key, only in (
        ("accumulate", 1),
        ("channels_last", False),
        ("dtype", "fp32"),
        ("device", "cpu"),
        *(
            (("image_size", 0), ("classes", 0))
            if job.network.reads_text
            else (("sequence_length", 0), ("as_original", False))
        ),
    ):
        if getattr(job, key) != only:
            raise Unsupported(f"{key} = {getattr(job, key)!r}: this adapter has {only!r}")
    known = ("sgd", "adamw", "bert-adamw")
    if job.optimizer not in known:
        raise Unsupported(
            f"optimizer {job.optimizer}: this adapter has {', '.join(known)}"
        )
    return job


def peak_memory_bytes():
    with open("/proc/self/status", encoding="utf-8") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) * 1024


def digest_of(parameters):
    """Returns a digest of the bits of all parameters, by name."""
    digest = hashlib.sha256()
    for name in sorted(parameters):
        digest.update(name.encode())
        digest.update(parameters[name].tobytes())
    return digest.hexdigest()[:16]


def sample_of(parameters):
    """Returns the sample of weights for WeightNorms, from parameters in PyTorch's layout, by
    name."""
    return [
        value.flat[:: stride_of(value.size)].astype("float64")
        for _, value in sorted(parameters.items())
        if value.ndim > 1
    ]


def measure(job, trainer):
    """Runs and times the steps. A step lasts from its start to the end of its work on this rank."""
    alive = ProgressReporter()
    norms = WeightNorms(lambda: sample_of(trainer.parameters()))
    losses = []
    for index in range(job.warmup):
        losses.append(trainer.step())
        norms(index + 1, job.warmup)
        alive(index + 1)
    alive(job.warmup, now=True)
    steps_ns = []
    for index in range(job.steps):
        begun = time.perf_counter_ns()
        losses.append(trainer.step())
        steps_ns.append(time.perf_counter_ns() - begun)
        if index + 1 < job.steps:
            alive(job.warmup + index + 1)
    for index, step_ns in enumerate(steps_ns):
        emit("step", index=index, step_ns=step_ns)
    peak = peak_memory_bytes()
    norms.note("last")
    emit(
        "end",
        window_ns=sum(steps_ns),
        peak_memory_bytes=peak,
        loss_first=losses[0],
        loss_fifth=losses[4] if len(losses) > 4 else None,
        loss=losses[-1],
        parameters_digest=digest_of(trainer.parameters()),
        **norms.found,
    )


def run(framework, version, make_trainer, facts):
    """Returns the exit status.  `facts` are facts about the recipe for the record."""
    try:
        job = read_job()
        trainer = make_trainer(job)
        emit(
            "environment",
            framework=framework,
            framework_version=version(),
            python=platform.python_version(),
            host=platform.node(),
            rank=job.rank,
            world=job.world,
            data="synthetic, one batch",
            model_source="paceline.adapters.functional",
            objective="mean cross-entropy, no dropout"
            if job.network.reads_text
            else "mean cross-entropy",
            parameters=sum(
                int(formula_numpy.math.prod(s)) for s in job.shapes().values()
            ),
            flops=job.flops(),
            clipping=clipping(job.clip_norm),
            **(facts | {"layout": None} if job.network.reads_text else facts),
        )
        measure(job, trainer)
        trainer.close()
    except Unsupported as error:
        emit("error", status="unsupported", message=str(error))
        return 2
    except Exception as error:  # Paceline must learn of any failure
        emit("error", message=f"{type(error).__name__}: {error}"[:500])
        return 3
    sys.stdout.flush()
    return 0
