# SPDX-License-Identifier: Apache-2.0
"""Trains any PyTorch network under any strategy of Paceline."""

import contextlib

import torch
from torch.utils._pytree import tree_leaves

from paceline.torch import job
from paceline.torch.extension import Model, UsageError
from paceline.torch.gates import Gates, is_compiled
from paceline.torch.linear import LinearIntoSlots
from paceline.torch.optimizers import Rule


def _require_trainable(name, parameter, dtype):
    if parameter.dtype != dtype:
        raise UsageError(
            f"Parameter {name} is of {parameter.dtype}, and others are of {dtype}: all that are trained must have one "
            "type."
        )
    if not torch.ops.aten.is_non_overlapping_and_dense(parameter.detach()):
        raise UsageError(f"Parameter {name} is not dense: make it so by contiguous().")
    if parameter._post_accumulate_grad_hooks:
        raise UsageError(f"Parameter {name} has a hook of register_post_accumulate_grad_hook(): remove it.")


def _sum_of(output):
    """Returns a scalar that depends on every output tensor at which a backward pass can begin."""
    leaves = [leaf for leaf in tree_leaves(output) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not leaves:
        raise UsageError("The network's output holds no tensor that requires a gradient.")
    return sum(leaf.float().sum() for leaf in leaves)


class DataParallel(torch.nn.Module):
    """`module`, which all ranks train together.

    `optimizer` is one of torch.optim, made with the module's parameters. The plan's kernels perform
    its updates, so its step() must not be called. Without an optimizer, the averaged gradients are
    in `.grad` after a step, and the caller updates the parameters. `strategy` is a name of
    docs/strategies.md. A step has `accumulate`
    micro-batches, one per call of step() or forward(). `scaler` is a torch.amp.GradScaler, whose
    scale the plan updates.

    All ranks start from rank 0's parameters and buffers when the first step
    begins.  Updates are still under way when a step returns: synchronize() waits
    for them, as evaluation, state_dict() and load_state_dict() do.
    """

    def __init__(
        self,
        module,
        optimizer=None,
        strategy="fusion",
        *,
        accumulate=1,
        bucket_mb=25.0,
        clip_norm=0.0,
        scaler=None,
        seed=0,
    ):
        super().__init__()
        if accumulate < 1:
            raise UsageError(f"accumulate={accumulate}: must be at least 1.")
        self.module = module
        self.optimizer = optimizer
        self._accumulate = accumulate
        self._micro = 0
        self._phase = "idle"  # "idle", "forward" or "backward"
        self._in_step = False
        self._has_failed_step = False
        # Name, parameter, and the address of its data if it is trained and the first step has
        # begun.
        self._prepared = []
        self._scaler = scaler if scaler is not None and scaler.is_enabled() else None
        trained = {name: p for name, p in module.named_parameters() if p.requires_grad}
        if not trained:
            raise UsageError("The network has no parameter that is trained.")
        for name, parameter in trained.items():
            _require_trainable(name, parameter, next(iter(trained.values())).dtype)
        self._rule = Rule(optimizer, trained)
        scale = self._initial_scale()
        self._model = Model(
            job.current(), strategy, bucket_mb, accumulate, self._rule.name, clip_norm, scale, seed
        )
        if optimizer is None and not self._model.averages_gradients:
            raise UsageError(
                f"optimizer=None under strategy {self._model.strategy}: it leaves no mean of all gradients in `.grad`; "
                "give the optimizer, or take a strategy of gradients whose updates are not sharded."
            )
        for name, parameter in module.named_parameters():
            self._model.add(name, parameter, parameter.requires_grad)
        for name, buffer in module.named_buffers():
            self._model.add(name, buffer, False)
        self._gates = Gates(module, self._model, self.synchronize)
        # torch.compile() would compile the replacement of a linear layer.
        weights = [] if any(map(is_compiled, module.modules())) else trained.values()
        self._linear = LinearIntoSlots(weights, self._model.gradient_slot)
        self._watch_optimizer()
        self._handles = self._watch_module()
        job.watch(self)

    def _initial_scale(self):
        if self._scaler is None:
            return None
        factors = (
            self._scaler.get_growth_factor(),
            self._scaler.get_backoff_factor(),
            self._scaler.get_growth_interval(),
        )
        if factors != (2.0, 0.5, 2000):
            raise UsageError(
                f"The scaler has growth and backoff factors and interval {factors}: the plan has (2.0, 0.5, 2000)."
            )
        self._scaler.scale(torch.ones(1))  # the first call of scale() creates the scaler's tensors
        return self._scaler.get_scale()

    def _watch_optimizer(self):
        if self.optimizer is None:
            return

        def before_state(_optimizer):
            self.synchronize()
            if self._model.is_prepared and self._model.trains:
                self._rule.require_whole_state(self._model)
                self._rule.count_state(self._model)

        def after_load(_optimizer):
            if self._model.is_prepared:
                self.synchronize()
                self._rule.make_state_views(self._model)

        def reject(_optimizer, _arguments, _named):
            raise UsageError(
                "The plan performs the optimizer's updates, within model.step() and model.update(): leave out "
                "optimizer.step()."
            )

        self.optimizer.register_step_pre_hook(reject)
        self.optimizer.register_state_dict_pre_hook(before_state)
        self.optimizer.register_load_state_dict_post_hook(after_load)

    def _watch_module(self):
        """Makes the module's own state_dict() and load_state_dict() behave as those of this object.

        The hooks are functions, which a copy of the module shares; loading into the copy does not
        affect this object.
        """

        def before_save(_module, _prefix, _keep):
            self.synchronize()

        def before_load(module, *_arguments):
            if module is self.module:
                self._before_load()

        def after_load(module, _keys):
            if module is self.module and self._model.is_prepared:
                self._model.restart_from_parameters()

        handles = [module.register_state_dict_pre_hook(before_save) for module in self.module.modules()]
        handles.append(self.module.register_load_state_dict_pre_hook(before_load))
        handles.append(self.module.register_load_state_dict_post_hook(after_load))
        return handles

    def _require_as_prepared(self):
        """Checks that the parameters are trained and stored as in the first step, for which the plan was made."""
        for name, parameter, address in self._prepared:
            if parameter.requires_grad != (address is not None):
                now = "trained" if parameter.requires_grad else "frozen"
                raise UsageError(
                    f"Parameter {name} is {now} by requires_grad_() since the first step: wrap the network again to "
                    "train another choice of its parameters."
                )
            if address is not None and parameter.data_ptr() != address:
                raise UsageError(
                    f"Parameter {name} has other memory than in the first step: write values into it by copy_()."
                )

    # The functions of a step.

    def step(self, closure):
        """Trains one micro-batch, by default a whole step. `closure()` returns the loss, which
        step() returns too.

        The first call of the job calls the closure once more, to trace what it computes. On a rank
        that is only a parameter server, the closure is not called after that, and step() returns
        None.
        """
        self._require_usable("idle")
        self._prepare(closure)
        if not self._model.trains:
            self._serve()
            return None
        self._require_as_prepared()
        with self._raising_engine_failure():
            self._begin_forward()
            self._in_step = True
            try:
                loss = closure()
            finally:
                self._in_step = False
            self._begin_backward()
            self._backward_of(loss)
            self._end_backward()
        return loss.detach()

    def _backward_of(self, loss):
        share = loss if self._accumulate == 1 else loss / self._accumulate
        scale = self.loss_scale()
        share.backward(None if scale is None else scale.reshape(share.shape))

    def forward(self, *inputs, **named):
        """Returns the network's output.  In training, begins a micro-batch, which update() or the next forward() ends.
        """
        if self._in_step:
            return self._network(*inputs, **named)
        if self._phase == "forward":  # a further forward pass of the same micro-batch
            return self._with_backward_hooks(self._network(*inputs, **named))
        if not (self.training and torch.is_grad_enabled()):
            self.synchronize()
            return self.module(*inputs, **named)
        if self._phase == "backward" and self._micro + 1 < self._accumulate:
            self._end_backward()
        self._require_usable("idle")
        self._prepare(lambda: _sum_of(self.module(*inputs, **named)))
        if not self._model.trains:
            raise UsageError("This rank serves parameters: let it call step(), which computes nothing here.")
        self._require_as_prepared()
        with self._raising_engine_failure():
            self._begin_forward()
            return self._with_backward_hooks(self._network(*inputs, **named))

    def _network(self, *inputs, **named):
        self._gates.enter_first()
        with self._linear or contextlib.nullcontext():
            return self.module(*inputs, **named)

    def _with_backward_hooks(self, output):
        """Returns `output` with hooks that begin the backward pass of the micro-batch."""

        def begin(_gradient):
            if self._phase == "forward":
                self._begin_backward()

        for leaf in tree_leaves(output):
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad:
                leaf.register_hook(begin)
        return output

    def update(self):
        """Ends the step. The caller must have performed its last backward pass."""
        self._require_usable("backward")
        if self._micro + 1 < self._accumulate:
            raise UsageError(
                f"update() after {self._micro + 1} of {self._accumulate} micro-batches: each has a forward and a "
                "backward pass."
            )
        with self._raising_engine_failure():
            self._end_backward()

    def loss_scale(self):
        """Returns the gradient with which the caller's backward pass begins if there is a scaler:
        loss.backward(model.loss_scale())."""
        return None if self._scaler is None else self._model.loss_scale()

    def _require_usable(self, phase):
        if self._has_failed_step:
            raise UsageError("An exception has left a step of this model before its end: it cannot go on.")
        if self._phase != phase:
            due = {
                "idle": "the forward pass of a micro-batch begins one",
                "forward": "a backward pass is to follow the forward pass",
                "backward": "update() is to end the step",
            }
            raise UsageError(f"This call is out of order: {due[self._phase]}.")

    @contextlib.contextmanager
    def _raising_engine_failure(self):
        """Marks the model as failed if the block raises, and raises the engine's failure if there
        is one, because autograd replaces the exception of a hook by another one."""
        try:
            yield
        except BaseException:
            self._has_failed_step = True
            self._gates.open = False
            self._model.throw_if_failed()
            raise

    def _prepare(self, closure):
        if self._model.is_prepared:
            return
        self._rule.send_groups(self._model)
        device = next(iter(self._rule.parameters().values())).device
        devices = [device] if device.type == "cuda" else []
        self._gates.open = self._in_step = True
        try:
            with torch.random.fork_rng(devices), torch.enable_grad():
                self._model.prepare(closure)
        finally:
            self._gates.open = self._in_step = False
        self._rule.make_state_views(self._model)
        trained = self._rule.parameters()
        self._prepared = [
            (name, p, p.data_ptr() if name in trained else None) for name, p in self.module.named_parameters()
        ]

    def _begin_forward(self):
        self._model.begin_forward()
        self._phase = "forward"
        self._gates.open = True

    def _begin_backward(self):
        self._gates.open = False
        self._rule.send_groups(self._model)
        self._model.begin_backward()
        self._phase = "backward"

    def _end_backward(self):
        self._model.end_backward()
        self._phase = "idle"
        self._micro = (self._micro + 1) % self._accumulate
        if self._micro == 0:
            self._rule.count_step()
            if self.optimizer is None:
                self.synchronize()
                self._model.show_gradients()

    def _serve(self):
        if self._micro == 0:
            self._model.serve()
        self._micro = (self._micro + 1) % self._accumulate

    # Functions that are called between steps.

    def synchronize(self):
        """Waits until the updates of all steps are done, so that parameters may be read."""
        if self._model is None or not self._model.is_prepared or self._has_failed_step:
            return
        # In the middle of a step there is nothing to wait for: its first micro-batch has already
        # waited for the updates of the previous step.
        if self._phase == "idle" and self._micro == 0:
            self._model.drain()
            if self._scaler is not None:
                self._scaler.update(self._model.loss_scale().item())

    def close(self):
        """Ends the training; called when the process ends."""
        if self._model is not None:
            self.synchronize()
            self._gates.remove()
            for handle in self._handles:
                handle.remove()
            self._model.close()
            self._model = None

    def state_dict(self, *arguments, **named):
        """Returns the state dict of the module, with the module's own names."""
        return self.module.state_dict(*arguments, **named)

    def gather_state(self):
        """Makes the optimizer's state_dict() complete until the next step if a strategy shards the state.  Collective.
        """
        self._require_prepared("gather_state()")
        if self._model.training_ranks < job.size():
            raise UsageError("gather_state() where ranks only serve parameters: the state is theirs.")
        self.synchronize()
        if self.optimizer is not None:
            self._rule.gather_state(job.current(), self._model)

    def load_state_dict(self, *arguments, **named):
        """Loads the state dict of the module.  Buffers that a strategy starts from the parameters are started again."""
        return self.module.load_state_dict(*arguments, **named)

    def _before_load(self):
        if self._micro > 0:
            raise UsageError("load_state_dict() between the micro-batches of a step: end the step first.")
        self.synchronize()

    @property
    def trains(self):
        """Whether this rank trains, or else serves parameters.  The model must have had a step."""
        self._require_prepared("trains")
        return self._model.trains

    @property
    def replicates(self):
        """Whether all ranks hold the same parameters after each step.  The model must have had a step."""
        self._require_prepared("replicates")
        return self._model.replicates

    def _values(self):
        """Returns all trained parameters as one vector; zeros on a rank that trains none."""
        values = [p.detach().reshape(-1) for p in self._rule.parameters().values()]
        flat = torch.cat(values)
        return flat if self._model.trains else torch.zeros_like(flat)

    def _mean(self):
        self.synchronize()
        return job.all_reduce(self._values(), "sum") / self._model.training_ranks

    def consensus(self):
        """Returns the consensus distance: the root mean square, over ranks, of the distance of a rank's parameters from
        the mean over ranks, divided by the norm of that mean.  Collective."""
        self._require_prepared("consensus()")
        mean = self._mean()
        apart = (self._values() - mean).square().sum() if self._model.trains else mean.new_zeros(())
        square = job.all_reduce(apart.reshape(1), "sum")[0] / self._model.training_ranks
        return (square.sqrt() / mean.norm()).item()

    @contextlib.contextmanager
    def average(self):
        """Replaces the parameters of all ranks by their mean within a `with` block, as for an evaluation.  Collective.
        """
        self._require_prepared("average()")
        mean = self._mean()
        own = self._values()
        self._write(mean)
        try:
            yield self
        finally:
            if self._model.trains:
                self._write(own)

    def _write(self, flat):
        with torch.no_grad():
            at = 0
            for parameter in self._rule.parameters().values():
                parameter.copy_(flat[at : at + parameter.numel()].view(parameter.shape))
                at += parameter.numel()

    def _require_prepared(self, call):
        if not self._model.is_prepared:
            raise UsageError(f"{call} before the first step, in which the plan is made and all ranks get rank 0's parameters.")
