# SPDX-License-Identifier: Apache-2.0
"""Networks as users write them, small, with a batch for each rank and step."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

CLASSES = 5


class Residual(nn.Module):
    """Convolutions with batch norm, channels last, a branch around two of them."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.inner = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.head = nn.Linear(8, CLASSES)
        self.to(memory_format=torch.channels_last)

    def forward(self, images):
        x = functional.relu(self.norm(self.stem(images)))
        x = x + self.inner(x)
        return self.head(x.mean((2, 3)))


class Decoder(nn.Module):
    """A causal language model whose output layer is its embedding; one block is checkpointed."""

    def __init__(self, tokens=11, width=16):
        super().__init__()
        self.words = nn.Embedding(tokens, width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.norm = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.out = nn.Linear(width, tokens, bias=False)
        self.out.weight = self.words.weight
        self.register_buffer("mask", torch.ones(6, 6, dtype=torch.bool).triu(1))

    def forward(self, tokens):
        x = self.words(tokens)
        x = x + self.attention(x, x, x, attn_mask=self.mask, need_weights=False)[0]
        x = x + checkpoint(self.mlp, self.norm(x), use_reentrant=False)
        return self.out(x)


class Partial(nn.Module):
    """A frozen layer, one that no forward pass uses, one that runs twice, and a parameter of the root."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(6))
        self.frozen = nn.Linear(6, 6).requires_grad_(False)
        self.unused = nn.Linear(6, 6)
        self.twice = nn.Linear(6, 6)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        x = self.frozen(x) * self.scale
        x = torch.tanh(self.twice(x))
        return self.head(self.twice(x))


class Mixed(nn.Module):
    """Under autocast."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, CLASSES))

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.layers(x).float()


class Compiled(nn.Module):
    """One layer by torch.compile(), one by compile()."""

    def __init__(self):
        super().__init__()
        self.first = torch.compile(nn.Sequential(nn.Linear(6, 8), nn.Tanh()), backend="aot_eager")
        self.second = nn.Linear(8, 8)
        self.second.compile(backend="aot_eager")
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        return self.head(torch.tanh(self.second(self.first(x))))


@torch.compile(backend="aot_eager")
def compiled_linear(x, weight):
    return functional.linear(x, weight)


class Linears(nn.Module):
    """Linear layers in all that a forward pass may be within."""

    def __init__(self):
        super().__init__()
        self.plain = nn.Linear(6, 6)
        self.in_place = nn.Linear(6, 6)
        self.twice = nn.Linear(6, 6, bias=False)
        self.watched = nn.Linear(6, 6)
        self.watched.weight.register_hook(lambda gradient: 2 * gradient)
        self.checkpointed = nn.Linear(6, 6)
        self.recomputed = nn.Linear(6, 6)
        self.mapped = nn.Linear(6, 6)
        self.lower = nn.Linear(6, 6)
        self.penalized = nn.Linear(6, 6)
        self.weight = nn.Parameter(torch.eye(6))
        self.tied = nn.Linear(6, CLASSES)
        self.embedding = nn.Embedding(CLASSES, 6)
        self.tied.weight = self.embedding.weight

    def forward(self, x):
        x = torch.tanh(self.plain(x)).reshape(2, -1, 6)
        x = functional.leaky_relu(self.in_place(x), inplace=True)
        x = torch.tanh(self.twice(self.twice(x.transpose(0, 1)))).transpose(0, 1).reshape(-1, 6)
        x = torch.tanh(self.watched(x))
        x = x + checkpoint(self.checkpointed, x, use_reentrant=False)
        x = x + checkpoint(self.recomputed, x, use_reentrant=True)
        x = x + torch.func.vmap(self.mapped)(x)
        with torch.autocast("cpu", torch.bfloat16):
            x = x + 0.01 * self.lower(x).float()  # of 8 bits
        inner = self.penalized(x)
        [slope] = torch.autograd.grad(inner.square().sum(), x, create_graph=True)
        x = compiled_linear(x + inner + slope, self.weight)
        return self.tied(x) + self.embedding.weight.sum()


class Experts(nn.Module):
    """Each rank uses an expert of its own, of equal shape, in the first step and in all others."""

    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(6, 6) for _ in range(4)])
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        return self.head(torch.tanh(self.experts[dist.get_rank()](x)))


MODELS = {"residual": Residual, "decoder": Decoder, "partial": Partial, "mixed": Mixed, "compiled": Compiled, "linears": Linears, "experts": Experts}


def make(name):
    """The same on every rank."""
    torch.manual_seed(7)
    return MODELS[name]()


def batch(name, rank, step, rows=4):
    """Inputs and targets of one rank in one step."""
    generator = torch.Generator().manual_seed(1000 * step + rank)
    if name == "decoder":
        tokens = torch.randint(0, 11, (rows, 7), generator=generator)
        return tokens[:, :-1], tokens[:, 1:]
    target = torch.randint(0, CLASSES, (rows,), generator=generator)
    shape = (rows, 3, 8, 8) if name == "residual" else (rows, 6)
    inputs = torch.randn(shape, generator=generator)
    if name == "residual":
        inputs = inputs.contiguous(memory_format=torch.channels_last)
    return inputs, target


def loss_of(output, target):
    return functional.cross_entropy(output.flatten(0, -2), target.flatten())
