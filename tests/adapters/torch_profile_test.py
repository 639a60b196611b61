# SPDX-License-Identifier: Apache-2.0
"""paceline.torch.profile on a network that is not built in."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
SAMPLE = HERE.parents[0] / "plan" / "their_network.profile.json"
PACKAGES = HERE.parents[1] / "python"
sys.path.insert(0, str(PACKAGES))

from paceline.torch import profile as torch_profile  # noqa: E402


def run(*arguments):
    """The program in this process: importing PyTorch takes it seconds."""
    error = io.StringIO()
    with (
        unittest.mock.patch.object(sys, "argv", ["torch_profile", *arguments]),
        contextlib.redirect_stderr(error),
    ):
        code = torch_profile.main()
    return types.SimpleNamespace(returncode=code, stderr=error.getvalue())


class TorchProfile(unittest.TestCase):
    def profile(self, factory="reader"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "p.json"
            done = run(
                f"their_network:{factory}",
                "--steps",
                "3",
                "--output",
                str(path),
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text(encoding="utf-8"))

    def test_has_every_trained_parameter_once_and_in_ready_order(self):
        profile = self.profile()
        names = [p["name"] for p in profile["parameters"]]
        self.assertEqual(len(names), 12)
        self.assertNotIn("frozen.weight", names)
        self.assertEqual(sorted(profile["ready_order"]), sorted(names))
        # The head is ready before the layers below it, what is unused last.
        order = profile["ready_order"]
        self.assertLess(
            order.index("head.1.weight"), order.index("embed.weight")
        )
        self.assertEqual(order[-2:], ["unused.weight", "unused.bias"])
        self.assertEqual(profile["batch_size"], 6)

    def test_modules_come_in_the_order_of_forward_and_take_time(self):
        profile = self.profile()
        modules = {m["name"]: m for m in profile["modules"]}
        self.assertEqual(
            list(modules),
            ["(root)", "embed", "gru", "head.0", "head.1", "unused"],
        )
        self.assertGreater(modules["gru"]["forward_us"], 0)
        self.assertEqual(modules["unused"]["forward_us"], 0)
        self.assertGreater(profile["update_us"], 0)

    def test_has_the_form_that_the_program_is_tested_on(self):
        sample = json.loads(SAMPLE.read_text(encoding="utf-8"))
        profile = self.profile()
        self.assertEqual(list(profile), list(sample))
        for key in ("modules", "parameters"):
            self.assertEqual(
                [(list(x), x["name"]) for x in profile[key]],
                [(list(x), x["name"]) for x in sample[key]],
            )

    def test_a_layer_that_is_used_uncalled_counts_to_the_one_around_it(self):
        profile = self.profile("attention")
        self.assertEqual(
            [m["name"] for m in profile["modules"]],
            ["attention", "norm", "last"],
        )
        modules = {p["name"]: p["module"] for p in profile["parameters"]}
        self.assertEqual(modules["attention.out_proj.weight"], "attention")
        self.assertEqual(modules["last.weight"], "last")
        self.assertEqual(profile["batch_size"], 4, "of the named inputs")

    def test_what_it_says_otherwise_than_the_model_is_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "p.json"
            done = run("their_network:odd", "--steps=1", f"--output={path}")
            self.assertEqual(done.returncode, 0, done.stderr)
            profile = json.loads(path.read_text(encoding="utf-8"))
        remarks = [
            "left out, without elements: none",
            "of bf16, counted as fp32: narrow.weight, narrow.bias",
            "with a sparse gradient, counted as dense: table.weight",
            "without a gradient, counted as if it crossed: unread.weight",
        ]
        self.assertEqual(
            done.stderr.splitlines()[:-1],
            [f"paceline.torch.profile: warning: {remark}" for remark in remarks],
        )
        self.assertTrue(profile["origin"].endswith("; " + "; ".join(remarks)))
        sizes = {p["name"]: p["sizes"] for p in profile["parameters"]}
        self.assertNotIn("none", sizes)
        self.assertEqual(sizes["scale"], [1])
        self.assertEqual(sizes["last.weight"], [3, 2])
        self.assertEqual(sizes["table.weight"], [40, 8])
        self.assertEqual(profile["dtype"], "fp32")

    def test_mistakes_are_one_sentence(self):
        for spec, sentence in (
            ("their_network", "paceline.torch.profile: 'their_network': write MODULE"),
            ("their_network:nobody", "paceline.torch.profile: 'their_network:nobody':"),
            ("their_network:not_a_pair", "paceline.torch.profile: the factory must"),
            ("their_network:no_module", "paceline.torch.profile: the factory must"),
            (
                "their_network:raises",
                "paceline.torch.profile: 'their_network:raises' raised ValueError: no "
                "weights\n",
            ),
            (
                "their_network:wrong_batch",
                "paceline.torch.profile: the model, its loss or its backward rejects "
                "the batch (str): ",
            ),
        ):
            done = run(spec, "--output", "/dev/null")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertTrue(done.stderr.startswith(sentence), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_program_finds_modules_where_it_is_started(self):
        done = subprocess.run(
            [
                sys.executable,
                str(PACKAGES / "paceline" / "run_module.py"),
                "paceline.torch.profile",
                "their_network:raises",
                "--output",
                "/dev/null",
            ],
            cwd=HERE,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(
            done.stderr,
            "paceline.torch.profile: 'their_network:raises' raised ValueError: no "
            "weights\n",
        )

    def test_an_output_that_cannot_be_written_is_rejected_first(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = str(pathlib.Path(folder) / "nowhere" / "x.json")
            # The factory would raise: it is not called.
            done = run("their_network:raises", "--output", missing)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(
                done.stderr,
                f"paceline.torch.profile: --output {missing}: No such file or "
                "directory\n",
            )
            path = pathlib.Path(folder) / "p.json"
            done = run("their_network:raises", "--output", str(path))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertFalse(path.exists(), "nothing is left behind")


if __name__ == "__main__":
    unittest.main()
