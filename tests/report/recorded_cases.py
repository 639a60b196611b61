# SPDX-License-Identifier: Apache-2.0
"""The cases of a page's records, and the figures of each by docs/measuring.md."""

import json
import statistics


def quantile(values, p):
    """Linear interpolation at p (n - 1)."""
    ordered = sorted(values)
    at = p * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def slowest(record):
    """Seconds of every step of its slowest rank."""
    ranks = [r["step_ns"] for r in record["ranks"] if r["step_ns"]]
    return [max(step) / 1e9 for step in zip(*ranks)]


def wire_bytes(record):
    """Per step as counted, else as planned; None where neither is known."""
    wire = record["wire"]
    counted = wire["measured_bytes_per_step"]
    return wire["planned_bytes_per_step"] if counted is None else counted


class Case:
    """All runs of one case, and the figures that the page's table must show."""

    def __init__(self, runs):
        self.runs = [r for r in runs if not r["error"] and slowest(r)]
        self.configuration = runs[0]["configuration"]
        self.source = runs[0]["source"]

    def percentile(self, p):
        return quantile([s for r in self.runs for s in slowest(r)], p)

    def median(self):
        return statistics.median(statistics.median(slowest(r)) for r in self.runs)

    def rate(self):
        rates = []
        for r in self.runs:
            trained = [k for k in r["ranks"] if k["step_ns"]]
            # One series tells of all ranks.
            ranks = len(trained) if len(r["ranks"]) > 1 else self.configuration["ranks"]
            examples = ranks * self.configuration["batch_size"] * len(slowest(r))
            rates.append(examples * 1e9 / max(k["window_ns"] for k in trained))
        return statistics.median(rates)

    def exposed(self):
        differences = []
        for r in self.runs:
            alone = [k["compute_only_step_ns"] for k in r["ranks"] if k["compute_only_step_ns"]]
            if not alone or wire_bytes(r) == 0:
                continue
            compute = [max(step) / 1e9 for step in zip(*alone)]
            paired = [k for k in r["ranks"] if k.get("pair_of_step")]
            if not paired:
                differences.append(statistics.median(slowest(r)) - statistics.median(compute))
                continue
            steps = [max(step) / 1e9 for step in zip(*(k["paired_step_ns"] for k in paired))]
            numbers = paired[0]["pair_of_step"]
            pairs = [
                statistics.median(s for s, n in zip(steps, numbers) if n == pair)
                - statistics.median(s for s, n in zip(compute, numbers) if n == pair)
                for pair in sorted(set(numbers))
            ]
            differences.append(statistics.median(
                (a + b) / 2 for i, a in enumerate(pairs) for b in pairs[i:]))
        return statistics.median(differences) if differences else None


def cases_of(records):
    """As the page groups them: by origin, experiment and configuration."""
    groups = {}
    for record in records:
        configuration = {k: v for k, v in record["configuration"].items() if k != "label"}
        if not configuration.pop("discard"):
            key = json.dumps([record["source"], record["experiment"], configuration])
            groups.setdefault(key, []).append(record)
    tables = {}
    for runs in groups.values():
        c = runs[0]["configuration"]
        tables.setdefault((c["model"], c["batch_size"]), []).append(Case(runs))
    return list(tables.values())
