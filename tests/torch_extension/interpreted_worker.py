# SPDX-License-Identifier: Apache-2.0
"""One rank of interpreted_test.py: `interpreted_worker.py ENGINE CHECK...`, a line of JSON for what each check found."""

import importlib.util
import json
import os
import sys

import their_models
import torch
from worker import STEPS, optimizer_of, train_with_paceline

import paceline.torch as pt


def interpreter():
    """The module beside `_extension` in the test's extension."""
    spec = importlib.util.spec_from_file_location("_interpreter", os.environ["PACELINE_EXTENSION"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trained(module):
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def flat_state(module):
    """All parameters and statistics, one after the other."""
    return torch.cat([value.detach().reshape(-1).float() for value in module.state_dict().values()])


def interpreted(model, name, accumulate):
    """The networks of all ranks that train, as the plans say that they end."""
    replicas = [their_models.make(name) for _ in range(model._model.training_ranks)]

    def gradients(rank, step, micro):
        inputs, target = their_models.batch(name, rank, step * accumulate + micro)
        loss = their_models.loss_of(replicas[rank](inputs), target)
        parameters = trained(replicas[rank])
        share = loss if accumulate == 1 else loss / accumulate
        found = torch.autograd.grad(share, list(parameters.values()), allow_unused=True)
        return dict(zip(parameters, found))

    interpreter().interpret(model._model, STEPS, [trained(replica) for replica in replicas], gradients)
    return replicas


def check(name, strategy, accumulate=1):
    """How far the ranks' networks are from what their plans mean."""
    model, _ = train_with_paceline(name, strategy, optimizer_of, accumulate=accumulate)
    own = flat_state(model.module)
    expected = interpreted(model, name, accumulate) if pt.rank() == 0 else None
    apart = 0.0
    for rank in range(model._model.training_ranks):
        theirs = pt.broadcast(own, rank)
        if expected:
            apart = max(apart, (theirs - flat_state(expected[rank])).abs().max().item())
    model.close()
    return {"apart": apart}


def main():
    pt.init(engine=sys.argv[1], timeout=60)
    torch.set_num_threads(1)
    for text in sys.argv[2:]:
        found = check(*json.loads(text))
        if pt.rank() == 0:
            print(json.dumps({"check": text, **found}), flush=True)


if __name__ == "__main__":
    main()
