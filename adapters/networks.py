# SPDX-License-Identifier: Apache-2.0
"""The networks of src/paceline/model in PyTorch's Python.

Parameters and buffers have torchvision's names, in its order; modules are made
in the order that makes both languages draw the same random start from one seed.
"""

from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn


def _conv(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Conv2d(
        inputs,
        outputs,
        kernel,
        stride=stride,
        padding=kernel // 2,
        groups=groups,
        bias=False,
    )


def _projection(inputs, outputs, stride):
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(
        _conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)
    )


class Basic(nn.Module):
    expansion = 1

    def __init__(self, inputs, planes, stride, groups, width_per_group):
        super().__init__()
        downsample = _projection(inputs, planes, stride)
        self.conv1 = _conv(inputs, planes, 3, stride)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = _conv(planes, planes, 3)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        x = self.bn1(self.conv1(x)).relu_()
        return self.bn2(self.conv2(x)).add_(identity).relu_()


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, planes, stride, groups, width_per_group):
        super().__init__()
        width = planes * width_per_group // 64 * groups
        outputs = planes * self.expansion
        downsample = _projection(inputs, outputs, stride)
        self.conv1 = _conv(inputs, width, 1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = _conv(width, width, 3, stride, groups)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = _conv(width, outputs, 1)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        x = self.bn1(self.conv1(x)).relu_()
        x = self.bn2(self.conv2(x)).relu_()
        return self.bn3(self.conv3(x)).add_(identity).relu_()


class ResNet(nn.Module):
    def __init__(self, block, depths, classes, groups=1, width_per_group=64):
        super().__init__()
        self.conv1 = _conv(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = 64
        for index, depth in enumerate(depths):
            planes = 64 << index
            blocks = []
            for i in range(depth):
                stride = 2 if i == 0 and index > 0 else 1
                blocks.append(
                    block(inputs, planes, stride, groups, width_per_group)
                )
                inputs = planes * block.expansion
            setattr(self, f"layer{index + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inputs, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(
                    module.weight, mode="fan_out", nonlinearity="relu"
                )

    def forward(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)).relu_())
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


class Vgg16(nn.Module):
    stages = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))

    def __init__(self, classes, dropout):
        super().__init__()
        layers = []
        inputs = 3
        for outputs, depth in self.stages:
            for _ in range(depth):
                layers.append(nn.Conv2d(inputs, outputs, 3, padding=1))
                layers.append(nn.ReLU(inplace=True))
                inputs = outputs
            layers.append(nn.MaxPool2d(2, stride=2))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(4096, classes),
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(
                    module.weight, mode="fan_out", nonlinearity="relu"
                )
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


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


def _residual(block, depths, groups=1, width_per_group=64):
    return Info(
        224,
        3,
        1000,
        lambda _, classes, __: ResNet(
            block, depths, classes, groups, width_per_group
        ),
    )


NETWORKS = {
    "resnet18": _residual(Basic, (2, 2, 2, 2)),
    "resnet34": _residual(Basic, (3, 4, 6, 3)),
    "resnet50": _residual(Bottleneck, (3, 4, 6, 3)),
    "resnet101": _residual(Bottleneck, (3, 4, 23, 3)),
    "resnet152": _residual(Bottleneck, (3, 8, 36, 3)),
    "resnext50_32x4d": _residual(Bottleneck, (3, 4, 6, 3), 32, 4),
    "resnext101_32x8d": _residual(Bottleneck, (3, 4, 23, 3), 32, 8),
    "vgg16": Info(224, 3, 1000, lambda _, c, dropout: Vgg16(c, dropout)),
    "lenet": Info(32, 1, 10, lambda size, c, _: LeNet(size, c)),
    "mlp": Info(32, 1, 10, lambda size, c, _: Mlp(size * size, 512, c)),
    "mlp-large": Info(32, 1, 1000, lambda size, c, _: Mlp(size * size, 3072, c)),
}
