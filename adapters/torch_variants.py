#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of PyTorch in other ways than DistributedDataParallel: the first
argument says which.  The rest is python_ddp.py's."""

import sys

import torch
from torch import nn

import python_ddp
from case import UsageError


class Fsdp2Rank(python_ddp.Rank):
    """fully_shard of every module that has parameters of its own."""

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
        for module in list(network.modules()):
            own = any(True for _ in module.parameters(recurse=False))
            if own and not isinstance(module, nn.modules.batchnorm._NormBase):
                fully_shard(module, mesh=mesh)
        fully_shard(network, mesh=mesh)
        # The optimizer was made of the whole parameters.
        self.optimizer = self.make_optimizer(network)
        return torch.compile(network) if self.case.compiled else network

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

    def wrap(self, network):
        from decent_dp.ddp import DecentralizedDataParallel

        if self.world == 1:
            return network  # it has no graph of one rank
        # It makes its optimizers itself, one for each bucket, and they step in
        # backward.
        self.optimizer = None
        return DecentralizedDataParallel(
            network,
            optim_fn=lambda named: self.make_optimizer_of(
                [parameter for _, parameter in named]
            ),
            topology=self.topology,
        )

    def make_optimizer_of(self, parameters):
        holder = nn.ParameterList(parameters)
        return self.make_optimizer(holder)

    def update(self):
        if self.optimizer is not None:
            super().update()

    def zero_gradients(self):
        if self.optimizer is not None:
            super().zero_gradients()

    def parameters_digest(self):
        return None  # ranks agree in the limit only


VARIANTS = {
    "fsdp2": Fsdp2Rank,
    "decent-complete": lambda case: DecentRank(case, "complete"),
    "decent-ring": lambda case: DecentRank(case, "ring"),
}


if __name__ == "__main__":
    sys.exit(python_ddp.main(VARIANTS[sys.argv[1]]))
