# SPDX-License-Identifier: Apache-2.0
"""Describes an optimizer of torch.optim for the plan's update kernels.

The optimizer object stays the user's: its parameter groups give rates and constants. Its state
tensors become views of Paceline's flat buffers, and its step() is never called.
"""

import torch

from paceline.torch.extension import UsageError

# For each row of src/paceline/plan/optimizer.h: the buffers of the plan, and their names in
# torch.optim.
_STATES = {
    "sgd": {"momentum": "momentum_buffer"},
    "adam": {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
    "adamw": {"exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"},
    "rmsprop": {"square_avg": "square_avg"},
    "adagrad": {"sum": "sum"},
    "adadelta": {"square_avg": "square_avg", "acc_delta": "acc_delta"},
}
_CLASSES = {
    torch.optim.SGD: "sgd",
    torch.optim.Adam: "adam",
    torch.optim.AdamW: "adamw",
    torch.optim.RMSprop: "rmsprop",
    torch.optim.Adagrad: "adagrad",
    torch.optim.Adadelta: "adadelta",
}
# Options that the kernels do not support, with the only value that is accepted.
_FIXED = {
    "dampening": 0,
    "amsgrad": False,
    "centered": False,
    "maximize": False,
    "initial_accumulator_value": 0,
}


def name_of(optimizer):
    """Returns the name of the optimizer's row in src/paceline/plan/optimizer.h; "sgd" without an
    optimizer."""
    if optimizer is None:
        return "sgd"
    name = _CLASSES.get(type(optimizer))
    if name is None:
        known = ", ".join(kind.__name__ for kind in _CLASSES)
        raise UsageError(
            f"optimizer is a {type(optimizer).__name__}: allowed are {known}; with optimizer=None the averaged "
            "gradients are left for an optimizer of your own."
        )
    if name == "adam" and optimizer.param_groups[0].get("decoupled_weight_decay"):
        return "adamw"
    return name


def _require_known(name, group):
    for option, value in _FIXED.items():
        if group.get(option, value) != value:
            raise UsageError(f"{option}={group[option]} of the optimizer: only {option}={value} can be performed.")
    if name == "rmsprop" and group["momentum"] != 0:
        raise UsageError(f"momentum={group['momentum']} of RMSprop: only momentum=0 can be performed.")


def _decay_rates(name, group):
    if name in ("adam", "adamw"):
        return tuple(float(beta) for beta in group["betas"])
    if name == "rmsprop":
        return (group["alpha"], 0.0)
    return (group["rho"], 0.0) if name == "adadelta" else None


def _constants(name, group):
    _require_known(name, group)
    return {
        "rate": float(group["lr"]),
        "momentum": float(group.get("momentum", 0)) if name == "sgd" else 0.0,
        "weight_decay": float(group["weight_decay"]),
        "nesterov": bool(group.get("nesterov", False)),
        "rate_decay": float(group.get("lr_decay", 0)),
        "decay_rates": _decay_rates(name, group),
        "epsilon": None if name == "sgd" else float(group["eps"]),
        "updates": True,
    }


_NOTHING = {
    "rate": 0.0,
    "momentum": 0.0,
    "weight_decay": 0.0,
    "nesterov": False,
    "rate_decay": 0.0,
    "decay_rates": None,
    "epsilon": None,
    "updates": False,
}


class Rule:
    """The update rule of a training: that of `optimizer`, or only averaged gradients without one."""

    def __init__(self, optimizer, parameters):
        """`parameters`: the trained parameters by name."""
        self.optimizer = optimizer
        self.name = name_of(optimizer)
        self._parameters = parameters
        self._names = {id(parameter): name for name, parameter in parameters.items()}
        self._sent_groups = None
        self._steps = 0
        self._state_is_gathered = False
        self._sharded_names = []

    def parameters(self):
        """Returns the trained parameters by name."""
        return self._parameters

    def groups(self):
        """Returns the argument of Model.set_groups()."""
        if self.optimizer is None:
            return [{"parameters": list(self._parameters), **_NOTHING}]
        groups = []
        for group in self.optimizer.param_groups:
            names = [self._names[id(p)] for p in group["params"] if id(p) in self._names]
            constants = _constants(self.name, group)
            if names:
                groups.append({"parameters": names, **constants})
        if not groups:
            raise UsageError("No group of the optimizer has a parameter of the network that is trained.")
        return groups

    def send_groups(self, model):
        """Passes the parameter groups to the model if they have changed."""
        groups = self.groups()
        if groups != self._sent_groups:
            model.set_groups(self.name, groups)
            self._sent_groups = groups

    def count_step(self):
        """Must be called when an update has been issued."""
        self._steps += 1
        self._forget_gathered()
        if self.optimizer is not None:
            self.optimizer._opt_called = True  # torch's learning rate schedulers check this flag

    def make_state_views(self, model):
        """Replaces the optimizer's state tensors by views of the plan's buffers, into which their
        values are copied."""
        if self.optimizer is None or not model.trains:
            return
        if self.name != "sgd":
            self._take_count(model)
        self._sharded_names = self._sharded_state_names(model)
        for ours in self._sharded_names:
            self._put_shard(model, ours)
        for name, parameter in self._parameters.items():
            state = dict(self.optimizer.state.get(parameter, {}))
            for ours, theirs in _STATES[self.name].items():
                view = model.state(name, ours)
                if view is None:
                    state.pop(theirs, None)
                    continue
                if state.get(theirs) is not None:
                    view.copy_(state[theirs])
                state[theirs] = view
            if self.name != "sgd":  # a tensor of its own, as PyTorch's optimizers add to each
                state["step"] = torch.tensor(float(self._steps))
            if state:
                self.optimizer.state[parameter] = state

    def _take_count(self, model):
        """Sets the plan's step count to the optimizer's number of steps, which must be equal for all parameters."""
        steps = {float(state["step"]) for state in self.optimizer.state.values() if "step" in state}
        if len(steps) > 1:
            raise UsageError(
                f"The optimizer's state has {len(steps)} numbers of steps, of which the least is {min(steps):g} and the "
                f"most {max(steps):g}: the plan counts one for all parameters."
            )
        if steps:
            self._steps = int(steps.pop())
            count = model.step_count()
            if count is not None:
                count.fill_(float(self._steps))

    def _sharded_state_names(self, model):
        """Returns the plan's names of those states of which each rank has only a shard."""
        has_state = self.name != "sgd" or any(group["momentum"] > 0 for group in self.groups())
        first = next(iter(self._parameters))
        return [ours for ours in _STATES[self.name] if has_state and model.state(first, ours) is None]

    def _put_shard(self, model, ours):
        theirs = _STATES[self.name][ours]
        whole = {name: self.optimizer.state.get(p, {}).get(theirs) for name, p in self._parameters.items()}
        if all(value is not None for value in whole.values()):
            model.scatter_state(ours, whole)

    def gather_state(self, job, model):
        """Completes the optimizer's state until the next step, if each rank has only a shard of it.
        All ranks must then call it."""
        for ours in self._sharded_names:
            for name, value in job.gathered_state(model, ours).items():
                self.optimizer.state[self._parameters[name]][_STATES[self.name][ours]] = value
        self._state_is_gathered = True

    def _forget_gathered(self):
        if self._state_is_gathered:
            self._state_is_gathered = False
            for ours in self._sharded_names:
                for parameter in self._parameters.values():
                    self.optimizer.state[parameter].pop(_STATES[self.name][ours], None)

    def require_whole_state(self, model):
        """Raises UsageError if a rank has only a shard of the state."""
        if self._sharded_names and not self._state_is_gathered:
            raise UsageError(
                f"Each rank has a shard of the optimizer's state under strategy {model.strategy}: let all ranks call "
                "gather_state() before its state_dict() is taken."
            )

    def count_state(self, model):
        """Writes the number of steps into the state of each parameter."""
        count = model.step_count()
        steps = float(self._steps if count is None else count)
        for state in self.optimizer.state.values():
            if "step" in state:
                state["step"].fill_(steps)
