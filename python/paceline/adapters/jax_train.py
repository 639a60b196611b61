# SPDX-License-Identifier: Apache-2.0
"""One rank of data-parallel training in JAX. All processes run one jitted step over a mesh of their
devices; each has its shard of the batch."""

import os
import sys

from paceline.adapters import functional
from paceline.adapters import harness


class Ops:
    """The operators of functional.py in JAX, in the layouts NHWC and HWIO."""

    def __init__(self, jax, parameters):
        self.jax, self.p, self.statistics = jax, parameters, {}

    def conv(self, x, name, stride, padding):
        y = self.jax.lax.conv_general_dilated(
            x,
            self.p[f"{name}.weight"],
            (stride, stride),
            [(padding, padding)] * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )
        bias = self.p.get(f"{name}.bias")
        return y if bias is None else y + bias

    def norm(self, x, name):
        jnp = self.jax.numpy
        mean = jnp.mean(x, (0, 1, 2))
        variance = jnp.mean(jnp.square(x - mean), (0, 1, 2))
        self.statistics[name] = (mean, variance)
        scale = self.jax.lax.rsqrt(variance + 1e-5) * self.p[f"{name}.weight"]
        return (x - mean) * scale + self.p[f"{name}.bias"]

    def linear(self, x, name):
        return x @ self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def relu(self, x):
        return self.jax.nn.relu(x)

    def add(self, x, y):
        return x + y

    def max_pool(self, x, size, stride, padding):
        return self.jax.lax.reduce_window(
            x,
            -self.jax.numpy.inf,
            self.jax.lax.max,
            (1, size, size, 1),
            (1, stride, stride, 1),
            [(0, 0), (padding, padding), (padding, padding), (0, 0)],
        )

    def mean(self, x):
        return self.jax.numpy.mean(x, (1, 2))

    def flatten(self, x):
        return self.jax.numpy.transpose(x, (0, 3, 1, 2)).reshape(x.shape[0], -1)

    def cross_entropy(self, scores, labels):
        jnp = self.jax.numpy
        log = self.jax.nn.log_softmax(scores)
        counted = labels >= 0
        picked = jnp.take_along_axis(
            log, jnp.where(counted, labels, 0)[:, None], axis=1
        )[:, 0]
        return -jnp.sum(jnp.where(counted, picked, 0)) / jnp.sum(counted)

    def lookup(self, name, ids, padding=None):
        rows = self.p[f"{name}.weight"][ids]
        if padding is None:
            return rows
        return self.jax.numpy.where(
            (ids == padding)[..., None], self.jax.lax.stop_gradient(rows), rows
        )

    def rows(self, name, count):
        return self.p[f"{name}.weight"][:count]

    def tied(self, x, name, bias):
        return x @ self.p[f"{name}.weight"].T + self.p[bias]

    def layer_norm(self, x, name):
        jnp = self.jax.numpy
        mean = jnp.mean(x, -1, keepdims=True)
        variance = jnp.mean(jnp.square(x - mean), -1, keepdims=True)
        y = (x - mean) * self.jax.lax.rsqrt(variance + 1e-12)
        return y * self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def gelu(self, x):
        return self.jax.nn.gelu(x, approximate=False)

    def tanh(self, x):
        return self.jax.numpy.tanh(x)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def first(self, x, tokens):
        return x[::tokens]

    def attention(self, query, key, value):
        return self.jax.nn.dot_product_attention(query, key, value)


def in_framework_layout(name, value):
    """Converts a parameter from PyTorch's layout to JAX's: HWIO, or [in, out]."""
    if value.ndim == 4:
        return value.transpose(2, 3, 1, 0)
    return value.T if functional.is_transposed(name, value.shape) else value


def sgd(jax, job):
    """Returns the number of state tensors per parameter, and the update function, as in PyTorch's
    SGD."""

    def update(parameters, gradients, kept, _step):
        momentum = jax.tree.map(
            lambda v, g, p: job.momentum * v + g + job.weight_decay * p,
            kept[0],
            gradients,
            parameters,
        )
        new = jax.tree.map(
            lambda p, v: p - job.learning_rate * v, parameters, momentum
        )
        return new, (momentum,)

    return 1, update


def adamw(jax, job):
    def update(parameters, gradients, kept, step):
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, kept[0], gradients)
        second = jax.tree.map(
            lambda v, g: 0.999 * v + 0.001 * g * g, kept[1], gradients
        )

        def moved(p, m, v):
            root = jax.numpy.sqrt(v / (1 - 0.999**step)) + job.epsilon
            rate = job.learning_rate / (1 - 0.9**step)
            decay = job.decay_of(p.shape)
            return p * (1 - job.learning_rate * decay) - rate * m / root

        return jax.tree.map(moved, parameters, first, second), (first, second)

    return 2, update


def clipped(jax, gradients, most):
    if most == 0:
        return gradients
    squares = [jax.numpy.sum(g * g) for g in jax.tree.leaves(gradients)]
    norm = jax.numpy.sqrt(sum(squares))
    share = jax.numpy.minimum(1.0, most / (norm + 1e-6))
    return jax.tree.map(lambda g: g * share, gradients)


OPTIMIZERS = {"sgd": sgd, "adamw": adamw, "bert-adamw": adamw}


class Trainer:
    def __init__(self, job):
        os.environ["XLA_FLAGS"] = (
            os.environ.get("XLA_FLAGS", "")
            + f" --xla_cpu_multi_thread_eigen={'true' if job.threads > 1 else 'false'}"
        )
        import jax
        import numpy

        self.jax, self.job = jax, job
        kept, self.update = OPTIMIZERS[job.optimizer](jax, job)
        if job.world > 1:
            jax.config.update("jax_cpu_collectives_implementation", "gloo")
            jax.distributed.initialize(
                f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}",
                job.world,
                job.rank,
            )
        self.mesh = jax.sharding.Mesh(numpy.array(jax.devices()), ("ranks",))
        spec = jax.sharding.PartitionSpec
        self.whole, self.split = spec(), spec("ranks")
        weights = {n: in_framework_layout(n, w) for n, w in job.weights().items()}
        inputs, target = job.batch()
        if not job.network.reads_text:
            inputs = inputs.transpose(0, 2, 3, 1)
        self.batch = tuple(
            self.place(x.astype(numpy.int32) if x.dtype == numpy.int64 else x, self.split)
            for x in (inputs, target)
        )
        self.state = {
            "parameters": {n: self.place(w, self.whole) for n, w in weights.items()},
            "kept": tuple(
                {
                    n: self.place(numpy.zeros_like(w), self.whole)
                    for n, w in weights.items()
                }
                for _ in range(kept)
            ),
            "step": self.place(numpy.float32(0), self.whole),
            # each rank keeps its own batch-norm statistics
            "statistics": {
                name: tuple(
                    self.place(make(weights[f"{name}.bias"]), self.split)
                    for make in (numpy.zeros_like, numpy.ones_like)
                )
                for name in functional.norms(weights)
            },
        }
        self.compiled = self.compile()

    def place(self, array, spec):
        return self.jax.make_array_from_process_local_data(
            self.jax.sharding.NamedSharding(self.mesh, spec), array
        )

    def compile(self):
        jax, job, lax = self.jax, self.job, self.jax.lax

        def loss_of(parameters, x, y):
            ops = Ops(jax, parameters)
            loss = job.network.loss(ops, x, y)
            return loss, ops.statistics

        def step(state, x, y):
            (loss, seen), gradients = jax.value_and_grad(loss_of, has_aux=True)(
                state["parameters"], x, y
            )
            gradients = clipped(jax, lax.pmean(gradients, "ranks"), job.clip_norm)
            count = state["step"] + 1
            parameters, kept = self.update(
                state["parameters"], gradients, state["kept"], count
            )
            statistics = {
                name: tuple(0.9 * a + 0.1 * b for a, b in zip(old, seen[name]))
                for name, old in state["statistics"].items()
            }
            new = {
                "parameters": parameters,
                "kept": kept,
                "step": count,
                "statistics": statistics,
            }
            return new, loss[None]

        specs = {
            "parameters": self.whole,
            "kept": self.whole,
            "step": self.whole,
            "statistics": self.split,
        }
        return jax.jit(
            jax.shard_map(
                step,
                mesh=self.mesh,
                in_specs=(specs, self.split, self.split),
                out_specs=(specs, self.split),
                check_vma=False,
            ),
            donate_argnums=(0,),
        )

    def step(self):
        self.state, loss = self.compiled(self.state, *self.batch)
        self.jax.block_until_ready(self.state)
        return float(loss.addressable_shards[0].data[0])

    def parameters(self):
        import numpy

        return {
            name: functional.as_torch(
                name, numpy.asarray(value.addressable_shards[0].data)
            )
            for name, value in self.state["parameters"].items()
        }

    def close(self):
        if self.job.world > 1:
            self.jax.distributed.shutdown()


def version():
    import jax

    return jax.__version__


if __name__ == "__main__":
    sys.exit(
        harness.run(
            "jax",
            version,
            Trainer,
            {
                "layout": "NHWC",
                "compiler": "XLA, one jitted step",
                "exchange": "pmean of all gradients over gloo",
                "loss_scaling": "none",
            },
        )
    )
