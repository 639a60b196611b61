# SPDX-License-Identifier: Apache-2.0
"""The job of PyTorch's DDP and RPC benchmark on CPUs, on torch.distributed.rpc.

Every server holds an EmbeddingBag.  A trainer looks its bags up on one server
after the other, puts them through linear layers that DistributedDataParallel
replicates over Gloo, and lets distributed autograd and DistributedOptimizer
update both parts.  Prints one JSON object: seconds of every step of every
trainer, and seconds of each step's lookups.

Of the original differ: the device, the numbers of trainers and servers, which
all processes are told, and the first linear layer, which takes any width.
"""

import argparse
import json
import os
import random
import time

import torch
import torch.distributed as dist
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.optim import DistributedOptimizer
from torch.nn.parallel import DistributedDataParallel

FEWEST_LOOKUPS, MOST_LOOKUPS, LONGEST_BAG, CLASSES = 20, 50, 10, 8


class Table(nn.Module):
    def __init__(self, rows, dim):
        super().__init__()
        self.bags = nn.EmbeddingBag(rows, dim, mode="sum")

    def forward(self, ids, offsets):
        return self.bags(ids, offsets)


def look_up(table, ids, offsets):
    return table.local_value()(ids, offsets)


def parameters_of(table):
    return [rpc.RRef(p) for p in table.local_value().parameters()]


class Job(nn.Module):
    def __init__(self, tables, dim):
        super().__init__()
        self.tables = tables
        self.lookup_seconds = 0.0
        dense = nn.Sequential(
            nn.Linear(len(tables) * dim, 256),
            nn.Linear(256, 128),
            nn.ReLU(),
            nn.Linear(128, 64),
            nn.Linear(64, 32),
            nn.Linear(32, CLASSES),
        )
        self.dense = DistributedDataParallel(dense)

    def forward(self, ids, offsets):
        began = time.perf_counter()
        bags = [rpc.rpc_sync(t.owner(), look_up, args=(t, ids, offsets))
                for t in self.tables]
        self.lookup_seconds = time.perf_counter() - began
        return self.dense(torch.cat(bags, 1))


def draw(rows):
    lookups = random.randint(FEWEST_LOOKUPS, MOST_LOOKUPS)
    ids = torch.randint(rows, (lookups,))
    offsets, begin = [], 0
    while begin < lookups:
        offsets.append(begin)
        begin += random.randint(1, LONGEST_BAG)
    target = torch.randint(CLASSES, (len(offsets),))
    return ids, torch.tensor(offsets), target


def train(tables, options, rank):
    torch.set_num_threads(1)
    random.seed(rank)
    torch.manual_seed(rank)
    model = Job(tables, options.embedding_dim)
    remote = []
    for table in tables:
        remote += rpc.rpc_sync(table.owner(), parameters_of, args=(table,))
    remote += [rpc.RRef(p) for p in model.dense.parameters()]
    optimizer = DistributedOptimizer(torch.optim.SGD, remote, lr=0.05)
    loss_of = nn.CrossEntropyLoss()
    steps, lookups, samples = [], [], 0
    for step in range(options.warmup + options.steps):
        began = time.perf_counter()
        ids, offsets, target = draw(options.embeddings)
        with dist_autograd.context() as context:
            loss = loss_of(model(ids, offsets), target)
            dist_autograd.backward(context, [loss])
            optimizer.step(context)
        if step >= options.warmup:
            steps.append(time.perf_counter() - began)
            lookups.append(model.lookup_seconds)
            samples += len(target)
    return {"steps_s": steps, "lookups_s": lookups, "samples": samples}


def run(rank, options):
    trainers, servers = options.trainers, options.servers
    world = trainers + servers + 1
    torch.set_num_threads(1)
    backend = rpc.TensorPipeRpcBackendOptions(
        init_method=f"tcp://127.0.0.1:{options.port}", rpc_timeout=3600)
    names = [f"trainer{i}" for i in range(trainers)]
    names += [f"server{i}" for i in range(servers)] + ["master"]
    if rank < trainers:
        dist.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{options.port + 1}",
            rank=rank, world_size=trainers)
    rpc.init_rpc(names[rank], rank=rank, world_size=world,
                 rpc_backend_options=backend)
    if rank == world - 1:
        tables = [
            rpc.remote(names[trainers + s], Table,
                       args=(options.embeddings, options.embedding_dim))
            for s in range(servers)
        ]
        futures = [rpc.rpc_async(names[t], train, args=(tables, options, t))
                   for t in range(trainers)]
        print(json.dumps([future.wait() for future in futures]), flush=True)
    rpc.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--embeddings", type=int, default=300)
    parser.add_argument("--embedding-dim", type=int, default=64)
    parser.add_argument("--warmup", type=int, default=50)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--port", type=int, default=29510)
    options = parser.parse_args()
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    os.environ["TP_SOCKET_IFNAME"] = "lo"
    mp.spawn(run, args=(options,),
             nprocs=options.trainers + options.servers + 1)


if __name__ == "__main__":
    main()
