# SPDX-License-Identifier: Apache-2.0
"""Hooks that make the modules of a network wait for their parameters."""

from torch.utils._pytree import tree_leaves

import torch


def _is_compiled_here(module):
    """Whether module.compile() compiled the module, which also compiles its own hooks."""
    return module._compiled_call_impl is not None


def _is_compiled_inside(module):
    """Whether the module is the result of torch.compile(module): its own hooks run uncompiled, those inside are
    compiled."""
    return type(module).__name__ == "OptimizedModule"


def is_compiled(module):
    """Whether torch.compile() or module.compile() has compiled it."""
    return _is_compiled_here(module) or _is_compiled_inside(module)


class Gates:
    """The hooks that make the modules of one network wait for their parameters.

    A module that has parameters waits before its forward pass until they may be read.  Modules inside a compiled module
    do not wait.  The compiled module waits for all of their parameters, or the module around it does if hooks would be
    compiled.  Outside of the forward passes of steps, while `open` is False, a module waits by `synchronize()` for all
    updates.
    """

    def __init__(self, network, model, synchronize):
        self._model = model
        self._synchronize = synchronize
        self._owners = {}  # unit that waits for a parameter, by the parameter's id; a shared
                           # parameter belongs to the first module
        for name, parameter in network.named_parameters():
            self._owners[id(parameter)] = model.unit(name.rpartition(".")[0])
        self.open = False
        self._seen = set()
        self._handles = []
        # Units without a hook of their own, for which the network waits before its forward pass.
        self._first = self._place(network)
        self._owners.clear()
        if not _is_compiled_here(network):
            self._hook_root(network)

    def _hook_root(self, network):
        # All hooks are functions, because a copy of the network shares them.
        def enter(_module, _inputs):
            if not self.open:
                self._synchronize()

        self._handles.append(network.register_forward_pre_hook(enter, prepend=True))

    def enter_first(self):
        """Enters the units without a hook before the network's own forward pass."""
        for unit in self._first:
            self._model.enter(unit)
            self._model.leave(unit)

    def remove(self):
        """Removes all hooks from the network."""
        for handle in self._handles:
            handle.remove()

    def _own(self, modules):
        units = []
        for module in modules:
            for parameter in module.parameters(recurse=False):
                unit = self._owners.get(id(parameter))
                if unit is not None and parameter.requires_grad and unit not in units:
                    units.append(unit)
        return units

    def _place(self, module):
        """Adds hooks to `module` and the modules in it; returns the units for which the module around it has to wait.
        """
        if id(module) in self._seen:
            return []
        self._seen.add(id(module))
        if _is_compiled_here(module):
            return self._own(module.modules())
        if _is_compiled_inside(module):
            units = self._own(module.modules())
        else:
            units = self._own([module])
            for child in module.children():
                units += [unit for unit in self._place(child) if unit not in units]
        if units:
            self._hook(module, units)
        return []

    def _hook(self, module, units):
        model = self._model

        def enter(_module, _inputs):
            if not self.open:
                self._synchronize()
                return
            for unit in units:
                model.enter(unit)

        def leave(_module, _inputs, output):
            if self.open:
                behind = [unit for unit in units if model.leave(unit)]
                if behind:
                    self._wait_in_backward(output, behind)

        self._handles.append(module.register_forward_pre_hook(enter, prepend=True))
        self._handles.append(module.register_forward_hook(leave))

    def _wait_in_backward(self, output, units):
        def enter_backward(_gradient):
            for unit in units:
                self._model.enter_backward(unit)

        for leaf in tree_leaves(output):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                leaf.register_hook(enter_backward)
