# SPDX-License-Identifier: Apache-2.0
"""The networks of src/paceline/networks in PyTorch's Python.

torchvision's, Hugging Face's BERT, and those that neither has.  Parameters and buffers
have the same names and order in both languages, and one seed gives the same
random start.
"""

import importlib
import importlib.metadata
import importlib.util
import pathlib
import sys
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn

import formula

# What `make adapters NAME=bert` installs, after this Python's own packages.
_BERT = pathlib.Path(__file__).resolve().parent.parent / ".deps" / "adapters" / "bert"
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
if (_BERT / "installed").exists():
    sys.path.append(str(_BERT / "lib" / _VERSION / "site-packages"))


def _import_without_operators(module):
    """`module`, which imports torchvision, without torchvision's own __init__.

    That file registers operators, which fails where the wheel of torchvision
    was built for CUDA and PyTorch for CPUs.  No network needs the operators.
    """
    if "torchvision" not in sys.modules:
        spec = importlib.util.find_spec("torchvision")
        if spec is not None:
            sys.modules["torchvision"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(module)


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


class LinearModel(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.fc = nn.Linear(features, classes)

    def forward(self, images):
        return self.fc(images.flatten(1))


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
    """A row of the table; `make(image_size, classes, dropout)`, where a negative
    dropout is the network's own.
    """

    image_size: int
    channels: int
    classes: int
    make: Callable[[int, int, float], nn.Module]
    package: str = "torch"  # that defines the network
    reads_text = False

    def is_installed(self):
        """Whether the package that defines the network is there."""
        return importlib.util.find_spec(self.package) is not None

    def source(self):
        """The package that defines the network, with its version."""
        if self.package == "torch":
            return "adapters/networks.py"
        try:
            return f"{self.package} {importlib.metadata.version(self.package)}"
        except importlib.metadata.PackageNotFoundError:
            return self.package

    def batch(self, case, rank, integers=False):
        """(inputs, targets) as make_batch in C++ makes them."""
        if case.sequence_length or case.compat_zeros:
            raise ValueError("sequence_length and compat_zeros are of texts")
        side = case.image_size or self.image_size
        return formula.batch(
            (case.batch_size, self.channels, side, side),
            case.classes or self.classes,
            case.seed,
            rank,
            integers=integers,
        )

    def loss(self, model, inputs, targets, integers=False):
        """The mean over the batch; its sum where the batch has integers."""
        logits = model(inputs)
        if integers:
            return formula.integer_loss(logits, targets)
        return nn.functional.cross_entropy(logits, targets)


@dataclass(frozen=True)
class TextInfo:
    """The same of a network that reads text; `make` ignores the first two."""

    tokens: int
    make: Callable[[int, int, float], nn.Module]
    package: str = "transformers"
    image_size = classes = 0
    reads_text = True

    is_installed = Info.is_installed
    source = Info.source

    def batch(self, case, rank, integers=False):
        if case.image_size or case.classes or integers:
            raise ValueError("image_size, classes and integers are of images")
        return formula.text_batch(
            (case.batch_size, case.sequence_length or self.tokens),
            case.seed,
            rank,
            zeros=case.compat_zeros,
        )

    def loss(self, model, inputs, targets, integers=False):
        return model(
            input_ids=inputs[:, 0],
            token_type_ids=inputs[:, 1],
            labels=targets[:, 1:].contiguous(),
            next_sentence_label=targets[:, 0],
        ).loss


def _from_torchvision(name):
    def make(_, classes, dropout):
        options = {}
        if name == "vgg16" and dropout >= 0:
            options["dropout"] = dropout
        models = _import_without_operators("torchvision.models")
        return models.get_model(name, num_classes=classes, **options)

    return Info(224, 3, 1000, make, package="torchvision")


def _bert(hidden, layers, heads, tokens=64, vocabulary=30528):
    def make(_size, _classes, dropout):
        transformers = _import_without_operators("transformers")
        options = {}
        if dropout >= 0:
            options = {
                "hidden_dropout_prob": dropout,
                "attention_probs_dropout_prob": dropout,
            }
        return transformers.BertForPreTraining(
            transformers.BertConfig(
                vocab_size=vocabulary,
                hidden_size=hidden,
                num_hidden_layers=layers,
                num_attention_heads=heads,
                intermediate_size=4 * hidden,
                attn_implementation="sdpa",
                **options,
            )
        )

    return TextInfo(tokens, make)


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
    "linear": Info(32, 1, 10, lambda size, c, _: LinearModel(size * size, c)),
    "mlp": Info(32, 1, 10, lambda size, c, _: Mlp(size * size, 512, c)),
    "mlp-large": Info(32, 1, 1000, lambda size, c, _: Mlp(size * size, 3072, c)),
    "bert-base": _bert(768, 12, 12),
    "bert-large": _bert(1024, 24, 16),
    "bert-tiny": _bert(128, 2, 2),
    "bert-base-30522": _bert(768, 12, 12, tokens=128, vocabulary=30522),
}
