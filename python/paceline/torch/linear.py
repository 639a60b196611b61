# SPDX-License-Identifier: Apache-2.0
"""Linear layers whose weight gradient is written directly into the buffer from which the plan sends it."""

import torch
from torch.autograd import forward_ad
from torch.autograd.graph import get_gradient_edge
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class _LinearIntoSlot(torch.autograd.Function):
    """torch.nn.functional.linear of a matrix of rows.  `slot_of(weight)` returns the memory of the weight's gradient,
    or None.

    The backward pass has the operations of PyTorch's own.
    """

    @staticmethod
    def forward(ctx, inputs, weight, bias, slot_of):
        ctx.save_for_backward(inputs, weight)
        ctx.slot_of = slot_of
        return functional.linear(inputs, weight, bias)

    @staticmethod
    def backward(ctx, gradient):
        inputs, weight = ctx.saved_tensors
        of_inputs = of_weight = of_bias = None
        if ctx.needs_input_grad[0]:
            of_inputs = gradient.mm(weight)
        if ctx.needs_input_grad[1]:
            # Operations with `out` are not differentiable.
            slot = None if torch.is_grad_enabled() or not _is_accumulated(weight) else ctx.slot_of(weight)
            of_weight = torch.mm(gradient.t(), inputs, out=slot)
        if ctx.needs_input_grad[2]:
            of_bias = gradient.sum(0)
        return of_inputs, of_weight, of_bias, None


def _is_accumulated(weight):
    """Whether the backward pass accumulates the weight's gradient, so that it is not one of torch.autograd.grad()."""
    try:
        return torch._C._will_engine_execute_node(get_gradient_edge(weight).node)
    except RuntimeError:  # raised in torch.autograd.grad() of the weight
        return False


def _is_plain():
    """Returns whether no transform, tracing, autocast or recomputation is active. These need
    PyTorch's own operation."""
    return (
        torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
        and not torch.jit.is_tracing()
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._autograd._top_saved_tensors_default_hooks(False) is None
        and forward_ad._current_level < 0
    )


class LinearIntoSlots(TorchFunctionMode):
    """In this mode, torch.nn.functional.linear with one of `weights` writes the weight's gradient into its slot.

    Only weights on the CPU are written so: on a GPU a copy costs less than Python's inspection of each operation.
    """

    def __init__(self, weights, slot_of):
        super().__init__()
        self._weights = {id(weight) for weight in weights if weight.dim() == 2 and weight.device.type == "cpu"}
        self._slot_of = slot_of

    def __bool__(self):
        return bool(self._weights)

    def __torch_function__(self, function, types, arguments=(), named=None):
        if function is functional.linear and _is_plain():
            return self._linear(*arguments, **(named or {}))
        return function(*arguments, **(named or {}))

    def _linear(self, input, weight, bias=None):  # noqa: A002 - the names of torch.nn.functional.linear
        own = id(weight) in self._weights and weight.requires_grad and not weight._backward_hooks
        alike = type(input) is torch.Tensor and input.dtype == weight.dtype and input.device == weight.device
        if own and alike and input.dim() >= 2 and input.layout == torch.strided:
            if input.dim() == 2:
                return _LinearIntoSlot.apply(input, weight, bias, self._slot_of)
            # Cut up outside of the function, whose output may be changed in place unless it is a view.
            rows = _LinearIntoSlot.apply(input.reshape(-1, input.shape[-1]), weight, bias, self._slot_of)
            return rows.view(*input.shape[:-1], weight.shape[0])
        return functional.linear(input, weight, bias)
