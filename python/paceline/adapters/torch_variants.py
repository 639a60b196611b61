# SPDX-License-Identifier: Apache-2.0
"""One rank of PyTorch that trains by another method than DistributedDataParallel; the first
argument names the method. Everything else is as in python_ddp.py."""

import collections
import importlib.metadata
import os
import pathlib
import sys

import torch
from torch import nn

from paceline.adapters import python_ddp
from paceline.adapters.case import UsageError


def version_of(package):
    return f"{importlib.metadata.version(package)}, PyTorch {torch.__version__}"


class Fsdp2Rank(python_ddp.Rank):
    """Applies fully_shard to every module that has parameters of its own.  Parameters
    that modules share, such as those of a tied decoder, belong to the whole network."""

    name = "pytorch-fsdp2"
    exchange = "fully_shard: all-gather and reduce-scatter, one group a module"

    def __init__(self, case):
        if case.accumulate != 1 or case.dump != "none":
            raise UsageError("pytorch-fsdp2: neither accumulate nor dump")
        super().__init__(case)

    def wrap(self, network):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(self.case.device, (self.world,))
        owners = collections.Counter(
            id(parameter)
            for module in network.modules()
            for parameter in module.parameters(recurse=False)
        )
        for module in list(network.modules()):
            own = [owners[id(p)] for p in module.parameters(recurse=False)]
            is_norm = isinstance(module, nn.modules.batchnorm._NormBase)
            if own and max(own) == 1 and not is_norm:
                fully_shard(module, mesh=mesh)
        fully_shard(network, mesh=mesh)
        # The optimizer was constructed with the whole parameters, so it gets the sharded ones here.
        self.optimizer = self.make_optimizer(network)
        return torch.compile(network) if self.case.compiled else network

    def whole_weights(self):
        return (p.full_tensor() for p in super().whole_weights())  # a generator, so that only one
                                                                   # whole parameter is in memory at
                                                                   # a time

    def parameters_digest(self):
        return None


class DecentRank(python_ddp.Rank):
    """Decent-DP: every rank averages its parameters with its neighbours'."""

    def __init__(self, case, topology):
        if case.accumulate != 1 or case.dump != "none":
            raise UsageError("decent-dp: neither accumulate nor dump")
        if case.clip_norm:
            raise UsageError("decent-dp: its optimizers step in backward, before "
                             "all gradients are there to be clipped")
        self.topology = topology
        self.name = f"decent-dp-{topology}"
        self.exchange = f"parameters of neighbours in a {topology} graph"
        super().__init__(case)
        if self.world == 1:
            self.exchange = "none: one rank"

    def wrap(self, network):
        from decent_dp.ddp import DecentralizedDataParallel

        if self.world == 1:
            return network  # Decent-DP has no graph of one rank
        # Decent-DP makes the optimizers itself, one for each bucket. They step during backward.
        self.optimizer = None
        return DecentralizedDataParallel(
            network,
            optim_fn=lambda named: self.make_optimizer_of(
                [parameter for _, parameter in named]
            ),
            topology=self.topology,
        )

    def version(self):
        return version_of("decent-dp")

    def make_optimizer_of(self, parameters):
        holder = nn.ParameterList(parameters)
        return self.make_optimizer(holder)

    def update(self):
        if self.optimizer is not None:
            super().update()

    def zero_gradients(self):
        if self.optimizer is not None:
            super().zero_gradients()

    def whole_weights(self):
        return None if self.world > 1 else super().whole_weights()

    def parameters_digest(self):
        return None  # ranks agree in the limit only


class DeepSpeedRank(python_ddp.Rank):
    """DeepSpeed's engine, which shards the optimizer state (ZeRO stage 1), or also gradients and
    parameters (stage 3)."""

    def __init__(self, case, stage):
        if case.accumulate != 1 or case.dump != "none":
            raise UsageError("deepspeed: neither accumulate nor dump")
        if case.dtype != "fp32" or case.compiled:
            raise UsageError("deepspeed: this adapter has eager fp32")
        self.stage = stage
        self.name = f"deepspeed-zero{stage}"
        self.exchange = f"DeepSpeed's engine, ZeRO stage {stage}"
        os.environ["DS_ACCELERATOR"] = case.device
        # Settings of the compilation that DeepSpeed does when it starts for the first time.
        home = pathlib.Path(sys.prefix)
        os.environ.setdefault("TORCH_EXTENSIONS_DIR", str(home / "extensions"))
        os.environ["PATH"] = f"{home / 'bin'}:{os.environ['PATH']}"
        super().__init__(case)

    def wrap(self, network):
        import deepspeed

        engine, *_ = deepspeed.initialize(
            model=network,
            optimizer=self.optimizer,
            dist_init_required=False,
            config={
                "train_micro_batch_size_per_gpu": self.case.batch_size,
                "gradient_clipping": self.case.clip_norm,
                "zero_allow_untested_optimizer": True,
                "zero_optimization": {"stage": self.stage},
            },
        )
        return engine

    def version(self):
        return version_of("deepspeed")

    def backward(self, loss):
        self.model.backward(loss)

    def zero_gradients(self):
        pass  # the engine's own step zeroes the gradients

    def update(self):
        self.model.step()

    def parameters_digest(self):
        return None if self.stage == 3 else super().parameters_digest()

    def whole_weights(self):
        return None if self.stage == 3 else super().whole_weights()

    def whole_parameters(self):
        return self.model.module.parameters()  # the optimizer itself has only a shard of them


VARIANTS = {
    "deepspeed-1": lambda case: DeepSpeedRank(case, 1),
    "deepspeed-3": lambda case: DeepSpeedRank(case, 3),
    "fsdp2": Fsdp2Rank,
    "decent-complete": lambda case: DecentRank(case, "complete"),
    "decent-ring": lambda case: DecentRank(case, "ring"),
}


if __name__ == "__main__":
    python_ddp.leave(python_ddp.main(VARIANTS[sys.argv[1]]))
