# SPDX-License-Identifier: Apache-2.0
"""Runs the adapter as the harness does, and checks what it prints."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import torch

ROOT = pathlib.Path(__file__).parents[2]
PACKAGES = ROOT / "python"
sys.path.insert(0, str(PACKAGES))
from paceline.adapters import (  # noqa: E402
    case as case_of_adapter,
    formula,
    functional,
    networks,
    python_ddp,
    torch_variants,
)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(world, case):
    """[(exit status, events)] of every rank."""
    port = free_port()
    ranks = []
    for rank in range(world):
        environment = dict(
            os.environ,
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(world),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
            GLOO_SOCKET_IFNAME="lo",
            PACELINE_CASE=json.dumps(case),
        )
        ranks.append(
            subprocess.Popen(
                [
                    sys.executable,
                    str(PACKAGES / "paceline" / "run_module.py"),
                    "paceline.adapters.python_ddp",
                ],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    results = []
    for process in ranks:
        out, _ = process.communicate(timeout=240)
        events = [json.loads(line) for line in out.splitlines()]
        results.append((process.returncode, events))
    return results


def averaged_integer_gradients(world, case):
    """The first step's mean gradients, computed here without any DDP."""
    info = networks.NETWORKS[case["model"]]
    side, classes = info.image_size, info.classes
    network = info.make(side, classes, 0.0)
    formula.fill_with_integers(network, case["seed"])
    for rank in range(world):
        inputs, target = formula.batch(
            (case["batch_size"], info.channels, side, side),
            classes,
            case["seed"],
            rank,
            integers=True,
        )
        formula.integer_loss(network(inputs), target).backward()
    return {
        name: f"{formula.fingerprint(parameter.grad / world):016x}"
        for name, parameter in network.named_parameters()
    }


class Contract(unittest.TestCase):
    def test_flops_are_those_of_the_other_frameworks_networks(self):
        for model in ("lenet", "resnet18"):
            case = {"model": model, "batch_size": 2, "warmup": 0, "steps": 1}
            [(status, events)] = run(1, case)
            self.assertEqual(status, 0)
            network = functional.NETWORKS[model]
            want = functional.flops(network, network.size, network.classes)
            self.assertEqual(events[0]["flops"], want)

    def test_clipping_bounds_what_a_step_changes(self):
        case = {
            "model": "lenet",
            "batch_size": 4,
            "warmup": 4,
            "steps": 1,
            "threads": 1,
            "learning_rate": 0.1,
            "weight_decay": 0.0,
            "start": "formula",
        }
        losses = {}
        for clip_norm in (0.0, 1e-9, 1e9):
            [(status, events)] = run(1, case | {"clip_norm": clip_norm})
            self.assertEqual(status, 0, events)
            end = events[-1]
            losses[clip_norm] = (end["loss_first"], end["loss_fifth"])
        self.assertEqual(losses[0.0], losses[1e9])
        self.assertLess(losses[0.0][1], 0.9 * losses[0.0][0])
        first, fifth = losses[1e-9]
        self.assertAlmostEqual(first, fifth, delta=1e-6)
        self.assertEqual(events[0]["clipping"], "global norm at most 1e+09")

    def test_an_optimizer_that_torch_lacks_is_rejected_by_name(self):
        for optimizer in ("lamb", "lars"):
            [(status, events)] = run(1, {"model": "lenet", "optimizer": optimizer})
            self.assertEqual((status, len(events)), (2, 1))
            self.assertEqual(events[0]["status"], "unsupported")
            self.assertEqual(
                events[0]["message"],
                f"optimizer = '{optimizer}'; known are sgd, adam, adamw, bert-adamw, rmsprop, adagrad, adadelta",
            )

    def test_events_of_a_measured_case(self):
        case = {
            "model": "lenet",
            "batch_size": 8,
            "accumulate": 2,
            "threads": 1,
            "warmup": 1,
            "steps": 3,
            "channels_last": True,
            "optimizer": "adamw",
        }
        [(status, events)] = run(1, case)
        self.assertEqual(status, 0, events)
        self.assertEqual(
            [e["event"] for e in events if e["event"] != "alive"],
            ["environment", "step", "step", "step", "end"],
        )
        self.assertEqual(events[1], {"event": "alive", "step": 1})
        environment, *steps, end = (
            event for event in events if event["event"] != "alive"
        )
        self.assertEqual(environment["framework_version"], torch.__version__)
        self.assertEqual(environment["threads"], 1)
        self.assertEqual(environment["case"]["accumulate"], 2)
        self.assertEqual([step["index"] for step in steps], [0, 1, 2])
        for step in steps:
            self.assertGreaterEqual(
                step["step_ns"], sum(step["phases_ns"].values())
            )
        self.assertEqual(
            sum(step["step_ns"] for step in steps), end["window_ns"]
        )
        self.assertGreater(end["peak_memory_bytes"], 1 << 20)
        self.assertGreater(end["loss"], 0)

    def test_two_ranks_average_integer_gradients_exactly(self):
        for options, accumulate in (("defaults", 1), ("best", 1), ("best", 2)):
            case = {
                "model": "lenet",
                "batch_size": 4,
                "seed": 9,
                "threads": 1,
                "warmup": 0,
                "steps": 2,
                "dump": "integers",
                "options": options,
                "accumulate": accumulate,
            }
            with self.subTest(options=options, accumulate=accumulate):
                results = run(2, case)
                expected = averaged_integer_gradients(2, case)
                for status, events in results:
                    self.assertEqual(status, 0, events)
                    self.assertEqual(events[1]["gradients"], expected)
                one, other = (events for _, events in results)
                self.assertNotEqual(one[1]["loss"], other[1]["loss"])
                for step in (1, 2):
                    for key in ("gradients", "parameters"):
                        self.assertEqual(one[step][key], other[step][key])
                self.assertNotEqual(one[1]["parameters"], one[2]["parameters"])

    def test_a_bad_case_is_an_event_and_exit_2(self):
        [(status, events)] = run(1, {"modle": "lenet"})
        self.assertEqual(status, 2)
        [error] = events
        self.assertEqual(error["event"], "error")
        self.assertIn("unknown key 'modle'; known are model", error["message"])


class Cases(unittest.TestCase):
    def assert_rejected(self, case, message):
        with self.assertRaisesRegex(case_of_adapter.UsageError, message):
            case_of_adapter.parse_case(json.dumps(case))

    def test_values_are_checked(self):
        self.assert_rejected({"model": "resnet51"}, "known are resnet18, ")
        self.assert_rejected({"steps": 0}, "below 1")
        self.assert_rejected({"steps": 1.5}, "not of type int")
        self.assert_rejected({"steps": True}, "not of type int")
        self.assert_rejected({"learning_rate": "x"}, "not of type float")
        self.assert_rejected({"batch_size": 8, "accumulate": 3}, "multiple")
        self.assert_rejected([], "not a JSON object")

    def test_defaults_are_the_original_benchmark(self):
        case = case_of_adapter.parse_case('{"learning_rate": 1}')
        self.assertEqual((case.warmup, case.steps, case.batch_size), (5, 10, 32))
        self.assertEqual(case.bucket_mb, 25)


class Networks(unittest.TestCase):
    def test_the_table_has_the_same_rows(self):
        reference = ROOT / "tests" / "networks" / "reference.json"
        self.assertEqual(
            list(json.loads(reference.read_text())), list(networks.NETWORKS)
        )

    def test_one_seed_gives_the_same_start_in_both_languages(self):
        self.assert_same_start("lenet", "mlp")

    @unittest.skipUnless(
        networks.NETWORKS["resnet18"].is_installed(), "torchvision is missing"
    )
    def test_one_seed_gives_the_same_start_as_in_torchvision(self):
        self.assert_same_start("resnet18", "resnext50_32x4d", "vgg16")

    def test_a_missing_torchvision_is_told(self):
        case = case_of_adapter.parse_case('{"model": "resnet18"}')
        with unittest.mock.patch("importlib.util.find_spec", return_value=None):
            with self.assertRaisesRegex(
                case_of_adapter.UsageError, "resnet18.*pip install torchvision"
            ):
                case_of_adapter.reject_unsupported(case)

    def test_bert_needs_no_operators_of_torchvision(self):
        with tempfile.TemporaryDirectory() as folder:
            for package, text in {
                "torchvision": "raise RuntimeError('no such operator')",
                "transformers": "import torchvision\n"
                "def BertConfig(**options): return options\n"
                "def BertForPreTraining(config): return config\n",
            }.items():
                home = pathlib.Path(folder, package)
                home.mkdir()
                (home / "__init__.py").write_text(text, encoding="utf-8")
            program = (
                "from paceline.adapters import networks\n"
                "row = networks.NETWORKS['bert-tiny']\n"
                "print(row.make(0, 0, 0.5)['hidden_dropout_prob'])"
            )
            path = os.pathsep.join([folder, str(PACKAGES)])
            out = subprocess.run(
                [sys.executable, "-c", program],
                env=dict(os.environ, PYTHONPATH=path),
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout
        self.assertEqual(out, "0.5\n")

    def assert_same_start(self, *names):
        out = subprocess.run(
            [os.environ["PACELINE_START_WEIGHTS"], *names],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        for name, row in zip(names, out.splitlines(), strict=True):
            info = networks.NETWORKS[name]
            torch.manual_seed(3)
            network = info.make(info.image_size, info.classes, 0.5)
            mine = formula.fingerprint_all(network.parameters())
            self.assertEqual(row, f"{mine:016x}", name)


class Tied(torch.nn.Module):
    """A decoder that has the weights of the table, as BERT's."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(5, 4)
        self.hidden = torch.nn.Linear(4, 4)
        self.decoder = torch.nn.Linear(4, 5, bias=False)
        self.decoder.weight = self.table.weight

    def forward(self, ids):
        return self.decoder(self.hidden(self.table(ids)))


class Optimizers(unittest.TestCase):
    def test_each_changes_parameters_in_its_own_way(self):
        seen = {}
        for name in case_of_adapter._CHOICES["optimizer"]:
            network = torch.nn.Linear(3, 2)
            with torch.no_grad():
                for parameter in network.parameters():
                    parameter.fill_(1)
            rank = unittest.mock.Mock(
                case=case_of_adapter.Case(
                    model="lenet", optimizer=name, weight_decay=0.5
                ),
                best=False,
            )
            rank.parameter_groups = lambda network: python_ddp.Rank.parameter_groups(
                rank, network
            )
            optimizer = python_ddp.Rank.make_optimizer(rank, network)
            for _ in range(3):
                optimizer.zero_grad()
                (network(torch.ones(3)).sum() * 0.25).backward()
                optimizer.step()
            seen[name] = (network.weight[0, 0].item(), network.bias[0].item())
        self.assertEqual(len(set(seen.values())), len(seen), seen)


class Fsdp2(unittest.TestCase):
    def test_trains_tied_weights_as_plain_pytorch_does(self):
        torch.distributed.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{free_port()}", rank=0, world_size=1
        )
        self.addCleanup(torch.distributed.destroy_process_group)
        rank = unittest.mock.Mock(
            case=unittest.mock.Mock(device="cpu", compiled=False),
            world=1,
            make_optimizer=lambda network: torch.optim.SGD(
                network.parameters(), lr=0.5
            ),
        )
        ids = torch.tensor([0, 3, 4])
        losses = []
        for sharded in (False, True):
            torch.manual_seed(1)
            network = Tied()
            rank.optimizer = rank.make_optimizer(network)
            if sharded:
                network = torch_variants.Fsdp2Rank.wrap(rank, network)
            losses.append([])
            for _ in range(3):
                rank.optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(network(ids), ids)
                loss.backward()
                rank.optimizer.step()
                losses[-1].append(loss.item())
        self.assertEqual(*losses)
        self.assertLess(losses[0][2], losses[0][0])


if __name__ == "__main__":
    unittest.main()
