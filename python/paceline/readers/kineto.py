# SPDX-License-Identifier: Apache-2.0
"""The collectives in a trace of PyTorch's profiler: NCCL's kernels, to which PyTorch (2.2 and later) attaches
what record_param_comms says, and Gloo's operations.

A trace is of one rank. A duration is that of the kernel on this rank, including the time that the
kernel waits for other ranks. The reduction operator is not known: NCCL's kernels are named for sums
even if they perform another reduction (src/device/generate.py).
"""

import ast
import math
import re

from .checks import Invalid, check_count, one_of, shown
from .collective import bus_factor
from .json_text import member
from .kineto_trace import Event, Trace, recognizes
from .record import comm_record, warning

NAME = "kineto"
_BYTES = {"Byte": 1, "Char": 1, "Bool": 1, "Float8_e4m3fn": 1, "Float8_e5m2": 1, "Float8_e4m3fnuz": 1,
          "Float8_e5m2fnuz": 1, "Half": 2, "BFloat16": 2, "Short": 2, "Int": 4, "Float": 4, "Long": 8, "Double": 8,
          "ComplexFloat": 8, "ComplexDouble": 16}  # fmt: skip
# Gloo's operations have the names of Caffe2's types.
_TYPES = {"float": "Float", "double": "Double", "c10::Half": "Half", "c10::BFloat16": "BFloat16", "int": "Int",
          "long int": "Long", "unsigned char": "Byte", "signed char": "Char", "bool": "Bool"}  # fmt: skip
_OPERATIONS = {
    **dict.fromkeys(("allreduce", "allreduce_coalesced"), "all-reduce"),
    **dict.fromkeys(("allgather", "all_gather", "_allgather_base", "allgather_into_tensor_coalesced"), "all-gather"),
    **dict.fromkeys(("reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced"), "reduce-scatter"),
    **dict.fromkeys(("broadcast", "_broadcast_oop"), "broadcast"),
    **dict.fromkeys(("send", "recv"), "message"),
}
_GLOO = {"gloo:all_reduce": "all-reduce", "gloo:broadcast": "broadcast", "gloo:all_gather": "all-gather"}
_KERNEL = re.compile(r"nccl\w*Kernel|rccl")  # ncclKernel_, ncclDevKernel_, ncclSymDevKernel_, ncclSymkDevKernel_
_FORMULA = "durations of the operation on rank {}, with the time that it waits for other ranks; bandwidth: size / median"


def read(source):
    trace = Trace(source)
    found, left_out, seen = {}, {}, set()
    for event in trace.events:
        key = _nccl_operation(event, trace, left_out) or _gloo_operation(event, trace, left_out)
        if not key:
            continue
        when = event.begin, event.end, event.thread, event.name
        if event.ns <= 0 or when in seen:
            fault = "is there twice" if when in seen else f"has a duration of {event.ns:g} ns"
            raise Invalid(source, f"the event '{shown(event.name, 40)}' {fault}")
        seen.add(when)
        found.setdefault(key, []).append(max(1, round(event.ns)))
    for what, number in left_out.items():
        source.note(source, f"{number} {what}, left out")
    if not found:
        raise Invalid(
            source,
            "has no collective of NCCL or Gloo with its size; python3 -m paceline.readers.kineto_profile makes "
            "a layer profile of a trace",
        )
    for key, times in found.items():
        yield _record(key, times, trace)


def _count(left_out: dict, what: str) -> None:
    left_out[what] = left_out.get(what, 0) + 1


def _nccl_operation(event: Event, trace: Trace, left_out: dict):
    """Returns (engine, device, operation, bytes, dtype, ranks, group) of a kernel of NCCL."""
    args, place = event.args, trace.place
    if event.kind != "kernel" or not (_KERNEL.match(event.name) or "Collective name" in args):
        return None
    if not _KERNEL.match(event.name):
        _count(left_out, f"kernels '{shown(event.name, 40)}' of operations, which are not NCCL's")
        return None
    if "Collective name" not in args:
        _count(left_out, "kernels of NCCL without their sizes (of PyTorch before 2.2, or without a CPU trace)")
        return None
    name = member(args, "Collective name", str, place)
    if name not in _OPERATIONS:
        _count(left_out, f"kernels of '{shown(name, 40)}', which is not an operation of Paceline")
        return None
    operation = _OPERATIONS[name]
    ranks = member(args, "Group size", int, place)
    group = _group(args, ranks, trace)
    dtype = member(args, "dtype", str, place)
    width = _width(dtype, trace)
    into, out = (member(args, key, int, place) for key in ("In msg nelems", "Out msg nelems"))
    size = width * _elements(operation, into, out, ranks, place)
    return "rccl" if trace.is_of_amd else "nccl", "cuda", operation, size, dtype.lower(), ranks, group


def _elements(operation: str, into: int, out: int, ranks: int, place) -> int:
    """Returns the elements of the longer side, and checks that both sides fit together."""
    factors = {"all-gather": (ranks, 1), "reduce-scatter": (1, ranks)}.get(operation, (1, 1))
    if into < 1 or out < 1 or (operation != "message" and into * factors[0] != out * factors[1]):
        raise Invalid(
            place, f"{operation} of {ranks} ranks: In msg nelems {into} and Out msg nelems {out} contradict each other"
        )
    return max(into, out)


def _group(args: dict, ranks: int, trace: Trace) -> object:
    if not 1 <= ranks < 10**6:
        raise Invalid(trace.place, f"Group size: {ranks} is not a number of ranks")
    groups, key = trace.groups, "Process Group Name"  # PyTorch 2.2 says neither
    name = member(args, key, str, trace.place) if groups or key in args else None
    listed = args.get("Process Group Ranks")
    if isinstance(listed, str) and "..." not in listed:
        try:
            members = ast.literal_eval(listed)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise Invalid(trace.place, f"Process Group Ranks: '{shown(listed, 60)}' is not a list") from None
        if isinstance(members, list) and members:
            check_count(ranks, len(members), "ranks (Group size)", trace.place, " as Process Group Ranks")
    if groups:
        size = one_of(name, groups, "process group of the trace (pg_config)", trace.place)
        check_count(size, ranks, f"ranks of the group {name}", trace.place, " as Group size")
    return name


def _gloo_operation(event: Event, trace: Trace, left_out: dict):
    """Returns the tuple that _nccl_operation() returns, for an operation of Gloo. The group is the world,
    because traces with other groups are left out."""
    if not event.name.startswith("gloo:"):
        return None
    world, groups = trace.world.get("world_size"), trace.world.get("pg_count")
    if event.name not in _GLOO:
        _count(left_out, f"operations '{shown(event.name, 40)}', which are not of Paceline or of a size that a trace does not say")
        return None
    if not isinstance(world, int) or groups != 1 or not 1 <= world < 10**6:
        _count(left_out, "operations of Gloo whose ranks the trace does not say")
        return None
    dims, types = event.args.get("Input Dims"), event.args.get("Input type")
    if not _are_tensors(dims) or not isinstance(types, list) or len(types) != len(dims) or len(set(map(str, types))) != 1:
        _count(left_out, "operations of Gloo without their sizes (record_shapes=True writes them), or of several types")
        return None
    dtype = _TYPES.get(types[0], str(types[0]))
    elements = sum(math.prod(one) for one in dims)  # for a coalesced operation, those of all its tensors
    size = _width(dtype, trace) * elements * (world if event.name == "gloo:all_gather" else 1)  # its input is one rank's
    if not 1 <= size < 2**50:
        raise Invalid(trace.place, f"{event.name}: a size of {size} bytes")
    return "gloo", "cpu", _GLOO[event.name], size, dtype.lower(), world, "0"


def _are_tensors(dims) -> bool:
    tensors = dims if isinstance(dims, list) and dims else [None]
    return all(isinstance(one, list) and all(isinstance(n, int) and n >= 0 for n in one) for one in tensors)


def _width(dtype: str, trace: Trace) -> int:
    if dtype not in _BYTES:
        raise Invalid(trace.place, f"dtype: '{shown(dtype, 40)}' is not known; known are {', '.join(_BYTES)}")
    return _BYTES[dtype]


def _record(key: tuple, times: list, trace: Trace) -> dict:
    engine, device, operation, size, dtype, ranks, _ = key
    rank = trace.world.get("rank")
    return comm_record(
        iteration_ns=times,
        bytes=size,
        bus_factor=bus_factor(operation, ranks),
        operation=operation,
        ranks=ranks,
        engine=engine,
        device=device,
        dtype=dtype,
        mean_of=1 if len(times) == 1 else None,
        formula=_FORMULA.format(rank if isinstance(rank, int) else "?"),
        warnings=[
            warning(
                "waits-included",
                "the durations are those of one rank of a training",
                "a rank that comes first waits in the operation for the last one, and other kernels may run beside it",
                "compare ranks, or measure the operation alone (`paceline comm`)",
            )
        ],
    )


__all__ = ["NAME", "read", "recognizes"]
