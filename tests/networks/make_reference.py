#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes reference.json, what tests/networks/reference_test.cc compares with.

    python tests/networks/make_reference.py > tests/networks/reference.json

For every network, from PyTorch's Python: the names and shapes of its state
dict, and loss and gradient norms of one step from fixed weights and a fixed
batch.  In float64, so that no kernel's rounding hides a wrong stride, or turns
over which of two nearly equal values a max-pool takes.
"""

import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "adapters"))
import formula  # noqa: E402
import networks  # noqa: E402

SEED = 11
BATCH_SIZE = 4
CLASSES = 10
IMAGE_SIZE = 64
SMALL_IMAGE_SIZE = 32


def reference(name):
    info = networks.NETWORKS[name]
    image_size = IMAGE_SIZE if info.channels == 3 else SMALL_IMAGE_SIZE
    network = info.make(image_size, CLASSES, 0.0)
    formula.fill_with_integers(network, SEED)
    integer_weights = formula.fingerprint_all(network.parameters())
    formula.fill_by_formula(network, SEED)
    weights = formula.fingerprint_all(network.parameters())
    network.double()
    shape = (BATCH_SIZE, info.channels, image_size, image_size)
    inputs, target = formula.batch(shape, CLASSES, SEED, rank=0)
    logits = network(inputs.double())
    loss = torch.nn.functional.cross_entropy(logits, target)
    loss.backward()
    return {
        "seed": SEED,
        "batch_size": BATCH_SIZE,
        "image_size": image_size,
        "classes": CLASSES,
        "input": f"{formula.fingerprint(inputs):016x}",
        "target": f"{formula.fingerprint(target):016x}",
        "weights": f"{weights:016x}",
        "integer_weights": f"{integer_weights:016x}",
        "loss": loss.item(),
        "state": [
            f"{key} {'x'.join(map(str, value.shape)) or 'scalar'}"
            for key, value in network.state_dict().items()
        ],
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
