# SPDX-License-Identifier: Apache-2.0
"""Networks as functions of operators, for every framework that brings its own.

An operator set (`ops`) has parameters by name (shapes as PyTorch's, the layout of
the memory is its business) and:

  conv(x, name, stride, padding)   weight NAME.weight, bias NAME.bias if any
  norm(x, name)                    batch normalization, of this rank's batch
  linear(x, name)                  weight [out, in] and bias
  relu(x), add(x, y)
  max_pool(x, size, stride, padding), mean(x) over the image
  flatten(x)                       in the order channel, row, column
  cross_entropy(scores, labels)    the mean over the labels that are not negative

Those of texts, of n = batch * tokens rows:

  lookup(name, ids, padding=None)  rows of the table NAME.weight; that of
                                   `padding` gets no gradient
  rows(name, count)                the first rows of that table
  tied(x, name, bias)              product with that table, and parameter `bias`
  layer_norm(x, name)              over the last axis, epsilon 1e-12
  gelu(x), tanh(x), reshape(x, shape)
  first(x, tokens)                 of n rows those of the first tokens
  attention(query, key, value)     of [batch, tokens, heads, width]
"""

from dataclasses import dataclass
from typing import Callable

from functional_bert import Bert

_RESNETS = {
    "resnet18": ((2, 2, 2, 2), False),
    "resnet34": ((3, 4, 6, 3), False),
    "resnet50": ((3, 4, 6, 3), True),
    "resnet101": ((3, 4, 23, 3), True),
    "resnet152": ((3, 8, 36, 3), True),
}


@dataclass(frozen=True)
class Network:
    """`shapes(size, classes)` of the parameters in PyTorch's order, and
    `forward(ops, x)` to the logits.  `size`: the side of an image."""

    size: int
    channels: int
    classes: int
    shapes: Callable
    forward: Callable

    reads_text = False

    def loss(self, ops, inputs, target):
        return ops.cross_entropy(self.forward(ops, inputs), target)


def _lenet_shapes(size, classes):
    side = ((size - 4) // 2 - 4) // 2
    return {
        "conv1.weight": (6, 1, 5, 5),
        "conv1.bias": (6,),
        "conv2.weight": (16, 6, 5, 5),
        "conv2.bias": (16,),
        "fc1.weight": (120, 16 * side * side),
        "fc1.bias": (120,),
        "fc2.weight": (84, 120),
        "fc2.bias": (84,),
        "fc3.weight": (classes, 84),
        "fc3.bias": (classes,),
    }


def _lenet(ops, x):
    x = ops.max_pool(ops.relu(ops.conv(x, "conv1", 1, 0)), 2, 2, 0)
    x = ops.max_pool(ops.relu(ops.conv(x, "conv2", 1, 0)), 2, 2, 0)
    x = ops.relu(ops.linear(ops.flatten(x), "fc1"))
    return ops.linear(ops.relu(ops.linear(x, "fc2")), "fc3")


def _mlp_shapes(width):
    def shapes(size, classes):
        widths = (size * size, width, width, width, classes)
        return {
            f"fc{layer}.{kind}": (widths[layer], widths[layer - 1])
            if kind == "weight"
            else (widths[layer],)
            for layer in (1, 2, 3, 4)
            for kind in ("weight", "bias")
        }

    return shapes


def _mlp(ops, x):
    x = ops.flatten(x)
    for layer in (1, 2, 3):
        x = ops.relu(ops.linear(x, f"fc{layer}"))
    return ops.linear(x, "fc4")


def _blocks(name):
    """(prefix, channels in, planes, stride) of every block."""
    counts, bottleneck = _RESNETS[name]
    channels = 64
    for stage, count in enumerate(counts):
        planes = 64 << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            yield f"layer{stage + 1}.{block}", channels, planes, stride
            channels = planes * (4 if bottleneck else 1)


def _resnet_shapes(name):
    bottleneck = _RESNETS[name][1]

    def norm(shapes, prefix, channels):
        shapes[f"{prefix}.weight"] = shapes[f"{prefix}.bias"] = (channels,)

    def shapes(_, classes):
        all_ = {"conv1.weight": (64, 3, 7, 7)}
        norm(all_, "bn1", 64)
        out = 64
        for prefix, channels, planes, stride in _blocks(name):
            out = planes * (4 if bottleneck else 1)
            if bottleneck:
                convs = ((channels, planes, 1), (planes, planes, 3), (planes, out, 1))
            else:
                convs = ((channels, planes, 3), (planes, planes, 3))
            for place, (inputs, outputs, size) in enumerate(convs, 1):
                all_[f"{prefix}.conv{place}.weight"] = (outputs, inputs, size, size)
                norm(all_, f"{prefix}.bn{place}", outputs)
            if stride != 1 or channels != out:
                all_[f"{prefix}.downsample.0.weight"] = (out, channels, 1, 1)
                norm(all_, f"{prefix}.downsample.1", out)
        all_["fc.weight"] = (classes, out)
        all_["fc.bias"] = (classes,)
        return all_

    return shapes


def _resnet(name):
    """Version 1.5: the stride of a bottleneck is in its 3x3 convolution."""
    bottleneck = _RESNETS[name][1]

    def block(ops, x, prefix, channels, planes, stride):
        out = planes * (4 if bottleneck else 1)
        convs = ((1, 0), (stride, 1), (1, 0)) if bottleneck else ((stride, 1), (1, 1))
        y = x
        for place, (step, padding) in enumerate(convs, 1):
            y = ops.norm(
                ops.conv(y, f"{prefix}.conv{place}", step, padding),
                f"{prefix}.bn{place}",
            )
            y = ops.relu(y) if place < len(convs) else y
        if stride != 1 or channels != out:
            x = ops.norm(
                ops.conv(x, f"{prefix}.downsample.0", stride, 0),
                f"{prefix}.downsample.1",
            )
        return ops.relu(ops.add(y, x))

    def forward(ops, x):
        x = ops.relu(ops.norm(ops.conv(x, "conv1", 2, 3), "bn1"))
        x = ops.max_pool(x, 3, 2, 1)
        for one in _blocks(name):
            x = block(ops, x, *one)
        return ops.linear(ops.mean(x), "fc")

    return forward


class _Count:
    """An operator set on (channels, side) of images and (features, rows) of
    texts, which counts FLOPs."""

    def __init__(self, shapes):
        self.shapes, self.flops = shapes, 0

    def conv(self, x, name, stride, padding):
        out, inputs, size, _ = self.shapes[f"{name}.weight"]
        side = (x[1] + 2 * padding - size) // stride + 1
        self.flops += 2 * out * inputs * size * size * side * side
        return out, side

    def linear(self, x, name):
        out, inputs = self.shapes[f"{name}.weight"]
        self.flops += 2 * out * inputs * x[1]
        return out, x[1]

    def tied(self, x, name, bias):
        return self.linear(x, name)

    def attention(self, query, key, value):
        width, tokens = query
        self.flops += 2 * 2 * tokens * tokens * width
        return query

    def max_pool(self, x, size, stride, padding):
        return x[0], (x[1] + 2 * padding - size) // stride + 1

    def lookup(self, name, ids, padding=None):
        return self.shapes[f"{name}.weight"][1], ids

    def rows(self, name, count):
        return self.shapes[f"{name}.weight"][1], count

    def add(self, x, y):
        return x

    def same(self, x, *_):
        return x

    norm = layer_norm = relu = gelu = tanh = reshape = same

    def mean(self, x):
        return x[0], 1

    def first(self, x, tokens):
        return x[0], 1

    def flatten(self, x):
        return x[0] * x[1] * x[1], 1


def flops(network, size, classes):
    """Of the convolutions, products and attention scores in one sample's forward
    pass; a multiplication and an addition are two."""
    count = _Count(network.shapes(size, classes))
    if network.reads_text:
        network.forward(count, size, size, size)
    else:
        network.forward(count, (network.channels, size))
    return count.flops


def is_transposed(name, shape):
    """Whether frameworks whose linear layers are [in, out] turn a parameter of
    PyTorch's layout around: weights of layers, not tables of rows."""
    return len(shape) == 2 and not name.endswith("_embeddings.weight")


def norms(names):
    """The batch normalizations among parameters of these names."""
    prefixes = (n.removesuffix(".bias") for n in names if n.endswith(".bias"))
    return [
        prefix
        for prefix in prefixes
        if prefix.rsplit(".", 1)[-1].startswith("bn")
        or prefix.endswith(".downsample.1")
    ]


NETWORKS = {
    "lenet": Network(32, 1, 10, _lenet_shapes, _lenet),
    "mlp": Network(32, 1, 10, _mlp_shapes(512), _mlp),
    "mlp-large": Network(32, 1, 1000, _mlp_shapes(3072), _mlp),
} | {
    name: Network(224, 3, 1000, _resnet_shapes(name), _resnet(name))
    for name in _RESNETS
} | {
    "bert-base": Bert(768, 12, 12),
    "bert-large": Bert(1024, 24, 16),
    "bert-tiny": Bert(128, 2, 2),
    "bert-base-30522": Bert(768, 12, 12, size=128, vocabulary=30522),
}
