# SPDX-License-Identifier: Apache-2.0
"""A rank of python_faults.py, which trains until it is ended: STRATEGY ENGINE TIMEOUT."""

import pathlib
import sys

import torch

import paceline.torch as pt

strategy, engine, timeout = sys.argv[1:]
pt.init(engine=engine, timeout=float(timeout))
pathlib.Path(f"joined{pt.rank()}").touch()
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
model = pt.DataParallel(net, torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9), strategy, bucket_mb=0.002)
inputs = torch.randn(16, 32)
while True:
    model.step(lambda: model(inputs).square().mean())
