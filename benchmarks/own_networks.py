# SPDX-License-Identifier: Apache-2.0
"""Networks in Python that Paceline has in C++ too, as factories for --model: pair_ratios.py compares the two."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Identity()
        if stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        inner = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(inner + self.downsample(x))


def with_batch(network, *shape):
    """Network, example batch of 16 and loss."""
    classes = torch.randint(1000, (16,))
    return network, torch.randn(16, *shape), lambda output: nn.functional.cross_entropy(output, classes)


def resnet18():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for out in (64, 128, 256, 512):
        layers += [Block(width, out, 1 if out == width else 2), Block(out, out, 1)]
        width = out
    network = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    return with_batch(network, 3, 64, 64)


def mlp_large():
    widths = (1024, 3072, 3072, 3072)
    layers = [nn.Flatten()]
    for before, after in zip(widths, widths[1:]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return with_batch(nn.Sequential(*layers, nn.Linear(3072, 1000)), 1, 32, 32)
