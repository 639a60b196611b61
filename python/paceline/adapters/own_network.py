# SPDX-License-Identifier: Apache-2.0
"""One rank of the user's own network, --model MODULE:FACTORY, under a strategy of Paceline.

`FACTORY()` returns (model, batch) or (model, batch, loss), as for
paceline.torch.profile.  Environment in, JSON lines out: docs/adapters.md.
"""

import contextlib
import dataclasses
import json
import os
import platform
import sys

import torch
from torch.utils._pytree import tree_map

import paceline.torch as pt
from paceline.adapters import formula, python_ddp
from paceline.adapters.case import UsageError, parse_case, rank_variable
from paceline.adapters.events import clipping, emit
from paceline.torch import profile


def read_case(text):
    """The case, its model and its strategy, which other adapters have not."""
    given = json.loads(text)
    model, strategy = given.pop("model", ""), given.pop("strategy", "")
    if ":" not in model or not strategy:
        raise UsageError("own-network is what --model MODULE:FACTORY runs; it cannot be named by --framework")
    return parse_case(json.dumps(given)), model, strategy


class OwnRank(python_ddp.Rank):
    """What python_ddp.measure() drives."""

    name = "own-network"

    def __init__(self, case, model, strategy):
        self.case = case
        self.rank = rank_variable("RANK")
        self.world = rank_variable("WORLD_SIZE")
        self.device = torch.device("cpu")
        if case.device == "cuda":
            self.device = torch.device("cuda", rank_variable("LOCAL_RANK") % torch.cuda.device_count())
            torch.cuda.set_device(self.device)
        if case.threads > 0:
            torch.set_num_threads(case.threads)
        if case.as_original:
            raise UsageError("as_original is of Paceline's own networks")
        pt.init(case.engine)
        torch.manual_seed(case.seed)
        self.source = model
        self.exchange = strategy
        self.subject = profile.made_by(model)
        self.micro_batches = self.make_micro_batches()
        network = self.subject.model.to(self.device)
        if case.channels_last:
            network.to(memory_format=torch.channels_last)
        self.network = network
        self.parameter_count = sum(p.numel() for p in network.parameters())
        self.optimizer = self.make_optimizer(network)
        self.scaler = None
        if case.dtype == "amp" and case.device == "cuda":
            self.scaler = torch.amp.GradScaler("cuda")
        self.model = pt.DataParallel(
            network,
            self.optimizer,
            strategy,
            accumulate=case.accumulate,
            bucket_mb=case.bucket_mb,
            clip_norm=case.clip_norm,
            scaler=self.scaler,
            seed=case.seed,
        )

    def make_micro_batches(self):
        """The example batch, in as many parts as there are micro-batches."""
        given, parts = self.subject.batch_size(), self.case.accumulate
        if given != self.case.batch_size:
            raise UsageError(
                f"the example batch of {self.source} has {given} samples: --batch-size {given} says so, and rates are "
                "computed from it"
            )

        def part(index):
            def of(value):
                if not isinstance(value, torch.Tensor):
                    return value
                is_batch = value.dim() > 0 and value.shape[0] == given
                chunk = value.chunk(parts)[index] if is_batch else value
                return chunk.to(self.device)

            return tree_map(of, (self.subject.batch, self.subject.named))

        return [part(index) for index in range(parts)]

    def loss_of(self, micro_batch):
        positional, named = micro_batch
        with self.autocast():
            return self.subject.loss(self.model(*positional, **named))

    def step(self, clock, before_update=lambda: None):
        """One step; returns its loss."""
        total = None
        for micro_batch in self.micro_batches:
            loss = self.model.step(lambda batch=micro_batch: self.loss_of(batch))
            if loss is not None:
                share = loss / len(self.micro_batches)
                total = share if total is None else total + share
        clock("forward")  # forward, backward and update overlap
        if self.case.sync_each_step:
            self.synchronize()
        return torch.zeros(()) if total is None else total

    def synchronize(self):
        self.model.synchronize()
        super().synchronize()

    def whole_parameters(self):
        self.model.synchronize()
        return self.network.parameters()

    def parameters_digest(self):
        """None where ranks hold different parameters, or one of them none."""
        return f"{formula.fingerprint_all(self.whole_parameters()):016x}" if self.model.replicates else None

    def emit_environment(self):
        cuda = self.device.type == "cuda"
        emit(
            "environment",
            framework=self.name,
            framework_version=torch.__version__,
            data="the factory's batch",
            model_source=self.source,
            layout=None,
            compiler=None,
            exchange=self.exchange,
            parameters=self.parameter_count,
            flops=None,
            clipping=clipping(self.case.clip_norm),
            loss_scaling="dynamic" if self.scaler else "none",
            python=platform.python_version(),
            cuda=torch.version.cuda,
            device_name=torch.cuda.get_device_name(self.device) if cuda else None,
            cpu_capability=torch.backends.cpu.get_cpu_capability(),
            host=platform.node(),
            rank=self.rank,
            world=self.world,
            threads=torch.get_num_threads(),
            backend=self.case.engine,
            case={**dataclasses.asdict(self.case), "model": self.source},
        )

    def autocast(self):
        if self.case.dtype != "amp":
            return contextlib.nullcontext()
        return torch.autocast(self.case.device, torch.float16 if self.case.device == "cuda" else torch.bfloat16)


def main():
    try:
        rank = OwnRank(*read_case(os.environ.get("PACELINE_CASE", "{}")))
        rank.emit_environment()
        python_ddp.measure(rank)
    except (UsageError, profile.UsageError, pt.UsageError) as error:
        emit("error", message=str(error))
        return 2
    except Exception as error:  # the harness must learn of any failure
        emit("error", message=f"{type(error).__name__}: {error}")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
