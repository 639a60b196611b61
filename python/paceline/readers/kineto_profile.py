# SPDX-License-Identifier: Apache-2.0
"""python3 -m paceline.readers.kineto_profile TRACE --output FILE: converts a trace of PyTorch's
profiler into a layer profile.

`paceline predict FILE` reads the profile as a network (docs/profile.md). The trace must come from
profile(record_shapes=True, schedule=...) with a profiler.step() after each step. A trace names
operators, not modules. Therefore a module of the profile is an operator that owns parameters
(conv2d_0, linear_1, ...), and its parameters are p0, p1, ... They are found by the gradients that
AccumulateGrad receives after the backward node with the operator's sequence number. If the trace
has kernels of a GPU, the times are those of the kernels, except NCCL's; else they are the
host's."""

import argparse
import json
import os
import statistics
import sys

from .checks import Invalid, shown
from .kineto_steps import Step, steps_of
from .kineto_trace import Trace, recognizes
from .lines import open_source

_TYPES = {"float": "fp32", "c10::BFloat16": "bf16", "c10::Half": "fp16"}


def profile_of(source, model: str, batch_size: int = None) -> dict:
    """Returns the profile in the form of docs/profile.md: medians over the steps of the trace."""
    if not recognizes(source):
        raise Invalid(source, "is no trace of PyTorch's profiler")
    trace = Trace(source)
    steps = steps_of(trace)
    first = steps[0]
    for one in steps[1:]:
        if one.layout() != first.layout():
            raise Invalid(source, f"{one.name} has other operators, parameters, samples or orders than {first.name}")
    dtype, others = _dtype(first, source)
    modules = [
        {"name": name, "forward_us": _median(one.forward_ns[k] for one in steps)}
        for k, name in enumerate(first.modules)
    ]
    parameters = [
        {
            "name": parameter.name,
            "sizes": parameter.sizes or [1],
            "module": parameter.module,
            "backward_us": _median(one.backward_ns[parameter.name] for one in steps),
        }
        for parameter in first.in_order()
    ]
    update = [one.update_ns for one in steps if one.update_ns is not None]
    return {
        "paceline_profile": 1,
        "model": model,
        "origin": _origin(trace, steps, others),
        "device": "cuda" if first.on_gpu else "cpu",
        "dtype": dtype,
        "batch_size": _batch_size(first, batch_size, source),
        "update_us": _median(update) if len(update) == len(steps) else None,
        "peak_memory_bytes": None,
        "modules": modules,
        "parameters": parameters,
        "ready_order": [parameter.name for parameter in first.parameters],
    }


def _median(values) -> float:
    return round(statistics.median(values) / 1000, 6)


def _dtype(step: Step, source) -> tuple:
    """Returns the type of most elements, and the names of the parameters that have another type."""
    elements = {}
    for one in step.parameters:
        if one.dtype not in _TYPES:
            raise Invalid(source, f"a gradient of type '{shown(one.dtype, 40)}'; known are {', '.join(_TYPES)}")
        elements[one.dtype] = elements.get(one.dtype, 0) + one.elements
    most = max(elements, key=elements.get)
    return _TYPES[most], [one.name for one in step.parameters if one.dtype != most]


def _batch_size(step: Step, given, source) -> int:
    if given is None and step.batch is None:
        raise Invalid(source, "the first operator does not say the batch; --batch-size does")
    if given is not None and step.batch is not None and step.batch % given != 0:
        raise Invalid(source, f"--batch-size {given}: the first operator's input is of {step.batch} rows, no multiple of it")
    return given or step.batch


def _origin(trace: Trace, steps: list, others: list) -> str:
    world = trace.world.get("world_size")
    said = f"{os.path.basename(trace.place)}, {len(steps)} steps of PyTorch's profiler"
    if isinstance(world, int) and world > 1:
        said += f", of one of {world} ranks, whose communication ran beside it"
    if others:
        said += f"; of another type, counted as the profile's: {', '.join(others)}"
    return said


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m paceline.readers.kineto_profile",
        description="Makes a layer profile, which paceline predict takes, of a trace of PyTorch's profiler.",
    )
    parser.add_argument("trace", metavar="TRACE", help="a Chrome trace of Kineto, also as .gz")
    parser.add_argument("--output", metavar="FILE", help="the profile; left out: stdout")
    parser.add_argument("--model", metavar="NAME", help="its name; left out: the trace's file name")
    parser.add_argument("--batch-size", type=int, metavar="N", help="samples of a step, where the trace does not say them")
    given = parser.parse_args(arguments)
    name = given.model or os.path.basename(given.trace).split(".")[0]
    if given.batch_size is not None and given.batch_size < 1:
        parser.error(f"--batch-size: {given.batch_size} is less than 1")
    try:
        text = json.dumps(profile_of(open_source(given.trace), name, given.batch_size), indent=1) + "\n"
        if given.output:
            with open(given.output, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            print(text, end="")
    except Invalid as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{given.output}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
