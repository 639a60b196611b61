#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference.json, what tests/networks/reference_test.cc compares with.

    pip install torchvision transformers  # into an environment of its own
    python tests/networks/make_reference.py > tests/networks/reference.json

For every network, from PyTorch's Python: the names and shapes of its state
dict, and loss and gradient norms of one step from fixed weights and a fixed
batch.  In float64, so that no kernel's rounding hides a wrong stride, or turns
over which of two nearly equal values a max-pool takes.  BERT-Large needs 8 GB
of memory.
"""

import json
import pathlib
import sys
import types

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python"))
from paceline.adapters import formula, networks  # noqa: E402

SEED = 11
BATCH_SIZE = 4
CLASSES = 10
IMAGE_SIZE = 64
SMALL_IMAGE_SIZE = 32
TOKENS = 20


def options_of(info):
    if info.reads_text:
        return {"sequence_length": TOKENS}
    image_size = IMAGE_SIZE if info.channels == 3 else SMALL_IMAGE_SIZE
    return {"image_size": image_size, "classes": CLASSES}


def state_of(network):
    """The state dict; a parameter with two names has the first of them."""
    seen = set()
    state = []
    for key, value in network.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            shape = "x".join(map(str, value.shape)) or "scalar"
            state.append(f"{key} {shape}")
    return state


def reference(name):
    info = networks.NETWORKS[name]
    options = options_of(info)
    case = types.SimpleNamespace(
        batch_size=BATCH_SIZE,
        seed=SEED,
        image_size=0,
        classes=0,
        sequence_length=0,
        as_original=False,
    )
    vars(case).update(options)
    network = info.make(case.image_size, case.classes, 0.0).train()
    formula.fill_with_integers(network, SEED)
    integer_weights = formula.fingerprint_all(network.parameters())
    formula.fill_by_formula(network, SEED)
    weights = formula.fingerprint_all(network.parameters())
    network.double()
    inputs, target = info.batch(case, rank=0)
    loss = info.loss(
        network, inputs if info.reads_text else inputs.double(), target
    )
    loss.backward()
    return {
        "seed": SEED,
        "batch_size": BATCH_SIZE,
        **options,
        "input": f"{formula.fingerprint(inputs):016x}",
        "target": f"{formula.fingerprint(target):016x}",
        "weights": f"{weights:016x}",
        "integer_weights": f"{integer_weights:016x}",
        "loss": loss.item(),
        "state": state_of(network),
        "gradient_norms": [
            float(f"{p.grad.norm().item():.12g}") for p in network.parameters()
        ],
    }


def main():
    torch.set_num_threads(1)
    document = {name: reference(name) for name in networks.NETWORKS}
    json.dump(document, sys.stdout, indent=0)
    print()


if __name__ == "__main__":
    main()
