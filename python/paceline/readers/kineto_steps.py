# SPDX-License-Identifier: Apache-2.0
"""The steps of a trace: the operators that own parameters, in forward order, and the gradients in
the order in which they become ready."""

from dataclasses import dataclass, field

from .checks import Invalid, shown
from .kineto_times import GpuTimes, HostTimes, Kernels, backward_ns, forward_ns
from .kineto_trace import Event, OrderedEvents, Trace

_NODE = "autograd::engine::evaluate_function: "
_ACCUMULATE = "torch::autograd::AccumulateGrad"


@dataclass
class Parameter:
    module: str
    sizes: list
    dtype: str
    name: str = ""

    @property
    def elements(self) -> int:
        count = 1
        for one in self.sizes:
            count *= one
        return count


@dataclass
class Step:
    """Times in ns.  `parameters` are in the order in which their gradients become ready."""

    name: str
    on_gpu: bool
    batch: int = None
    modules: list = field(default_factory=list)  # names of modules, in forward order
    parameters: list = field(default_factory=list)
    forward_ns: list = field(default_factory=list)  # times in the order of `modules`
    backward_ns: dict = field(default_factory=dict)  # times by name of the parameter
    update_ns: float = None

    def layout(self) -> tuple:
        return self.batch, self.modules, [(one.name, one.sizes, one.dtype) for one in self.parameters]

    def in_order(self) -> list:
        """Returns the parameters sorted by module.  Within a module, parameters of more dimensions come first, as
        PyTorch's layers register them."""
        place = {name: k for k, name in enumerate(self.modules)}
        return sorted(self.parameters, key=lambda one: (place[one.module], -len(one.sizes)))


def steps_of(trace: Trace) -> list:
    marks = [one for one in trace.of("user_annotation") if one.name.startswith("ProfilerStep#")]
    if not marks:
        raise Invalid(trace.place, "has no ProfilerStep: give the profiler a schedule, and call profiler.step() after each step of the training")
    kernels = Kernels(trace)
    return [_step(mark, trace, kernels) for mark in marks]


def _sequence(event: Event):
    found = event.args.get("Sequence number")
    return found if isinstance(found, int) else None


def _outermost(events: list) -> list:
    """Returns the events that lie in no other event of their thread."""
    found, ends = [], {}
    for one in events:
        if one.begin >= ends.get(one.thread, 0.0):
            ends[one.thread] = one.end
            found.append(one)
    return found


def _step(mark: Event, trace: Trace, kernels: Kernels) -> Step:
    inside = OrderedEvents([one for one in trace.of("cpu_op") if mark.holds(one)])
    nodes = [one for one in inside.events if one.name.startswith(_NODE)]
    numbers = [number for number in map(_sequence, nodes) if number is not None]
    if not numbers:
        raise Invalid(trace.place, f"{mark.name} has no backward pass with its nodes' sequence numbers")
    if max(numbers) > numbers[0]:
        raise Invalid(trace.place, f"{mark.name} has several backward passes; trace steps without accumulation")
    forward = OrderedEvents([one for one in inside.events if one.begin < nodes[0].begin])
    owned = _gradients(nodes, inside, forward, mark, trace)  # (owner, Parameter, node)
    owners = sorted({id(owner): owner for owner, _, _ in owned}.values(), key=lambda one: one.begin)
    names = {id(one): f"{one.name.rpartition('::')[2]}_{k}" for k, one in enumerate(owners)}
    step = Step(mark.name, kernels.there, _batch(owners[0]), list(names.values()))
    for owner, parameter, _ in owned:
        parameter.module = names[id(owner)]
        parameter.name = f"{parameter.module}.p{sum(one.module == parameter.module for one in step.parameters)}"
        step.parameters.append(parameter)
    clock = GpuTimes(inside, kernels) if kernels.there else HostTimes()
    step.forward_ns = forward_ns(owners, nodes, clock)
    step.backward_ns = backward_ns({id(node): parameter.name for _, parameter, node in owned}, nodes, clock)
    updates = [one for one in trace.of("user_annotation") if one.name.startswith("Optimizer.step#") and mark.holds(one)]
    step.update_ns = sum(map(clock.length, updates)) if updates else None
    return step


def _gradients(nodes: list, inside: OrderedEvents, forward: OrderedEvents, mark: Event, trace: Trace) -> list:
    """Finds gradients by their AccumulateGrad nodes. The autograd node before such a node computed
    the gradient, and has the sequence number of the forward operator."""
    outer, found, number = _outermost(forward.events), [], None
    numbered = {_sequence(one): one for one in forward.events}  # the last operator with each sequence number
    for node in nodes:
        if node.name != _NODE + _ACCUMULATE:
            number = _sequence(node) if _sequence(node) is not None else number
            continue
        parameter = _parameter(node, inside, trace)
        if parameter.elements == 0:
            continue
        inner = number is not None and numbered.get(number)
        owners = [one for one in outer if inner and one.thread == inner.thread and one.holds(inner)]
        if not owners:
            raise Invalid(
                trace.place,
                f"{mark.name}: no operator of the forward pass has the sequence number {number} of a gradient of "
                f"{' x '.join(map(str, parameter.sizes))}",
            )
        _check_sizes(parameter, owners[-1], forward, mark, trace)
        found.append((owners[-1], parameter, node))
    if not found:
        raise Invalid(trace.place, f"{mark.name} has no gradient of a parameter (AccumulateGrad)")
    return found


def _check_sizes(parameter: Parameter, owner: Event, forward: OrderedEvents, mark: Event, trace: Trace) -> None:
    """Checks that the operator, or one inside it, read a tensor of the parameter's size, which is
    known from its gradient."""
    dims = [one.args.get("Input Dims") for one in forward.events_inside(owner)]
    if any(dims) and not any(_is_among(parameter.sizes, one) for one in dims):
        raise Invalid(
            trace.place,
            f"{mark.name}: a gradient is {parameter.sizes}, and {owner.name} takes {shown(str(owner.args.get('Input Dims')))}",
        )


def _is_among(sizes: list, dims) -> bool:
    return isinstance(dims, list) and (dims == sizes or any(_is_among(sizes, one) for one in dims))


def _parameter(node: Event, inside: OrderedEvents, trace: Trace) -> Parameter:
    for one in inside.events_inside(node):
        if one.name == _ACCUMULATE:
            dims, types = one.args.get("Input Dims"), one.args.get("Input type")
            sizes = dims[0] if isinstance(dims, list) and dims else None
            if isinstance(sizes, list) and all(isinstance(n, int) and 0 <= n < 2**40 for n in sizes) and types:
                return Parameter("", sizes, str(types[0]) if isinstance(types, list) else "")
    raise Invalid(trace.place, "has gradients without their sizes, which record_shapes=True writes")


def _batch(first: Event):
    """Returns the number of samples in the first operator's input, if that is an operator whose inputs are known."""
    at = {"aten::embedding": 1, "aten::conv1d": 0, "aten::conv2d": 0, "aten::conv3d": 0, "aten::linear": 0,
          "aten::layer_norm": 0, "aten::batch_norm": 0}.get(first.name)  # fmt: skip
    dims = first.args.get("Input Dims")
    if at is None or not isinstance(dims, list) or len(dims) <= at or not isinstance(dims[at], list) or not dims[at]:
        return None
    return dims[at][0] if isinstance(dims[at][0], int) and dims[at][0] > 0 else None
