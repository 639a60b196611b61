# SPDX-License-Identifier: Apache-2.0
"""Jobs of published systems, predicted by `paceline predict --requests` from figures of others."""

import json
import math
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


TOLD_APART = 0.1  # percent, by which one error is smaller than another


@dataclass(frozen=True)
class Figure:
    """The throughput of a system: samples/s of all ranks, each of which takes `batch` a step."""

    ranks: int
    batch: int
    rate: float
    accumulate: int = 1

    def words(self):
        return f"ranks={self.ranks} batch={self.batch} accumulate={self.accumulate} rate={self.rate}"


@dataclass(frozen=True)
class Job:
    """What all systems of a series train, and on which cluster."""

    id: str
    cluster: str  # text of a cluster file
    network: str | dict  # a name, or a profile
    strategy: str
    optimizer: str
    tokens: int | None = None  # of a sample
    dtype: str = ""


@dataclass(frozen=True)
class Question:
    """One system that is left out of what predicts it."""

    kind: str
    job: Job
    measured: tuple[Figure, ...]
    left_out: Figure

    def name(self):
        return f"{self.job.id}, {'+'.join(str(one.ranks) for one in self.measured)} to {self.left_out.ranks}"

    def linear(self):
        """The rate that follows from the measured system with the nearest number of ranks."""
        nearest = min(
            self.measured, key=lambda one: (abs(math.log(one.ranks / self.left_out.ranks)), one.ranks)
        )
        return nearest.rate * self.left_out.ranks / nearest.ranks

    def request(self, folder):
        """One line of --requests, whose files are written into `folder`."""
        cluster = folder / "cluster.toml"
        cluster.write_text(self.job.cluster, encoding="utf-8")
        network = self.job.network
        if isinstance(network, dict):
            profile = folder / "network.profile.json"
            profile.write_text(json.dumps(network), encoding="utf-8")
            network = str(profile)
        words = {"sequence_length": self.job.tokens, "dtype": self.job.dtype}
        return {
            **{key: value for key, value in words.items() if value},
            "id": self.name(),
            "network": network,
            "cluster": str(cluster),
            "ranks": self.left_out.ranks,
            "batch_size": self.left_out.batch,
            "accumulate": self.left_out.accumulate,
            "strategy": self.job.strategy,
            "optimizer": self.job.optimizer,
            "measured": [one.words() for one in self.measured],
        }


@dataclass(frozen=True)
class Errors:
    """Of a predicted throughput, in percent; `within`: whether its interval holds the figure."""

    predicted: float
    linear: float
    within: bool


def answers_of(program, questions):
    """A record for each question, or why there is none."""
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number, question in enumerate(questions):
            place = Path(folder) / str(number)
            place.mkdir()
            lines.append(json.dumps(question.request(place)))
        done = subprocess.run(
            [program, "predict", "--requests", "-"],
            input="\n".join(lines) + "\n",
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def rate_of(record):
    steps = max(rank["window_ns"] for rank in record["ranks"]) * 1e-9
    case = record["configuration"]
    return record["predicted"]["training_ranks"] * case["batch_size"] * case["steps"] / steps


def errors_of(question, record):
    asked = question.left_out
    bar = record["predicted"]["error_bar"]
    step_ns = asked.ranks * asked.batch / asked.rate * 1e9
    return Errors(
        predicted=100 * (rate_of(record) / asked.rate - 1),
        linear=100 * (question.linear() / asked.rate - 1),
        within=bar["low_ns"] <= step_ns <= bar["high_ns"],
    )


def print_errors(program, questions):
    """A line for each question, and below the means of each kind."""
    kinds = {}
    for question, answer in zip(questions, answers_of(program, questions), strict=True):
        name = f"{question.kind:38} {question.name():70}"
        if answer.get("error"):
            print(f"{name} {answer['error']}")
            continue
        errors = errors_of(question, answer)
        kinds.setdefault(question.kind, []).append(errors)
        print(
            f"{name} {errors.predicted:+6.1f} % linear {errors.linear:+6.1f} %"
            f"{'' if errors.within else '  outside its interval'}"
        )
    print()
    for kind, rows in kinds.items():
        count = len(rows)
        nearer = sum(abs(one.linear) < abs(one.predicted) - TOLD_APART for one in rows)
        print(
            f"{kind:38} {count:3} systems: mean {sum(abs(one.predicted) for one in rows) / count:5.1f} %, "
            f"linear {sum(abs(one.linear) for one in rows) / count:5.1f} % and nearer in {nearer}, "
            f"{100 * sum(one.within for one in rows) / count:.0f} % within their intervals"
        )
