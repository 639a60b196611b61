# SPDX-License-Identifier: Apache-2.0
"""Reads the `:::MLLOG` lines of MLPerf Training (mlcommons/logging) as one record, with one value
for each block."""

import json
import os

from .checks import Invalid, shown
from .json_text import number, parse
from .mllog_block import member, throughput
from .mllog_blocks import blocks_of
from .record import rank, run_record, warning

NAME = "mllog"
_PREFIX = ":::MLLOG "
_BATCH_OF_TOKENS = ("transformer",)
_WHOLE = ("global_batch_size", "number_of_nodes", "accelerators_per_node", "max_sequence_length",
          "gradient_accumulation_steps", "train_samples", "seed")  # fmt: skip


def recognizes(source) -> bool:
    return _PREFIX in source.text


def read(source):
    events = list(_events(source))
    _check_one_training(events)
    facts = _facts(events)
    sequence, batch = facts.get("max_sequence_length"), facts.get("global_batch_size")
    if facts.get("submission_benchmark") in _BATCH_OF_TOKENS:
        raise Invalid(source, f"the global_batch_size of {facts['submission_benchmark']} counts tokens, and its epochs sentences")
    blocks = blocks_of(events, facts, source)
    rates = _rates(events)
    if blocks and not (rates and blocks[0].is_epoch):
        if batch is None:
            raise Invalid(source, "global_batch_size is missing: nobody knows the steps of a block")
        step_ns = [round(1e6 * one.ms * batch / one.samples) for one in blocks]
        formula = "each value is the mean step of a block: its clock x global batch / its samples"
    elif rates:
        if sequence and not blocks:
            raise Invalid(rates[0].place, "no block has samples and a clock, so nobody knows whether this throughput "
                          "counts samples or tokens")  # fmt: skip
        if batch is None:
            raise Invalid(source, "global_batch_size is missing: a throughput alone is no step time")
        step_ns = [round(1e9 * batch / one.value) for one in rates]
        formula = "each value is a global batch at a throughput that the log names"
    else:
        raise Invalid(source, "has neither a block with samples nor a throughput, so there is no rate")
    if min(step_ns) < 1:
        raise Invalid(source, "a step of less than 1 ns")
    yield _record(facts, step_ns, batch, formula, _status(events), source)


def _events(source):
    for line in source.lines:
        at = line.text.find(_PREFIX)
        if at >= 0:
            event = parse(line.text[at + len(_PREFIX) :], line.path, line.number)
            if not isinstance(event, dict) or not isinstance(event.get("key"), str):
                raise Invalid(line, "is an event without a key")
            yield event, line


def _check_one_training(events: list) -> None:
    """Rejects logs of several trainings: MLPerf HPC trains many instances side by side into one log, and other logs
    were joined."""
    instances, ended = {}, None
    for event, line in events:
        for key in ("instance_id", "instance"):
            instances.setdefault(str(member(event, key)), line)
        if ended and event["key"] == "run_start":
            raise Invalid(line, f"begins a second training, after the end of one in line {ended.number}: a file of several "
                          "trainings is read from a file for each")  # fmt: skip
        ended = ended or (line if event["key"] == "run_stop" else None)
    known = [name for name in instances if name != "None"]
    if len(known) > 1:
        raise Invalid(instances[known[1]], f"is of instance {shown(known[1])}, and earlier lines are of "
                      f"{shown(known[0])}: a file of several trainings is read from a file for each")  # fmt: skip


def _facts(events: list) -> dict:
    """Returns the values of point-in-time events by key: the batch, the devices, the submitter.  A key of the
    configuration must have one value."""
    facts = {}
    for event, line in events:
        key, value = event["key"], event.get("value")
        alone = event.get("event_type", "POINT_IN_TIME") == "POINT_IN_TIME" and isinstance(value, (str, int, float))
        if not alone or key in ("eval_accuracy", "throughput", "weights_initialization"):
            continue
        if key in _WHOLE:
            said = number(value, line, key, least=0 if key == "seed" else 1)
            if said.exact != said.exact.to_integral_value():
                raise Invalid(line, f"{key}: {said.text} is not an integer")
            value = int(said.exact)
            if key != "seed" and facts.get(key, value) != value:
                raise Invalid(line, f"{key} is {value} here, and {facts[key]} before")
        facts.setdefault(key, value)
    return facts


def _rates(events: list) -> list:
    """Returns the throughputs in tracked_stats, else those in separate lines."""
    found = [(event["key"], throughput(event, line)) for event, line in events]
    tracked = [rate for key, rate in found if rate and key == "tracked_stats"]
    return tracked or [rate for _, rate in found if rate]


def _status(events: list):
    said = [member(event, "status") for event, _ in events if event["key"] == "run_stop"]
    return said[-1] if said and isinstance(said[-1], str) else None


def _devices(facts: dict, warnings: list, source) -> dict:
    nodes, each = facts.get("number_of_nodes"), facts.get("accelerators_per_node")
    if nodes is None or each is None or nodes * each > 10**6:
        warnings.append(
            warning("devices-unknown", "the log does not say how many devices there were",
                    "the rate is that of all of them", "compare it with rates of the same platform alone")  # fmt: skip
        )
        return {}
    batch = facts.get("global_batch_size")
    known = {"ranks": nodes * each, "ranks_per_host": [each] * nodes}
    if batch and batch % (nodes * each) == 0:
        known["batch_size"] = batch // (nodes * each)
    return known


def _record(facts: dict, step_ns: list, batch: int, formula: str, status, source) -> dict:
    warnings = []
    known = _devices(facts, warnings, source)
    if status != "success":
        seen = f"run_stop has the status '{shown(status)}'" if status else "the log has no status of run_stop"
        warnings.append(warning("run-not-successful", seen, "the training did not reach its target",
                                "take the rate as that of an unfinished training"))  # fmt: skip
    said = {key: value if isinstance(value, str) else json.dumps(value) for key, value in facts.items()}
    if status:
        said["run_status"] = status
    known |= {
        "label": said.get("submission_platform", "mlperf"),
        "framework": said.get("submission_platform", "mlperf"),
        "model": said.get("submission_benchmark", os.path.basename(source.path).split(".")[0]),
        "steps": len(step_ns),
        "sequence_length": facts.get("max_sequence_length"),
        "accumulate": facts.get("gradient_accumulation_steps"),
    }
    return run_record(
        {key: value for key, value in known.items() if value is not None},
        [rank(step_ns, examples_of_step=[batch] * len(step_ns))],
        experiment="mlperf",
        adapter={**said, "formula": formula},
        warnings=warnings,
    )
