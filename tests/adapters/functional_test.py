# SPDX-License-Identifier: Apache-2.0
"""The networks of frameworks without PyTorch, on PyTorch's operators in float64:
weights, batches, losses and gradient norms are those of torchvision and Hugging
Face, which tests/networks/reference.json keeps."""

import json
import pathlib
import sys
import unittest

import torch
from torch.nn import functional as f

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python"))
from paceline.adapters import formula, formula_numpy, functional  # noqa: E402

REFERENCE = json.loads((ROOT / "tests/networks/reference.json").read_text())


class Ops:
    """PyTorch's layout: NCHW, linear weights [out, in]."""

    def __init__(self, parameters):
        self.p = parameters

    def conv(self, x, name, stride, padding):
        bias = self.p.get(f"{name}.bias")
        return f.conv2d(x, self.p[f"{name}.weight"], bias, stride, padding)

    def norm(self, x, name):
        scale, shift = self.p[f"{name}.weight"], self.p[f"{name}.bias"]
        return f.batch_norm(x, None, None, scale, shift, training=True)

    def linear(self, x, name):
        return f.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def relu(self, x):
        return f.relu(x)

    def add(self, x, y):
        return x + y

    def max_pool(self, x, size, stride, padding):
        return f.max_pool2d(x, size, stride, padding)

    def mean(self, x):
        return x.mean((2, 3))

    def flatten(self, x):
        return x.flatten(1)

    def cross_entropy(self, scores, labels):
        return f.cross_entropy(scores, labels, ignore_index=formula.NO_LABEL)

    def lookup(self, name, ids, padding=None):
        return f.embedding(ids, self.p[f"{name}.weight"], padding_idx=padding)

    def rows(self, name, count):
        return self.p[f"{name}.weight"][:count]

    def tied(self, x, name, bias):
        return f.linear(x, self.p[f"{name}.weight"], self.p[bias])

    def layer_norm(self, x, name):
        scale, shift = self.p[f"{name}.weight"], self.p[f"{name}.bias"]
        return f.layer_norm(x, x.shape[-1:], scale, shift, 1e-12)

    def gelu(self, x):
        return f.gelu(x)

    def tanh(self, x):
        return torch.tanh(x)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def first(self, x, tokens):
        return x[::tokens]

    def attention(self, query, key, value):
        by_head = (x.transpose(1, 2) for x in (query, key, value))
        return f.scaled_dot_product_attention(*by_head).transpose(1, 2)


class References(unittest.TestCase):
    def check(self, name):
        network, want = functional.NETWORKS[name], REFERENCE[name]
        size = want["sequence_length" if network.reads_text else "image_size"]
        classes, seed = want.get("classes", 0), want["seed"]
        shapes = network.shapes(size, classes)
        state = [f"{n} {'x'.join(map(str, shape))}" for n, shape in shapes.items()]
        statistics = ("running_mean", "running_var", "num_batches_tracked")
        self.assertEqual(
            state,
            [x for x in want["state"] if not x.split()[0].endswith(statistics)],
        )
        weights = {
            n: torch.from_numpy(value)
            for n, value in formula_numpy.weights(shapes, seed).items()
        }
        self.assertEqual(
            f"{formula.fingerprint_all(weights.values()):016x}", want["weights"]
        )
        if network.reads_text:
            batch = formula_numpy.text_batch((want["batch_size"], size), seed, 0)
        else:
            shape = (want["batch_size"], network.channels, size, size)
            batch = formula_numpy.batch(shape, classes, seed, 0)
        inputs, target = map(torch.from_numpy, batch)
        self.assertEqual(f"{formula.fingerprint(inputs):016x}", want["input"])
        self.assertEqual(f"{formula.fingerprint(target):016x}", want["target"])
        parameters = {
            n: w.double().requires_grad_() for n, w in weights.items()
        }
        if not network.reads_text:
            inputs = inputs.double()
        loss = network.loss(Ops(parameters), inputs, target)
        self.assertAlmostEqual(loss.item(), want["loss"], delta=1e-9)
        loss.backward()
        norms = [p.grad.norm().item() for p in parameters.values()]
        for mine, theirs in zip(norms, want["gradient_norms"], strict=True):
            self.assertAlmostEqual(mine, theirs, delta=1e-8 * max(1, theirs))

    def test_lenet(self):
        self.check("lenet")

    def test_mlp(self):
        self.check("mlp")

    def test_resnet18(self):
        self.check("resnet18")

    def test_resnet50(self):
        self.check("resnet50")

    def test_bert(self):
        self.check("bert-tiny")

    def test_zero_labels_of_the_original_survey(self):
        for mine, theirs in zip(
            formula_numpy.text_batch((3, 8), 5, 1, zeros=True),
            formula.text_batch((3, 8), 5, 1, zeros=True),
        ):
            self.assertTrue(torch.equal(torch.from_numpy(mine), theirs))

    def test_parameters_of_the_large_ones_are_those_that_are_published(self):
        def count(name):
            shapes = functional.NETWORKS[name].shapes(0, 1000)
            return sum(torch.Size(shape).numel() for shape in shapes.values())

        self.assertEqual(count("resnet152"), 60_192_808)
        self.assertEqual(count("bert-base-30522"), 110_106_428)

    def test_tables_keep_their_layout(self):
        turned = functional.is_transposed
        self.assertTrue(turned("bert.pooler.dense.weight", (128, 128)))
        self.assertFalse(
            turned("bert.embeddings.word_embeddings.weight", (30528, 128))
        )
        self.assertFalse(turned("conv1.weight", (6, 1, 5, 5)))
        names = functional.NETWORKS["resnet18"].shapes(0, 10)
        self.assertEqual(len(functional.norms(names)), 20)
        self.assertEqual(
            functional.norms(functional.NETWORKS["bert-tiny"].shapes(0, 0)), []
        )


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
