# SPDX-License-Identifier: Apache-2.0
"""A residual network on images, trained by all ranks.

    torchrun --nproc-per-node 2 convolutional.py
    paceline run --model convolutional:build --batch-size 32 --ranks 2 --strategy fusion,wfbp,neighbor-allreduce
"""

import torch
from torch import nn
from torch.nn import functional

CLASSES = 10
BATCH = 32  # of a rank
STEPS = 60


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return functional.relu(x + self.layers(x))


def make_network(width=32):
    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        Block(width),
        nn.MaxPool2d(2),
        Block(width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, CLASSES),
    ).to(memory_format=torch.channels_last)


def batches(rank, count):
    """Noise over a pattern for each class; a data set of your own takes their place."""
    patterns = torch.randn(CLASSES, 3, 4, 4, generator=torch.Generator().manual_seed(0)).repeat(1, 1, 8, 8)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(count):
        classes = torch.randint(CLASSES, (BATCH,), generator=generator)
        images = patterns[classes] + 3 * torch.randn(BATCH, 3, 32, 32, generator=generator)
        yield images.contiguous(memory_format=torch.channels_last), classes


def build():
    """Network, example batch and loss, for `paceline run`, `predict` and `advise`."""
    images, classes = next(batches(0, 1))
    return make_network(), images, lambda output: functional.cross_entropy(output, classes[: len(output)])


def main():
    import paceline.torch as pt

    pt.init()
    torch.manual_seed(0)
    net = make_network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    model = pt.DataParallel(net, optimizer, strategy="fusion")
    for step, (images, classes) in enumerate(batches(pt.rank(), STEPS)):
        loss = model.step(lambda: functional.cross_entropy(model(images), classes))
        schedule.step()
        if pt.rank() == 0 and step % 20 == 19:
            print(f"step {step + 1}: loss {loss.item():.3f}")
    model.eval()
    [(images, classes)] = batches(1000 + pt.rank(), 1)
    with torch.no_grad():
        right = (model(images).argmax(1) == classes).float().mean()
    accuracy = pt.all_reduce(right).item()
    if pt.rank() == 0:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "convolutional.pt")
        print(f"accuracy {accuracy:.2f}, saved in convolutional.pt")


if __name__ == "__main__":
    main()
