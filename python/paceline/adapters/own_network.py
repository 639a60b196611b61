# SPDX-License-Identifier: Apache-2.0
"""Trains the user's own network, --model MODULE:FACTORY, on one rank under a strategy of Paceline.

`FACTORY()` returns (model, batch) or (model, batch, loss), as for
paceline.torch.profile.  Environment in, JSON lines out: docs/adapters.md.
"""

import atexit
import dataclasses
import json
import os

import torch
import torch.distributed as dist
from torch.utils._pytree import tree_map

import paceline.torch as pt
from paceline.adapters import formula, python_ddp, torch_variants
from paceline.adapters.case import UsageError, parse_case, rank_variable
from paceline.adapters.events import emit
from paceline.torch import job, profile


def read_case(text):
    """Returns (case, model, strategy). Only cases of this adapter have a strategy."""
    given = json.loads(text)
    model, strategy = given.pop("model", ""), given.pop("strategy", "")
    if ":" not in model or not strategy:
        raise UsageError("own-network is what --model MODULE:FACTORY runs; it cannot be named by --framework")
    return parse_case(json.dumps(given)), model, strategy


class OwnNetwork:
    """Overrides the methods of a rank that differ between the user's network and a built-in
    network."""

    source = exchange = ""
    subject = None

    def __init__(self, case, model, strategy):
        self.read(case, model, strategy)
        super().__init__(case)

    def read(self, case, model, strategy):
        if case.as_original:
            raise UsageError("as_original is of Paceline's own networks")
        torch.manual_seed(case.seed)
        self.source, self.exchange = model, strategy
        self.subject = profile.subject_from_factory(model)

    def make_network(self):
        network = self.subject.model.to(self.device)
        return network.to(memory_format=torch.channels_last) if self.case.channels_last else network

    def count_flops(self, _network):
        return None

    def make_micro_batches(self):
        """Returns the example batch, split into the micro-batches."""
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

    def loss_of(self, model, micro_batch):
        positional, named = micro_batch
        with self.autocast():
            return self.subject.loss(model(*positional, **named))

    def forward(self, micro_batch):
        return self.loss_of(self.model, micro_batch) / self.case.accumulate

    def network_facts(self):
        return {
            "data": "the factory's batch",
            "torch_version": torch.__version__,
            "model_source": self.source,
            "layout": None,
            "backend": self.case.engine,
            "case": {**dataclasses.asdict(self.case), "model": self.source},
        }


class DdpRank(OwnNetwork, python_ddp.Rank):
    """A rank of the user's network under PyTorch's DistributedDataParallel."""

    name = "pytorch-ddp"


class Fsdp2Rank(OwnNetwork, torch_variants.Fsdp2Rank):
    """A rank of the user's network under PyTorch's fully_shard."""


class Training:
    """Trains the network under one strategy of Paceline."""

    def __init__(self, rank, strategy):
        self.rank = rank
        self.network = rank.make_network()
        self.optimizer = rank.make_optimizer(self.network)
        case = rank.case
        self.scaler = None
        if case.dtype == "amp" and case.device == "cuda":
            self.scaler = torch.amp.GradScaler("cuda")
        self.model = pt.DataParallel(
            self.network,
            self.optimizer,
            strategy,
            accumulate=case.accumulate,
            bucket_mb=case.bucket_mb,
            clip_norm=case.clip_norm,
            scaler=self.scaler,
            seed=case.seed,
        )

    def step(self):
        """Runs one step. Returns its loss, or None if this rank is a parameter server only."""
        total = None
        for micro_batch in self.rank.micro_batches:
            loss = self.model.step(lambda batch=micro_batch: self.rank.loss_of(self.model, batch))
            if loss is not None:
                share = loss / len(self.rank.micro_batches)
                total = share if total is None else total + share
        return total

    def drain(self):
        self.model.synchronize()


class PlanRank(OwnNetwork, python_ddp.Rank):
    """A rank of the user's network under a plan of Paceline."""

    name = "own-network"

    def __init__(self, case, model, strategy):
        self.case = case
        self.rank = rank_variable("RANK")
        self.world = rank_variable("WORLD_SIZE")
        self.device = python_ddp.device_of(case)
        pt.init(case.engine)
        self.read(case, model, strategy)
        self.flops = None
        self.micro_batches = self.make_micro_batches()
        self.training = Training(self, strategy)
        self.training.model._model.count_from(case.warmup)
        self.optimizer, self.scaler = self.training.optimizer, self.training.scaler
        self.model = self.training.model
        self.parameter_count = sum(p.numel() for p in self.training.network.parameters())

    def step(self, clock, before_update=lambda: None):
        """Runs one step and returns its loss."""
        loss = self.training.step()
        clock("forward")  # forward, backward and update overlap, so they are timed as one phase
        if self.case.sync_each_step:
            self.synchronize()
        return torch.zeros(()) if loss is None else loss

    def synchronize(self):
        self.training.drain()
        super().synchronize()

    def whole_parameters(self):
        self.training.drain()
        return self.training.network.parameters()

    def parameters_digest(self):
        """Returns None if ranks hold different parameters, or if some rank holds none."""
        return f"{formula.fingerprint_all(self.whole_parameters()):016x}" if self.model.replicates else None

    def exchange_facts(self):
        """Returns the bytes of the window, and the times of steps in turn with those of a second network without
        communication."""
        plan = self.model._model
        found = {"wire": plan.wire(self.case.steps)}
        if self.world > 1 and self.exchange != "none" and plan.training_ranks == self.world:
            self.read(self.case, self.source, self.exchange)
            alone = Training(self, "none")
            found["in_turn"] = job.current().timed_in_turn(self.device, self.case.steps, self.training, alone)
        return found


def rank_of(case, model, strategy):
    """Returns the rank for a strategy.  Strategies of PyTorch may have options: NAME:KEY=VALUE,..."""
    name, _, options = strategy.partition(":")
    if name == "fsdp2":
        return Fsdp2Rank(case, model, strategy)
    if name != "python-ddp":
        return PlanRank(case, model, strategy)
    given = dict(option.split("=") for option in options.split(",") if option)
    settings = given.get("settings", case.options)
    bucket_mb = float(given.get("bucket-mb", case.bucket_mb))
    return DdpRank(dataclasses.replace(case, options=settings, bucket_mb=bucket_mb), model, strategy)


def main():
    try:
        rank = rank_of(*read_case(os.environ.get("PACELINE_CASE", "{}")))
        rank.emit_environment()
        python_ddp.measure(rank)
        if dist.is_initialized():
            dist.destroy_process_group()
    except (UsageError, profile.UsageError, pt.UsageError) as error:
        emit("error", message=str(error))
        return 2
    except NotImplementedError as error:  # raised by fully_shard for channels-last parameters
        emit("error", status="unsupported", message=str(error))
        return 2
    except Exception as error:  # Paceline must learn of any failure
        emit("error", message=f"{type(error).__name__}: {error}")
        return 3
    return 0


if __name__ == "__main__":
    ended = main()
    atexit._run_exitfuncs()  # runs the exit handler of paceline.torch, by which the rank leaves the
                             # job
    python_ddp.leave(ended)
