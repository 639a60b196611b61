# SPDX-License-Identifier: Apache-2.0
"""Times of operators and gradients of a step, on the host or on the device."""

from .kineto_trace import Event, OrderedEvents, Trace


class Kernels:
    """Maps operators to the kernels that they launched, except those of NCCL; a trace of a CPU has
    none."""

    def __init__(self, trace: Trace):
        self._of = {}
        for one in trace.of("kernel"):
            if not one.name.startswith(("nccl", "rccl")) and "External id" in one.args:
                self._of.setdefault(str(one.args["External id"]), []).append(one)
        self.there = bool(self._of)

    def of(self, operators) -> list:
        return [kernel for one in operators for kernel in self._of.get(str(one.args.get("External id")), ())]


class HostTimes:
    """Gives the times at which events begin and end on the host."""

    def begin(self, event: Event):
        return event.begin

    def end(self, event: Event):
        return event.end

    def length(self, event: Event) -> float:
        return event.ns


class GpuTimes:
    """Gives the times, on the device, at which the kernels launched in an event begin and end; None
    if it launched none."""

    def __init__(self, inside: OrderedEvents, kernels: Kernels):
        self._inside, self._kernels = inside, kernels

    def _launched(self, event: Event) -> list:
        return self._kernels.of(self._inside.events_begun_in(event))

    def begin(self, event: Event):
        return min((one.begin for one in self._launched(event)), default=None)

    def end(self, event: Event):
        return max((one.end for one in self._launched(event)), default=None)

    def length(self, event: Event) -> float:
        return sum(one.ns for one in self._launched(event))


def _first_begin(nodes: list, clock) -> float:
    """Returns when the backward pass begins."""
    return next((begin for begin in map(clock.begin, nodes) if begin is not None), 0.0)


def forward_ns(owners: list, nodes: list, clock) -> list:
    """Returns, for each operator, the time from its beginning to that of the next operator; for the
    last one, to the beginning of the backward pass."""
    times, after = [], _first_begin(nodes, clock)
    for one in reversed(owners):
        begin = clock.begin(one)
        begin = after if begin is None else min(begin, after)
        times.append(after - begin)
        after = begin
    return times[::-1]


def backward_ns(ready: dict, nodes: list, clock) -> dict:
    """Returns times by the names in `ready`, {id(node): name}: each from the gradient that was ready before it; the
    first from the beginning of the backward pass."""
    found, now = {}, _first_begin(nodes, clock)
    last = now
    for node in nodes:
        end = clock.end(node)
        now = now if end is None else max(now, end)
        if id(node) in ready:
            found[ready[id(node)]] = now - last
            last = now
    return found
