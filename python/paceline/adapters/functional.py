# SPDX-License-Identifier: Apache-2.0
"""Networks written with a set of operators, so that every framework can run them with its own.

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
from functools import partial
from itertools import groupby, pairwise
from typing import Callable

from paceline.adapters import functional_bert
from paceline.adapters.network_shapes import default_classes, layers, shapes


@dataclass(frozen=True)
class Network:
    """A network: `shapes(size, classes)` returns the parameters' shapes in PyTorch's order, and
    `forward(ops, x)` the logits. `size` is the side of an image."""

    size: int
    channels: int
    classes: int
    shapes: Callable
    forward: Callable

    reads_text = False

    def loss(self, ops, inputs, target):
        return ops.cross_entropy(self.forward(ops, inputs), target)


def _plain(name):
    """A network of convolutions, each with ReLU and pooling, followed by linear layers with ReLU
    between them."""
    convolutions = [x for x in layers(name) if x.kind == "convolution"]
    *hidden, last = (x.name for x in layers(name) if x.kind == "linear")

    def forward(ops, x):
        for layer in convolutions:
            x = ops.relu(ops.conv(x, layer.name, layer.stride, 0))
            x = ops.max_pool(x, 2, 2, 0)
        x = ops.flatten(x)
        for layer in hidden:
            x = ops.relu(ops.linear(x, layer))
        return ops.linear(x, last)

    return Network(32, 1, default_classes(name), partial(shapes, name), forward)


def _resnet(name):
    """Every convolution is padded so that its stride alone shrinks the image, and
    batch normalization follows it."""
    norm_of = {x.name: after.name for x, after in pairwise(layers(name))}
    first, *rest = (x for x in layers(name) if x.kind == "convolution")
    # Names are layerSTAGE.BLOCK.convPLACE for each block. A projection of the identity branch, if
    # there is one, is last: layerSTAGE.BLOCK.downsample.0.
    blocks = [list(of) for _, of in groupby(rest, lambda x: x.name.split(".")[:2])]

    def convolve(ops, x, layer):
        y = ops.conv(x, layer.name, layer.stride, layer.kernel // 2)
        return ops.norm(y, norm_of[layer.name])

    def add_block(ops, x, block):
        *inner, last = (layer for layer in block if "conv" in layer.name)
        y = x
        for layer in inner:
            y = ops.relu(convolve(ops, y, layer))
        y = convolve(ops, y, last)
        if block[-1] is not last:
            x = convolve(ops, x, block[-1])
        return ops.relu(ops.add(y, x))

    def forward(ops, x):
        x = ops.max_pool(ops.relu(convolve(ops, x, first)), 3, 2, 1)
        for block in blocks:
            x = add_block(ops, x, block)
        return ops.linear(ops.mean(x), "fc")

    def shapes_of(_, classes):
        return shapes(name, classes=classes)

    return Network(224, 3, default_classes(name), shapes_of, forward)


class _FlopCounter:
    """An operator set that counts FLOPs.  Its values are (channels, side) for images and
    (features, rows) for texts."""

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
    """Returns the FLOPs of the convolutions, products and attention scores in one
    sample's forward pass.  A multiplication and an addition count as two."""
    count = _FlopCounter(network.shapes(size, classes))
    if network.reads_text:
        network.forward(count, size, size, size)
    else:
        network.forward(count, (network.channels, size))
    return count.flops


def is_transposed(name, shape):
    """Whether a parameter in PyTorch's layout is transposed in frameworks whose linear
    layers are [in, out]: weights of layers are, tables of rows are not."""
    return len(shape) == 2 and not name.endswith("_embeddings.weight")


def as_torch(name, value):
    """Returns a view, in PyTorch's layout, of a parameter in the layouts NHWC and [in,
    out]."""
    if value.ndim == 4:
        return value.transpose(3, 2, 0, 1)
    return value.T if is_transposed(name, value.shape) else value


def norms(names):
    """Returns the batch normalizations among parameters of these names."""
    prefixes = (n.removesuffix(".bias") for n in names if n.endswith(".bias"))
    return [
        prefix
        for prefix in prefixes
        if prefix.rsplit(".", 1)[-1].startswith("bn")
        or prefix.endswith(".downsample.1")
    ]


NETWORKS = {
    name: _plain(name) for name in ("lenet", "mlp", "mlp-large")
} | {
    name: _resnet(name)
    for name in ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")
} | functional_bert.NETWORKS
