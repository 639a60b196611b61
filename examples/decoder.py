# SPDX-License-Identifier: Apache-2.0
"""A GPT-style decoder on text: four micro-batches make a step, under autocast.

    torchrun --nproc-per-node 2 decoder.py
    paceline run --model decoder:build --batch-size 16 --accumulate 4 --dtype amp --ranks 2 --strategy fusion,dear
"""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

TOKENS, LENGTH, WIDTH, HEADS, LAYERS = 256, 64, 64, 4, 2
BATCH = 4  # of a rank and micro-batch
ACCUMULATE = 4
STEPS = 40
TEXT = b"In a ring each rank sends to the next one and receives from the one before. " * 40


class Layer(nn.Module):
    """Causal attention, then two linear layers."""

    def __init__(self):
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        heads = self.qkv(self.before_attention(x)).unflatten(-1, (3, HEADS, -1)).transpose(1, 3)
        q, k, v = heads.unbind(2)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class Decoder(nn.Module):
    """Its output layer is its embedding; layers keep no activations."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(TOKENS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, TOKENS, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.head(self.norm(x))


def loss_of(output, tokens):
    return functional.cross_entropy(output[:, :-1].flatten(0, 1).float(), tokens[:, 1:].flatten())


def batches(rank, count, size=BATCH):
    """Pieces of the text."""
    text = torch.frombuffer(bytearray(TEXT), dtype=torch.uint8).long()
    generator = torch.Generator().manual_seed(rank)
    for _ in range(count):
        begins = torch.randint(len(text) - LENGTH, (size,), generator=generator)
        yield torch.stack([text[begin : begin + LENGTH] for begin in begins.tolist()])


def build():
    """Network, example batch and loss, for `paceline run`, `predict` and `advise`."""
    [tokens] = batches(0, 1, BATCH * ACCUMULATE)
    return Decoder(), tokens, lambda output: loss_of(output, tokens[: len(output)])


def main():
    import paceline.torch as pt

    pt.init()
    torch.manual_seed(0)
    net = Decoder()
    matrices = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices}, {"params": others, "weight_decay": 0.0}], lr=3e-3)
    model = pt.DataParallel(net, optimizer, strategy="fusion+bf16", accumulate=ACCUMULATE, clip_norm=1.0)

    def loss_under_autocast(tokens):
        with torch.autocast("cpu", torch.bfloat16):
            return loss_of(model(tokens), tokens)

    for index, tokens in enumerate(batches(pt.rank(), STEPS * ACCUMULATE)):
        loss = model.step(lambda: loss_under_autocast(tokens))
        if pt.rank() == 0 and (index + 1) % (10 * ACCUMULATE) == 0:
            print(f"step {(index + 1) // ACCUMULATE}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
