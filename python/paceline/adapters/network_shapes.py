# SPDX-License-Identifier: Apache-2.0
"""The layers of each network, with the sizes of their parameters.

They are read from trained.json, which is generated from src/paceline/networks
and is a part of the program too.
"""

import json
import pathlib
from dataclasses import dataclass

_FILE = pathlib.Path(__file__).resolve().parent / "trained.json"
_NETWORKS = json.loads(_FILE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Layer:
    name: str
    kind: str  # convolution, normalization, linear or embedding
    parameters: dict  # sizes of the parameters by name: weight, bias
    kernel: int = 1  # side of a convolution's kernel
    stride: int = 1


def layers(network):
    """Returns the layers in the order of the forward pass."""
    return [
        Layer(name, kind, {p: tuple(s) for p, s in sizes.items()}, *window[:2])
        for name, kind, _flops, _bytes, window, sizes, *_ in _NETWORKS[network]["modules"]
    ]


def default_classes(network):
    """Returns the number of rows of the last linear layer."""
    return layers(network)[-1].parameters["bias"][0]


def shapes(network, size=None, classes=None):
    """Returns the shapes of the parameters by full name, in the order of the forward pass. `size`
    is the side of an image of one channel; pooling halves it after every convolution, and the first
    linear layer gets it flattened. `classes` is the number of rows of the last linear layer."""
    found = layers(network)
    all_ = {f"{x.name}.{p}": s for x in found for p, s in x.parameters.items()}
    linear = [x.name for x in found if x.kind == "linear"]
    if size is not None:
        weight = f"{linear[0]}.weight"
        all_[weight] = (all_[weight][0], _flattened_features(found, size))
    if classes is not None:
        weight = f"{linear[-1]}.weight"
        all_[weight] = (classes, all_[weight][1])
        all_[f"{linear[-1]}.bias"] = (classes,)
    return all_


def _flattened_features(found, side):
    channels = 1
    for layer in found:
        if layer.kind == "convolution":
            channels = layer.parameters["weight"][0]
            side = ((side - layer.kernel) // layer.stride + 1) // 2
    return channels * side * side
