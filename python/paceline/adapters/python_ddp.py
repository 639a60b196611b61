# SPDX-License-Identifier: Apache-2.0
"""One rank of Python's DistributedDataParallel, as an external command.

Environment in, JSON lines out: docs/adapters.md has the contract.
"""

import contextlib
import dataclasses
import os
import platform
import re
import sys
import time
import warnings

# torch warns of a missing NumPy, which nothing here needs.
warnings.filterwarnings("ignore", message="Failed to initialize NumPy")

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from paceline.adapters import formula
from paceline.adapters import networks
from paceline.adapters.case import UsageError, parse_case, rank_variable, reject_unsupported
from paceline.adapters.events import PhaseClock, ProgressReporter, clipping, emit
from paceline.adapters.norms import WeightNorms, stride_of


# For each name of src/paceline/plan/optimizer.h: the class of torch.optim, and the constants that
# differ from that class's defaults.
OPTIMIZERS = {
    "adam": (torch.optim.Adam, {}),
    "adamw": (torch.optim.AdamW, {}),
    "bert-adamw": (torch.optim.AdamW, {"eps": 1e-6}),
    "rmsprop": (torch.optim.RMSprop, {}),
    "adagrad": (torch.optim.Adagrad, {}),
    "adadelta": (torch.optim.Adadelta, {}),
}


def _attention_flops(query, key, value, *_, **__):
    """Returns the FLOPs of the attention kernel for CPUs, which PyTorch's own counter
    leaves out."""
    return sdpa_flop_count(query, key, value)


def device_of(case):
    """Returns this rank's device and makes it current.  Also sets the number of threads.
    """
    if case.threads > 0:
        torch.set_num_threads(case.threads)
    if case.device != "cuda":
        return torch.device("cpu")
    local = rank_variable("LOCAL_RANK") % torch.cuda.device_count()
    torch.cuda.set_device(local)
    return torch.device("cuda", local)


class Rank:
    """One rank's network, optimizer and batches, and the function that trains one step."""

    name = "pytorch-ddp"
    exchange = "DistributedDataParallel"

    def __init__(self, case):
        self.case = case
        self.rank = rank_variable("RANK")
        self.world = rank_variable("WORLD_SIZE")
        self.device = device_of(case)
        dist.init_process_group(case.engine, init_method="env://")
        self.micro_batches = self.make_micro_batches()
        network = self.make_network()
        self.parameter_count = sum(p.numel() for p in network.parameters())
        self.flops = self.count_flops(network)
        # The optimizer is made before the network is wrapped, as in the original benchmark.
        self.optimizer = self.make_optimizer(network)
        self.model = self.wrap(network)
        self.scaler = None
        if case.dtype == "amp" and case.device == "cuda":
            self.scaler = torch.amp.GradScaler("cuda")

    @property
    def best(self):
        return self.case.options == "best"

    @property
    def tensor_dtype(self):
        return torch.bfloat16 if self.case.dtype == "bf16" else torch.float32

    def make_network(self):
        case = self.case
        info = networks.NETWORKS[case.model]
        torch.manual_seed(case.seed)
        network = info.make(
            case.image_size or info.image_size,
            case.classes or info.classes,
            0.0 if case.start == "formula" else case.dropout,
        )
        if "formula" in (case.dump, case.start):
            formula.fill_by_formula(network, case.seed)
        elif case.dump == "integers":
            formula.fill_with_integers(network, case.seed)
        layout = (
            torch.channels_last if case.channels_last else torch.preserve_format
        )
        return network.to(
            device=self.device, dtype=self.tensor_dtype, memory_format=layout
        )

    def make_micro_batches(self):
        case = self.case
        info = networks.NETWORKS[case.model]
        inputs, target = info.batch(
            case, self.rank, integers=case.dump == "integers"
        )
        layout = (
            torch.channels_last
            if case.channels_last and not info.reads_text
            else torch.preserve_format
        )
        dtype = self.tensor_dtype if inputs.is_floating_point() else inputs.dtype
        parts = zip(inputs.chunk(case.accumulate), target.chunk(case.accumulate))
        return [
            (
                x.to(self.device, dtype, memory_format=layout),
                y.to(self.device),
            )
            for x, y in parts
        ]

    def count_flops(self, network):
        """Returns the FLOPs of the products in one sample's forward pass."""
        inputs, target = self.micro_batches[0]
        info = networks.NETWORKS[self.case.model]
        attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        network.eval()  # keeps statistics and random numbers unchanged
        with FlopCounterMode(
            display=False, custom_mapping={attention: _attention_flops}
        ) as counter, torch.no_grad():
            info.loss(network, inputs[:1], target[:1])
        network.train()
        return counter.get_total_flops()

    def make_optimizer(self, network):
        case = self.case
        # PyTorch's unfused and fused kernels round the last elements of a tensor differently;
        # Paceline's update rounds as the fused kernel.
        fused = True if self.best or self.case.dump != "none" else None
        if case.optimizer != "sgd":
            kind, constants = OPTIMIZERS[case.optimizer]
            if kind in (torch.optim.RMSprop, torch.optim.Adadelta):
                fused = None  # these optimizers have no fused kernel
            return kind(
                self.parameter_groups(network),
                lr=case.learning_rate,
                weight_decay=case.weight_decay,
                **constants,
                **({} if fused is None else {"fused": fused}),
            )
        if case.dtype == "bf16" and case.device == "cpu":
            # The fused kernel leaves whole vectors of bf16 parameters unchanged: pytorch#191763.
            fused = None
        sgd = torch.optim.SGD(
            network.parameters(),
            lr=case.learning_rate,
            momentum=case.momentum,
            weight_decay=case.weight_decay,
            fused=fused,
        )
        if fused and case.momentum:
            # If loss scaling skips the first step, the fused kernel leaves missing momentum
            # uninitialized.
            for parameter in network.parameters():
                sgd.state[parameter]["momentum_buffer"] = torch.zeros_like(
                    parameter
                )
        return sgd

    def parameter_groups(self, network):
        """Returns the groups of parameters; with `bert-adamw`, biases and normalizations have no
        weight decay."""
        parameters = list(network.parameters())
        if self.case.optimizer != "bert-adamw":
            return parameters
        groups = (
            {"params": [p for p in parameters if p.dim() > 1]},
            {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
        )
        return [group for group in groups if group["params"]]

    def wrap(self, network):
        index = self.device.index
        if self.case.compiled:
            network = torch.compile(network)
        with warnings.catch_warnings():
            # PyTorch 2.13 prefers a new name of this option, which older versions do not know
            warnings.simplefilter("ignore", FutureWarning)
            return DistributedDataParallel(
                network,
                device_ids=None if index is None else [index],
                broadcast_buffers=False,
                bucket_cap_mb=self.case.bucket_mb,
                gradient_as_bucket_view=self.best,
                # With a static graph, DDP fails an assertion if its first pass does not reduce.
                static_graph=self.best and self.case.accumulate == 1,
            )

    def autocast(self):
        if self.case.dtype != "amp":
            return contextlib.nullcontext()
        dtype = torch.float16 if self.case.device == "cuda" else torch.bfloat16
        return torch.autocast(self.case.device, dtype)

    def forward(self, micro_batch):
        integers = self.case.dump == "integers"
        info = networks.NETWORKS[self.case.model]
        with self.autocast():
            loss = info.loss(self.model, *micro_batch, integers=integers)
        return loss if integers else loss / self.case.accumulate

    def backward(self, loss):
        (self.scaler.scale(loss) if self.scaler else loss).backward()

    def zero_gradients(self):
        self.optimizer.zero_grad(set_to_none=True)

    def parameters_digest(self):
        """Returns a digest of the bits of all parameters; None if no rank has them all.
        """
        fingerprint = formula.fingerprint_all(self.whole_parameters())
        return f"{fingerprint:016x}"

    def whole_parameters(self):
        return self.optimizer_parameters()

    def whole_weights(self):
        """Returns the whole parameters of more than one dimension; None if no rank has
        them all."""
        return [p for p in self.whole_parameters() if p.dim() > 1]

    def sample_weights(self):
        """Returns the sample for WeightNorms."""
        weights = self.whole_weights()
        if weights is None:
            return None
        return [
            w.detach().reshape(-1)[:: stride_of(w.numel())].to("cpu", torch.float64)
            for w in weights
        ]

    def optimizer_parameters(self):
        for group in self.optimizer.param_groups:
            yield from group["params"]

    def clip(self):
        if self.case.clip_norm:
            if self.scaler:
                self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(
                list(self.optimizer_parameters()), self.case.clip_norm
            )

    def update(self):
        self.clip()
        if self.scaler:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()

    def step(self, clock, before_update=lambda: None):
        """Runs one step and returns its loss. `clock(phase)` records that a phase has ended."""
        # PyTorch's own DDP benchmark never zeroes the gradients of networks that read images.
        if not self.case.as_original or networks.NETWORKS[self.case.model].reads_text:
            self.zero_gradients()
        total = None
        for index, micro_batch in enumerate(self.micro_batches):
            is_last = index + 1 == len(self.micro_batches)
            with contextlib.nullcontext() if is_last else self.model.no_sync():
                loss = self.forward(micro_batch)
                clock("forward")
                self.backward(loss)
                clock("backward")
            total = loss.detach() if total is None else total + loss.detach()
        before_update()
        self.update()
        if self.case.sync_each_step:
            self.synchronize()
        clock("update")
        return total

    def synchronize(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def peak_memory_bytes(self):
        """Returns the peak of the device's allocator on cuda, of the process on cpu."""
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        with open("/proc/self/status", encoding="utf-8") as file:
            return int(re.search(r"VmHWM:\s+(\d+) kB", file.read())[1]) * 1024

    def exchange_facts(self):
        """Returns further keys of the event `end`, about the communicated bytes."""
        return {}

    def version(self):
        return torch.__version__

    def network_facts(self):
        """Returns those keys of the event `environment` that depend on the origin of the
        network."""
        info = networks.NETWORKS[self.case.model]
        layout = "NHWC" if self.case.channels_last else "NCHW"
        return {
            "data": "synthetic, one batch",
            "model_source": info.source(),
            "layout": None if info.reads_text else layout,
            "backend": dist.get_backend(),
            "case": dataclasses.asdict(self.case),
        }

    def emit_environment(self):
        cuda = self.device.type == "cuda"
        emit(
            "environment",
            framework=self.name,
            framework_version=self.version(),
            compiler="torch.compile" if self.case.compiled else None,
            exchange=self.exchange,
            parameters=self.parameter_count,
            flops=self.flops,
            clipping=clipping(self.case.clip_norm),
            loss_scaling="dynamic" if self.scaler else "none",
            python=platform.python_version(),
            cuda=torch.version.cuda,
            device_name=torch.cuda.get_device_name(self.device) if cuda else None,
            cpu_capability=torch.backends.cpu.get_cpu_capability(),
            host=platform.node(),
            rank=self.rank,
            world=self.world,
            threads=torch.get_num_threads(),
            **self.network_facts(),
        )


def measure(rank):
    """Measures the steps.  A step lasts from the start of its forward pass to that of the
    next one, less the time of the progress line between them.  The last step lasts to the
    end of the device's work."""
    case = rank.case
    alive = ProgressReporter()
    norms = WeightNorms(rank.sample_weights)
    losses = []
    for index in range(case.warmup):
        losses.append(rank.step(lambda phase: None))
        norms(index + 1, case.warmup)
        alive(index + 1)
    rank.synchronize()
    alive(case.warmup, now=True)
    clocks = []
    lines_ns = []
    for index in range(case.steps):
        clocks.append(PhaseClock())
        losses.append(rank.step(clocks[-1]))
        is_last = index + 1 == case.steps
        lines_ns.append(0 if is_last else alive(case.warmup + index + 1))
    rank.synchronize()
    starts_ns = [clock.start_ns for clock in clocks] + [time.perf_counter_ns()]
    steps_ns = [
        starts_ns[index + 1] - starts_ns[index] - lines_ns[index]
        for index in range(case.steps)
    ]
    for index, clock in enumerate(clocks):
        emit(
            "step",
            index=index,
            step_ns=steps_ns[index],
            phases_ns=clock.phases_ns,
        )
    peak_memory_bytes = rank.peak_memory_bytes()
    norms.note("last")
    emit(
        "end",
        peak_memory_bytes=peak_memory_bytes,
        window_ns=sum(steps_ns),
        loss_first=losses[0].item(),
        loss_fifth=losses[4].item() if len(losses) > 4 else None,
        loss=losses[-1].item(),
        parameters_digest=rank.parameters_digest(),
        **norms.found,
        **rank.exchange_facts(),
    )


def dump(rank):
    """Prints the fingerprints of every step's averaged gradients and updated parameters.
    """
    named = dict(rank.model.module.named_parameters())
    for index in range(rank.case.warmup + rank.case.steps):
        gradients = {}

        def before_update():
            for name, parameter in named.items():
                gradients[name] = f"{formula.fingerprint(parameter.grad):016x}"

        loss = rank.step(lambda phase: None, before_update)
        emit(
            "dump",
            index=index,
            loss=f"{formula.fingerprint(loss):016x}",
            gradients=gradients,
            parameters={
                name: f"{formula.fingerprint(parameter):016x}"
                for name, parameter in named.items()
            },
        )


def main(make_rank=Rank):
    try:
        case = parse_case(os.environ.get("PACELINE_CASE", "{}"))
        reject_unsupported(case)
        rank = make_rank(case)
        rank.emit_environment()
        if case.dump == "none":
            measure(rank)
        else:
            dump(rank)
        dist.destroy_process_group()
    except UsageError as error:
        emit("error", status="unsupported", message=str(error))
        return 2
    except Exception as error:  # Paceline must learn of any failure
        emit("error", message=f"{type(error).__name__}: {error}")
        return 3
    return 0


def leave(status):
    """Ends the process without the interpreter's shutdown, which a running thread of
    PyTorch would abort."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    leave(main())
