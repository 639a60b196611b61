#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives bert.json from Hugging Face's BertForPreTraining.

    python3 -m venv bert && bert/bin/pip install torch transformers
    bert/bin/python tools/bert_shapes.py > src/paceline/plan/networks/bert.json

src/paceline/plan/networks/shape_files.h describes the file.  No tensor is
allocated: the model and its batch of one sequence are on the meta device.
"""

import json
import warnings

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

import torch
from torch.overrides import TorchFunctionMode
from transformers import BertConfig, BertForPreTraining

BYTES_PER_ELEMENT = 4
LARGE = {
    "num_hidden_layers": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
}
# Name, tokens of a sequence, and what differs from BERT-Base.  A vocabulary of
# 30528 is the original one padded to a multiple of 8.  ddl-benchmarks runs
# sequences of 64 tokens, DLPerf of 128.
NETWORKS = (
    ("bert-base", 64, {"vocab_size": 30528}),
    ("bert-base-30522", 128, {"vocab_size": 30522}),
    ("bert-large", 64, {"vocab_size": 30528, **LARGE}),
)

# (operations, reads and writes) an output element.  An embedding includes its
# share of the sum of the embeddings.
NORMALIZATION = (8, 3)
EMBEDDING = (1, 3)
ADDITION = (3, 3)
DROPOUT = (3, 3)  # writes the values and a mask
GELU = (2, 2)
CROSS_ENTROPY = (5, 5)  # log-softmax and loss
# An attention score: scale, mask, softmax, dropout between two products.
SCORE = (10, 12)


class Work(TorchFunctionMode):
    """Adds up the work of a forward pass by module: a function counts to the
    module with parameters that was called last."""

    def __init__(self):
        super().__init__()
        self.module = None
        self.flops = {}
        self.elements = {}
        self.leaf_calls = 0

    def enter(self, module):
        self.module = module
        self.flops[module] = self.elements[module] = 0

    def add(self, flops, elements):
        self.flops[self.module] += flops
        self.elements[self.module] += elements

    def add_each(self, count, rule):
        self.add(count * rule[0], count * rule[1])

    def __torch_function__(self, function, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            output = function(*args, **(kwargs or {}))
        name = function.__name__
        if name == "linear":
            inputs, outputs = args[0].numel(), output.numel()
            self.leaf_calls += 1
            self.add(2 * inputs * output.shape[-1], inputs + outputs)
        elif name == "embedding":
            self.leaf_calls += 1
            self.add_each(output.numel(), EMBEDDING)
        elif name == "layer_norm":
            self.leaf_calls += 1
            self.add_each(output.numel(), NORMALIZATION)
        elif name == "dropout":
            self.leaf_calls += 1
            self.add_each(output.numel(), DROPOUT)
        elif name == "tanh":
            self.leaf_calls += 1  # of one token: no work beside the others
        elif name == "gelu":
            self.add_each(output.numel(), GELU)
        elif name == "cross_entropy":
            self.add_each(args[0].numel(), CROSS_ENTROPY)
        elif name == "scaled_dot_product_attention":
            tokens = output.shape[-2]
            scores = output.shape[-3] * tokens * tokens
            self.leaf_calls += 1  # the dropout of the scores is a module
            self.add(4 * output.numel() * tokens, 8 * output.numel())
            self.add_each(scores, SCORE)
        elif name in ("add", "__add__") and not isinstance(
            self.module, torch.nn.Embedding
        ):
            self.add_each(output.numel(), ADDITION)
        return output


def kind_of(module):
    return {
        torch.nn.Embedding: "embedding",
        torch.nn.LayerNorm: "normalization",
        torch.nn.Linear: "linear",
    }[type(module)]


def run(model, tokens, work):
    """The forward pass of one sequence and the loss of all of its tokens."""
    ids = torch.zeros(1, tokens, dtype=torch.int64, device="meta")
    with work:
        scores = model(input_ids=ids).prediction_logits
        torch.nn.functional.cross_entropy(
            scores.view(tokens, -1), ids.view(-1), ignore_index=-1
        )


def shape_of(tokens, options):
    with torch.device("meta"):
        config = BertConfig(**options, attn_implementation="sdpa")
        model = BertForPreTraining(config).train()
    work = Work()
    owners = {}  # module to its parameters that no module before it has
    names = {id(p): name for name, p in model.named_parameters()}
    for module in model.modules():
        if not list(module.children()):
            own = [
                (names.pop(id(p)), p)
                for p in module.parameters()
                if id(p) in names
            ]
            if own:
                owners[module] = own
                module.register_forward_pre_hook(
                    lambda module, _: work.enter(module)
                )
    run(model, tokens, work)
    return work.leaf_calls, [
        [
            own[0][0].rpartition(".")[0],
            kind_of(module),
            work.flops[module],
            work.elements[module] * BYTES_PER_ELEMENT,
            [],
            {name.rpartition(".")[2]: list(p.shape) for name, p in own},
        ]
        for module, own in owners.items()
    ]


def main():
    texts = []
    for name, tokens, options in NETWORKS:
        leaf_calls, modules = shape_of(tokens, options)
        lines = ",\n".join(
            json.dumps(module, separators=(",", ":")) for module in modules
        )
        texts.append(
            f'"{name}": {{"leaf_calls": {leaf_calls}, "modules": [\n{lines}]}}'
        )
    print("{\n" + ",\n".join(texts) + "\n}")


if __name__ == "__main__":
    main()
