# SPDX-License-Identifier: Apache-2.0
"""The networks in examples/ train on two ranks, and `paceline run` takes them as they are."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from train_test import torchrun

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def output_of(self, *command):
        variables = {"OMP_NUM_THREADS": "1", "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{EXAMPLES}"}
        done = subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def losses_of(self, name):
        return [float(loss) for loss in re.findall(r"loss ([0-9.]+)", self.output_of(*torchrun(2), EXAMPLES / name))]

    def test_the_residual_network_learns(self):
        losses = self.losses_of("convolutional.py")
        self.assertLess(losses[-1], losses[0])
        self.assertTrue(pathlib.Path(self.folder, "convolutional.pt").exists())

    def test_the_decoder_learns(self):
        losses = self.losses_of("decoder.py")
        self.assertLess(losses[-1], losses[0] / 2)

    def test_the_model_of_transformers_learns(self):
        try:
            from transformers import GPT2LMHeadModel  # noqa: F401
        except Exception as error:
            self.skipTest(f"transformers: {error}")
        losses = self.losses_of("hugging_face.py")
        self.assertLess(losses[-1], losses[0])

    def test_they_are_timed_as_they_are(self):
        for model, words in (("convolutional", "--batch-size 32"), ("decoder", "--batch-size 16 --accumulate 4")):
            with self.subTest(model=model):
                run = f"run --model {model}:build {words} --ranks 2 --warmup 1 --steps 3 --threads 1 --strategy fusion"
                self.output_of(os.environ["PACELINE"], *run.split(), "--yes", "--records", f"{model}.jsonl")
                [line] = pathlib.Path(self.folder, f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
                self.assertIsNone(json.loads(line).get("error"))


if __name__ == "__main__":
    unittest.main()
