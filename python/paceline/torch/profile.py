# SPDX-License-Identifier: Apache-2.0
"""Profiles any PyTorch model into a file that paceline reads.

    python3 -m paceline.torch.profile package.module:factory --output my.profile.json

`factory()` returns (model, batch) or (model, batch, loss): the module, its
input (a tensor, a tuple of positional or a dict of named ones), and a function
from the model's output to a scalar (the sum of all floating-point outputs where
it is left out).  docs/profile.md.
"""

import argparse
import datetime
import importlib
import json
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Mapping

# torch warns of a missing NumPy, which nothing here needs.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

import torch

TYPES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}


class UsageError(Exception):
    """The user's factory or a flag is invalid."""


def first_line(error):
    """Returns the type of an exception and the first line of its message."""
    words = str(error).strip().splitlines()
    return f"{type(error).__name__}{': ' + words[0] if words else ''}"


def load(spec):
    """Imports the factory `module:name` from the working directory or sys.path."""
    module, colon, name = spec.partition(":")
    if not colon or not name:
        raise UsageError(f"'{spec}': write MODULE:FACTORY")
    sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # the user's module may raise anything
        raise UsageError(f"'{spec}': {first_line(error)}") from error


def sum_of(output):
    """Returns a scalar that depends on every floating-point tensor of an output."""
    if isinstance(output, torch.Tensor):
        return output.float().sum() if output.is_floating_point() else 0
    values = output.values() if isinstance(output, dict) else output
    return sum(sum_of(value) for value in values if value is not None)


class Subject:
    """The model with its trainable parameters and the modules that own them."""

    def __init__(self, made):
        if not isinstance(made, tuple) or len(made) not in (2, 3):
            raise UsageError("the factory must return (model, batch[, loss])")
        if not isinstance(made[0], torch.nn.Module):
            raise UsageError(
                "the factory must return (model, batch[, loss]), and its model "
                f"is a {type(made[0]).__name__}, not a torch.nn.Module"
            )
        self.model, batch = made[0], made[1]
        self.named = dict(batch) if isinstance(batch, Mapping) else {}
        self.batch = batch if isinstance(batch, tuple) else (batch,)
        if isinstance(batch, Mapping):
            self.batch = ()
        self.loss = made[2] if len(made) == 3 else sum_of
        self.model.train()
        self.make_lazy_parameters()
        trained = {
            name: parameter
            for name, parameter in self.model.named_parameters()
            if parameter.requires_grad
        }
        self.parameters = {n: p for n, p in trained.items() if p.numel() > 0}
        # kinds of differences between the profile and the model, with the parameters that they
        # concern
        self.remarks = {}
        self.remark(
            "left out, without elements", trained.keys() - self.parameters.keys()
        )
        if not self.parameters:
            raise UsageError("the model has no parameter that is trained")
        self.dtype = self.most_common_type()
        self.device = next(iter(self.parameters.values())).device
        self.owners = {}  # for each module name: the parameters that the module itself owns
        for name in self.parameters:
            self.owners.setdefault(name.rpartition(".")[0], []).append(name)

    def make_lazy_parameters(self):
        """Runs a forward pass if there are lazy modules, whose parameters do not exist
        before it."""
        lazy = torch.nn.parameter.UninitializedParameter
        if any(isinstance(p, lazy) for p in self.model.parameters()):
            try:
                with torch.no_grad():
                    self.model(*self.batch, **self.named)
            except Exception as error:
                raise UsageError(
                    f"the model rejects the batch: {first_line(error)}"
                ) from error

    def remark(self, kind, names):
        if names:
            self.remarks[kind] = [n for n in self.model_names() if n in names]

    def model_names(self):
        return [name for name, _ in self.model.named_parameters()]

    def most_common_type(self):
        """Returns the type of most elements; a profile has one type for all parameters.
        """
        elements = dict.fromkeys(TYPES, 0)
        for name, parameter in self.parameters.items():
            if parameter.dtype not in TYPES:
                raise UsageError(
                    "parameters must be of fp32, fp16 or bf16, and "
                    f"'{name}' is of {parameter.dtype}"
                )
            elements[parameter.dtype] += parameter.numel()
        most = max(elements, key=elements.get)
        for dtype, kind in TYPES.items():
            self.remark(
                f"of {kind}, counted as {TYPES[most]}",
                {
                    name
                    for name, parameter in self.parameters.items()
                    if parameter.dtype == dtype != most
                },
            )
        return TYPES[most]

    def remark_on_gradients(self):
        """Adds remarks about sparse and missing gradients, after a backward pass."""
        sparse = {
            name
            for name, parameter in self.parameters.items()
            if parameter.grad is not None and parameter.grad.is_sparse
        }
        self.remark("with a sparse gradient, counted as dense", sparse)
        absent = {n for n, p in self.parameters.items() if p.grad is None}
        self.remark("without a gradient, counted as if it crossed", absent)

    def remark_text(self):
        """Returns all remarks as the end of a sentence; "" if there are none."""
        return "".join(
            f"; {kind}: {', '.join(names)}"
            for kind, names in self.remarks.items()
        )

    def now(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return time.perf_counter_ns()

    def output_loss(self):
        return self.loss(self.model(*self.batch, **self.named))

    def batch_size(self):
        for value in [*self.batch, *self.named.values()]:
            if isinstance(value, torch.Tensor) and value.dim() > 0:
                return value.shape[0]
        return 1

    def watched(self, on_enter, on_ready):
        """Adds hooks to every owner's forward pass and every parameter's gradient."""
        modules = dict(self.model.named_modules())
        handles = [
            modules[name].register_forward_pre_hook(
                lambda _module, _input, name=name: on_enter(name)
            )
            for name in self.owners
            if name
        ]
        handles += [
            parameter.register_post_accumulate_grad_hook(
                lambda _parameter, name=name: on_ready(name)
            )
            for name, parameter in self.parameters.items()
        ]
        return handles


def step(subject):
    """Runs one step; returns the times of modules and parameters in ns, in their orders.
    """
    entered, ready = {}, {}
    last = 0

    def on_enter(name):
        if name not in entered:
            entered[name] = subject.now()

    def on_ready(name):
        nonlocal last
        now = subject.now()
        ready[name] = ready.get(name, 0) + now - last
        last = now

    handles = subject.watched(on_enter, on_ready)
    if "" in subject.owners:
        on_enter("")  # the parameters that the root module itself owns
    loss = subject.output_loss()
    last = turn = subject.now()
    loss.backward()
    for handle in handles:
        handle.remove()
    subject.remark_on_gradients()
    subject.model.zero_grad(set_to_none=True)
    ends = [*list(entered.values())[1:], turn]
    forward = {n: e - b for (n, b), e in zip(entered.items(), ends)}
    return forward, ready


def update_us(subject, repeats):
    """Returns the median time in microseconds of one SGD update with momentum."""
    optimizer = torch.optim.SGD(
        subject.parameters.values(), lr=0.0, momentum=0.9
    )
    times = []
    for _ in range(repeats + 1):
        for parameter in subject.parameters.values():
            parameter.grad = torch.zeros_like(parameter)
        began = subject.now()
        optimizer.step()
        times.append(subject.now() - began)
    subject.model.zero_grad(set_to_none=True)
    return statistics.median(times[1:]) / 1000


def peak_memory():
    """Returns the process's peak resident bytes if /proc has them."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def busy_machine():
    """Returns a remark for the profile's origin if other programs compute at the same
    time."""
    load, cores = os.getloadavg()[0], os.cpu_count()
    own = torch.get_num_threads()
    if load <= cores or load < own + 1:
        return ""
    return f"; busy-machine: a load average of {load:.0f} on {cores} cores"


def profile_modules_of(subject, forward, ready):
    """Returns, for each module that owns parameters, the module to which the profile adds its time.

    If the parameters of a module are used but its own forward is never called
    (nn.MultiheadAttention's out_proj), its time counts for the nearest enclosing module that is
    called, else for the first module. A module that nothing uses counts for itself.
    """
    homes = {}
    for owner, parameters in subject.owners.items():
        home = owner
        if home not in forward and any(p in ready for p in parameters):
            while home and home not in forward:
                home = home.rpartition(".")[0]
            if home not in forward and forward:
                home = next(iter(forward))
        homes[owner] = home if home in forward else owner
    return homes


def profile(subject, name, warmup, steps):
    for _ in range(warmup):
        step(subject)
    measured = [step(subject) for _ in range(steps)]
    forward, ready = measured[-1]
    homes = profile_modules_of(subject, forward, ready)
    modules = [*forward, *(m for m in homes.values() if m not in forward)]
    order = list(ready) + [p for p in subject.parameters if p not in ready]

    def median_us(key, index):
        return statistics.median(m[index].get(key, 0) for m in measured) / 1000

    threads = torch.get_num_threads()
    return {
        "paceline_profile": 1,
        "model": name,
        "origin": f"paceline.torch.profile, PyTorch {torch.__version__} on "
        f"{platform.node()}, {threads} thread{'' if threads == 1 else 's'}, "
        f"{datetime.date.today()}{busy_machine()}{subject.remark_text()}",
        "device": subject.device.type,
        "dtype": subject.dtype,
        "batch_size": subject.batch_size(),
        "update_us": update_us(subject, steps),
        "peak_memory_bytes": peak_memory(),
        "modules": [
            {
                "name": module or "(root)",
                "forward_us": median_us(module, 0),
            }
            for module in modules
        ],
        "parameters": [
            {
                "name": parameter,
                "sizes": list(tensor.shape) or [1],
                "module": homes[parameter.rpartition(".")[0]] or "(root)",
                "backward_us": median_us(parameter, 1),
            }
            for parameter, tensor in subject.parameters.items()
        ],
        "ready_order": order,
    }


def check_writable(path):
    """Raises UsageError unless `path` can be written; leaves no new file."""
    there = os.path.exists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror}") from error
    if not there:
        os.remove(path)


def subject_from_factory(spec):
    """Returns the checked result of the factory."""
    factory = load(spec)
    try:
        made = factory()
    except Exception as error:
        raise UsageError(f"'{spec}' raised {first_line(error)}") from error
    return Subject(made)


def try_step(subject):
    """Runs one step, so that errors of the model are reported in one sentence."""
    try:
        step(subject)
    except Exception as error:
        kinds = ", ".join(
            type(value).__name__
            for value in [*subject.batch, *subject.named.values()]
        )
        raise UsageError(
            f"the model, its loss or its backward rejects the batch ({kinds}): "
            f"{first_line(error)}"
        ) from error


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("factory", metavar="MODULE:FACTORY")
    parser.add_argument("--output", metavar="FILE")
    parser.add_argument("--name", help="of the model in the file")
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.threads > 0:
        torch.set_num_threads(arguments.threads)
    name = arguments.name or arguments.factory.rpartition(":")[2]
    try:
        if arguments.steps < 1 or arguments.warmup < 0:
            raise UsageError("--steps must be at least 1, --warmup 0")
        path = arguments.output or f"{name}.profile.json"
        if arguments.output == "":
            raise UsageError("--output: is empty; leave it out, or give a FILE")
        check_writable(path)
        subject = subject_from_factory(arguments.factory)
        try_step(subject)
        result = profile(subject, name, arguments.warmup, arguments.steps)
    except UsageError as error:
        print(f"paceline.torch.profile: {error}", file=sys.stderr)
        return 2
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    for kind, names in subject.remarks.items():
        print(
            f"paceline.torch.profile: warning: {kind}: {', '.join(names)}",
            file=sys.stderr,
        )
    print(f"profile: {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
