# SPDX-License-Identifier: Apache-2.0
"""Python networks under plans, on 2 and 4 ranks over Gloo: worker.py says what each check computes.

One torchrun a world performs all checks, because each start takes seconds.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODELS = ("residual", "decoder", "partial", "mixed", "compiled")
# Each row of the strategy table that trains appears here or in TRAINS.
EXACT = (
    "bsp",
    "wfbp",
    "fusion",
    "mg-wfbp",
    "optimal-merge",
    "bytescheduler",
    "dear",
    "wfbp+rs-ag",
    "fusion+hierarchical:local=2",
    "bsp+ps",
    "ddp",
    "rs-ag+zero-1",
    "rs-ag+zero-2",
)
TRAINS = (
    "none",
    "fp16",
    "bf16",
    "sign",
    "ef-sign",
    "topk:density=0.5",
    "gtopk:density=0.5",
    "random-k:density=0.5",
    "qsgd",
    "powersgd",
    "ps:placement=apart,servers=1",
    "hierarchical-neighbor-allreduce:local=2",
    "parameter-allreduce",
    "push-sum",
    "win-put",
    "neighbor-allreduce+awc",
    "neighbor-allreduce+pga:every=2",
    "local-sgd:every=2",
    "diloco:every=2",
    "slowmo:every=2",
    "neighbor-allreduce:topology=ring+gradient-tracking",
    "neighbor-allreduce:topology=ring+exact-diffusion",
    "neighbor-allreduce:topology=ring+decentlam",
)
TOLERANCE = 2e-6  # of values near 1: sums in another order


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def torchrun(ranks):
    return [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", f"--master-port={free_port()}"]


def output_of(command, timeout):
    """What the ranks print."""
    done = subprocess.run(
        command,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def found_by(ranks, checks, *, start=torchrun, worker=("worker.py",), timeout=240):
    """What each check found, by its JSON, on ranks that `start(ranks)` starts of a `worker` of this folder."""
    texts = [json.dumps(check) for check in checks]
    name, *words = worker
    printed = output_of([*start(ranks), str(HERE / name), *words, *texts], timeout)
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith('{"check"')]
    found = {line["check"]: line for line in lines}
    assert list(found) == texts, printed
    return [found[text] for text in texts]


class Training(unittest.TestCase):
    """On two ranks."""

    ranks = 2

    def test_gradient_strategies_equal_ddp(self):
        pairs = [("mixed", strategy) for strategy in EXACT]
        pairs += [(model, strategy) for model in MODELS[:-2] + MODELS[-1:] for strategy in ("wfbp", "fusion", "dear")]
        checks = [["equals_ddp", *pair] for pair in pairs]
        checks += [["equals_ddp", "decoder", strategy, 2] for strategy in ("bsp", "fusion", "bytescheduler")]
        checks += [["equals_ddp", "linears", strategy] for strategy in ("wfbp", "fusion")]
        checks += [["equals_ddp", "experts", strategy] for strategy in ("wfbp", "fusion", "bytescheduler", "rs-ag+zero-1")]
        for check, found in zip(checks, found_by(self.ranks, checks)):
            with self.subTest(check=check):
                self.assertLess(found["apart"], TOLERANCE, found["where"])
                self.assertLess(found["losses"], TOLERANCE)
                self.assertTrue(found["replicas"])

    def test_linear_layers_write_into_their_slots(self):
        [found] = found_by(self.ranks, [["linears", "wfbp"]])
        self.assertEqual(found["written"], ["in_place.weight", "penalized.weight", "plain.weight", "tied.weight", "twice.weight"])

    def test_gradients_that_torch_returns_are_the_caller_s(self):
        [found] = found_by(self.ranks, [["grad", "wfbp"]])
        self.assertTrue(found["kept"])

    def test_they_equal_one_process_on_the_whole_batch(self):
        checks = [["whole_batch", "fusion"], ["whole_batch", "optimal-merge"]]
        for check, found in zip(checks, found_by(self.ranks, checks)):
            with self.subTest(check=check):
                self.assertLess(found["apart"], 1e-3)  # bf16 of another batch

    def test_integers_have_equal_bits(self):
        checks = [["integers", strategy] for strategy in EXACT]
        for check, found in zip(checks, found_by(self.ranks, checks)):
            with self.subTest(check=check):
                self.assertTrue(found["equal"])

    def test_every_other_strategy_trains(self):
        checks = [["trains", strategy] for strategy in TRAINS]
        for check, found in zip(checks, found_by(self.ranks, checks)):
            with self.subTest(check=check):
                self.assertTrue(found["finite"])
                self.assertLess(found["losses"][-1], found["losses"][0])

    def test_neighbors_average_what_they_have_updated(self):
        [found] = found_by(self.ranks, [["neighbors", "neighbor-allreduce:topology=ring"]])
        self.assertLess(found["apart"], TOLERANCE)
        if self.ranks == 2:  # whose ring averages exactly
            self.assertEqual(found["consensus"], 0)
        else:
            self.assertGreater(found["consensus"], 0)
        self.assertTrue(found["together"])
        self.assertTrue(found["restored"])


class TrainingOnFourRanks(Training):
    """The same on four."""

    ranks = 4


class Optimizers(unittest.TestCase):
    def test_groups_schedules_and_states_are_those_of_torch(self):
        kinds = ("sgd", "sgd-plain", "adam", "adamw", "rmsprop", "adagrad", "adadelta")
        checks = [["optimizer", kind, "fusion"] for kind in kinds] + [["optimizer", "adamw", "bytescheduler"]]
        checks += [["optimizer", "adamw", "rs-ag+zero-1"], ["optimizer", "sgd", "wfbp+rs-ag+zero-2"]]
        for check, found in zip(checks, found_by(2, checks)):
            with self.subTest(check=check):
                self.assertLess(found["apart"], 1e-5)
                self.assertLess(found["state"], 1e-5)
                self.assertTrue(found["continued"])
                self.assertLess(found["continued by torch"], 1e-5)

    def test_without_one_the_mean_is_left_in_grad(self):
        exact = [["own_optimizer", strategy] for strategy in EXACT if "zero" not in strategy and strategy != "ddp"]
        for found in found_by(2, [*exact, ["own_optimizer", "fusion+fp16"]]):
            tolerance = 1e-3 if "fp16" in found["check"] else TOLERANCE
            self.assertLess(found["apart"], tolerance)
            self.assertLess(found["gradients"], tolerance)

    def test_a_scaler_leaves_out_an_update_that_is_not_finite(self):
        [found] = found_by(2, [["scaler", "bsp"]])
        self.assertEqual(found["moved"], [0.5] * 4)  # 1 - 0.5 * 1
        self.assertTrue(found["kept"])
        self.assertEqual(found["scale"], 512)

    def test_what_cannot_be_is_rejected_by_name(self):
        [found] = found_by(2, [["errors"]])
        self.assertIn("0.weight is sparse", found["sparse"])
        self.assertIn("'fussion'", found["strategy"])
        self.assertIn("Rprop", found["optimizer"])
        self.assertIn("amsgrad=True", found["amsgrad"])
        self.assertIn("Parameter bias", found["left out"])
        self.assertIn("1.weight", found["types"])
        self.assertIn("leave out optimizer.step()", found["step"])
        self.assertIn("no parameter", found["nothing"])
        for strategy in ("rs-ag+zero-1", "neighbor-allreduce", "local-sgd", "none"):
            self.assertIn("leaves no mean of all gradients", found[f"no optimizer, {strategy}"])
        self.assertIn("0.bias is frozen by requires_grad_()", found["frozen"])
        self.assertIn("1.bias is trained by requires_grad_()", found["trained"])
        self.assertIn("0.weight has other memory", found["moved"])
        self.assertIn("Long values", found["integers"])

    def test_two_models_learn_from_each_other(self):
        [found] = found_by(2, [["adversaries"]])
        self.assertTrue(found["same"])
        self.assertIn("outside of a backward pass of its own model", found["told"])

    def test_between_micro_batches_parameters_may_be_read(self):
        [found] = found_by(2, [["between_micro_batches"]])
        self.assertTrue(found["same"])
        self.assertTrue(found["finite"])
        self.assertIn("micro-batches", found["loading"])
        self.assertIn("micro-batches", found["loading the module"])


if __name__ == "__main__":
    unittest.main()
