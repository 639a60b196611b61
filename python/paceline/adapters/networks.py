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

from paceline.adapters import formula
from paceline.adapters import functional_bert
from paceline.adapters import network_shapes

# The packages that `make adapters NAME=bert` installs in a source tree, searched after this
# Python's own packages.
_BERT = pathlib.Path(__file__).resolve().parents[3] / ".deps" / "adapters" / "bert"
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
if (_BERT / "installed").exists():
    sys.path.append(str(_BERT / "lib" / _VERSION / "site-packages"))


def _import_without_operators(module):
    """Imports `module`, which imports torchvision, without torchvision's own __init__.

    That file registers operators, which fails if the wheel of torchvision was built for
    CUDA and PyTorch for CPUs.  No network needs the operators.
    """
    if "torchvision" not in sys.modules:
        spec = importlib.util.find_spec("torchvision")
        if spec is not None:
            sys.modules["torchvision"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(module)


class PlainNetwork(nn.Module):
    """Convolutions, each with ReLU and pooling, then linear layers with ReLU
    between them."""

    def __init__(self, name, image_size, classes):
        super().__init__()
        shapes = network_shapes.shapes(name, image_size, classes)
        for layer in network_shapes.layers(name):
            outputs, inputs, *_ = shapes[f"{layer.name}.weight"]
            self.add_module(
                layer.name,
                nn.Conv2d(inputs, outputs, layer.kernel, layer.stride)
                if layer.kind == "convolution"
                else nn.Linear(inputs, outputs),
            )

    def forward(self, x):
        *hidden, last = self.children()
        for layer in hidden:
            if isinstance(layer, nn.Conv2d):
                x = torch.max_pool2d(layer(x).relu_(), 2)
            else:
                x = layer(x.flatten(1)).relu_()
        return last(x.flatten(1))


@dataclass(frozen=True)
class NetworkInfo:
    """A row of the table.  In `make(image_size, classes, dropout)`, a negative dropout
    means the network's own.
    """

    image_size: int
    channels: int
    classes: int
    make: Callable[[int, int, float], nn.Module]
    package: str = "torch"  # Python package that defines the network
    reads_text = False

    def is_installed(self):
        """Whether the package that defines the network is installed."""
        return importlib.util.find_spec(self.package) is not None

    def source(self):
        """Returns the package that defines the network, with its version."""
        if self.package == "torch":
            return "paceline.adapters.networks"
        try:
            return f"{self.package} {importlib.metadata.version(self.package)}"
        except importlib.metadata.PackageNotFoundError:
            return self.package

    def batch(self, case, rank, integers=False):
        """Returns (inputs, targets), equal to those of make_batch in C++."""
        if case.sequence_length:
            raise ValueError("sequence_length is of texts")
        side = case.image_size or self.image_size
        return formula.batch(
            (case.batch_size, self.channels, side, side),
            case.classes or self.classes,
            case.seed,
            rank,
            integers=integers,
        )

    def loss(self, model, inputs, targets, integers=False):
        """Returns the mean loss over the batch, or the sum if the batch has integers."""
        logits = model(inputs)
        if integers:
            return formula.integer_loss(logits, targets)
        return nn.functional.cross_entropy(logits, targets)


@dataclass(frozen=True)
class TextInfo:
    """A row for a network that reads text; `make` ignores its first two arguments."""

    tokens: int
    make: Callable[[int, int, float], nn.Module]
    package: str = "transformers"
    image_size = classes = 0
    reads_text = True

    is_installed = NetworkInfo.is_installed
    source = NetworkInfo.source

    def batch(self, case, rank, integers=False):
        if case.image_size or case.classes or integers:
            raise ValueError("image_size, classes and integers are of images")
        return formula.text_batch(
            (case.batch_size, case.sequence_length or self.tokens),
            case.seed,
            rank,
            zeros=case.as_original,
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

    classes = network_shapes.default_classes(name)
    return NetworkInfo(224, 3, classes, make, package="torchvision")


def _plain(name):
    classes = network_shapes.default_classes(name)
    return NetworkInfo(32, 1, classes, lambda size, c, _: PlainNetwork(name, size, c))


def _bert(shape):
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
                vocab_size=shape.vocabulary,
                hidden_size=shape.hidden,
                num_hidden_layers=len(shape.layers),
                num_attention_heads=shape.heads,
                intermediate_size=4 * shape.hidden,
                attn_implementation="sdpa",
                **options,
            )
        )

    return TextInfo(shape.size, make)


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
    name: _plain(name) for name in ("lenet", "linear", "mlp", "mlp-large")
} | {
    name: _bert(shape) for name, shape in functional_bert.NETWORKS.items()
}
