# SPDX-License-Identifier: Apache-2.0
"""The networks of src/paceline/networks in PyTorch's Python.

torchvision's, and those that torchvision does not have.  Parameters and buffers
have the same names and order in both languages, and one seed gives the same
random start.
"""

import importlib
import importlib.util
import sys
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn


def _torchvision_models():
    """torchvision.models, without torchvision's own __init__.

    That file registers operators, which fails where the wheel of torchvision
    was built for CUDA and PyTorch for CPUs.  No network needs the operators.
    """
    if "torchvision" not in sys.modules:
        spec = importlib.util.find_spec("torchvision")
        sys.modules["torchvision"] = importlib.util.module_from_spec(spec)
    return importlib.import_module("torchvision.models")


class LeNet(nn.Module):
    def __init__(self, image_size, classes):
        super().__init__()
        side = ((image_size - 4) // 2 - 4) // 2
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * side * side, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, x):
        x = torch.max_pool2d(self.conv1(x).relu_(), 2)
        x = torch.max_pool2d(self.conv2(x).relu_(), 2).flatten(1)
        x = self.fc1(x).relu_()
        return self.fc3(self.fc2(x).relu_())


class Mlp(nn.Module):
    def __init__(self, features, width, classes):
        super().__init__()
        self.fc1 = nn.Linear(features, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, width)
        self.fc4 = nn.Linear(width, classes)

    def forward(self, x):
        x = self.fc1(x.flatten(1)).relu_()
        x = self.fc2(x).relu_()
        return self.fc4(self.fc3(x).relu_())


@dataclass(frozen=True)
class Info:
    """A row of the table; `make(image_size, classes, dropout)`."""

    image_size: int
    channels: int
    classes: int
    make: Callable[[int, int, float], nn.Module]
    from_torchvision: bool = False

    def is_installed(self):
        """Whether the package that defines the network is there."""
        return (
            not self.from_torchvision
            or importlib.util.find_spec("torchvision") is not None
        )


def _from_torchvision(name):
    def make(_, classes, dropout):
        options = {"dropout": dropout} if name == "vgg16" else {}
        return _torchvision_models().get_model(
            name, num_classes=classes, **options
        )

    return Info(224, 3, 1000, make, from_torchvision=True)


NETWORKS = {
    name: _from_torchvision(name)
    for name in (
        "resnet18",
        "resnet34",
        "resnet50",
        "resnet101",
        "resnet152",
        "resnext50_32x4d",
        "resnext101_32x8d",
        "vgg16",
    )
} | {
    "lenet": Info(32, 1, 10, lambda size, c, _: LeNet(size, c)),
    "mlp": Info(32, 1, 10, lambda size, c, _: Mlp(size * size, 512, c)),
    "mlp-large": Info(32, 1, 1000, lambda size, c, _: Mlp(size * size, 3072, c)),
}
