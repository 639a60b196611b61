# SPDX-License-Identifier: Apache-2.0
"""A language model that Paceline does not know, for paceline.torch.profile:

    python3 -m paceline.torch.profile benchmarks.translator:translator \\
        --output translator.profile.json
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(torch.relu(self.wide(self.between(x))))


class Translator(nn.Module):
    """A small language model: 8 blocks of width 256, 8.4 million parameters."""

    def __init__(self, words=4096, width=256, blocks=8):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*[Block(width, 4) for _ in range(blocks)])
        self.head = nn.Linear(width, words)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x))).flatten(0, 1)


def translator():
    torch.manual_seed(0)
    words = torch.randint(0, 4096, (8, 65))
    target = words[:, 1:].flatten()
    return Translator(), words[:, :-1], lambda y: nn.functional.cross_entropy(y, target)
