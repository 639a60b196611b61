# SPDX-License-Identifier: Apache-2.0
"""Trains and profiles a user's own PyTorch model with Paceline.

    import paceline.torch as pt

    pt.init()
    model = pt.DataParallel(MyModel(), optimizer=torch.optim.SGD(...), strategy="fusion")
    loss = model.step(lambda: loss_fn(model(x), y))

`DataParallel` trains it under any plan (docs/your-model.md), `profile` times its
layers for the program (docs/profile.md).
"""

import importlib

# The module that defines each name. The C++ extension is loaded only when a name that needs it is
# first used, because profiling does not need it.
_HOMES = {
    "DataParallel": "data_parallel",
    "UsageError": "extension",
    "WorldError": "extension",
    "all_reduce": "job",
    "broadcast": "job",
    "init": "job",
    "local_rank": "job",
    "neighbor_allreduce": "job",
    "rank": "job",
    "size": "job",
}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
