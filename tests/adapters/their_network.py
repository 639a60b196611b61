# SPDX-License-Identifier: Apache-2.0
"""A network that Paceline does not know: what paceline.torch.profile must cope with."""

import torch
from torch import nn


class Reader(nn.Module):
    """An embedding, a recurrent layer, a root parameter, an unused and a frozen
    layer.
    """

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.embed = nn.Embedding(50, 16)
        self.gru = nn.GRU(16, 24, batch_first=True)
        self.frozen = nn.Linear(24, 24).requires_grad_(False)
        self.head = nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 5))
        self.unused = nn.Linear(2, 2)

    def forward(self, words):
        states, _ = self.gru(self.embed(words))
        return self.head(self.frozen(states[:, -1])) * self.scale.sum()


def reader():
    torch.manual_seed(0)
    return Reader(), torch.randint(0, 50, (6, 9))


class Attention(nn.Module):
    """Uses a layer without calling it, as nn.MultiheadAttention its out_proj."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.last = nn.Linear(8, 3)

    def forward(self, words, scale):
        states, _ = self.attention(words, words, words)
        return {"scores": self.last(self.norm(states)) * scale}


def attention():
    torch.manual_seed(0)
    return Attention(), {"words": torch.rand(4, 5, 8), "scale": 0.5}


class Odd(nn.Module):
    """A sparse table, one that is never read, parameters of two types, one
    without elements, one without a dimension, and a lazy layer.
    """

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.none = nn.Parameter(torch.empty(0, 3))
        self.table = nn.Embedding(40, 8, sparse=True)
        self.unread = nn.Embedding(40, 8, sparse=True)
        self.narrow = nn.Linear(8, 2).bfloat16()
        self.last = nn.LazyLinear(3)

    def forward(self, words):
        rows = self.narrow(self.table(words).bfloat16()).float()
        return self.scale * torch.cat([self.last(rows), self.none])


def odd():
    torch.manual_seed(0)
    return Odd(), torch.randint(0, 40, (6,))


def not_a_pair():
    return Reader()


def no_module():
    return "a network", torch.rand(4)


def raises():
    raise ValueError("no weights\nand more")


def wrong_batch():
    return Reader(), "some words"
