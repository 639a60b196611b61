#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of data-parallel training in JAX: one jitted step over a mesh of the
processes, each with its shard of the batch."""

import os
import sys

import harness
from harness import Unsupported


class Ops:
    """functional.py in JAX, NHWC and HWIO."""

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


def laid_out(name, value):
    """A parameter of PyTorch's layout in JAX's: HWIO, or [in, out]."""
    if value.ndim == 4:
        return value.transpose(2, 3, 1, 0)
    return value.T if value.ndim == 2 else value


class Trainer:
    def __init__(self, job):
        os.environ["XLA_FLAGS"] = (
            os.environ.get("XLA_FLAGS", "")
            + f" --xla_cpu_multi_thread_eigen={'true' if job.threads > 1 else 'false'}"
        )
        import jax
        import numpy

        self.jax, self.job = jax, job
        if job.optimizer != "sgd":
            raise Unsupported(f"optimizer {job.optimizer}: this adapter has sgd")
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
        weights = {n: laid_out(n, w) for n, w in job.weights().items()}
        inputs, target = job.batch()
        self.batch = (
            self.place(inputs.transpose(0, 2, 3, 1), self.split),
            self.place(target.astype(numpy.int32), self.split),
        )
        self.state = {
            "parameters": {n: self.place(w, self.whole) for n, w in weights.items()},
            "momentum": {
                n: self.place(numpy.zeros_like(w), self.whole)
                for n, w in weights.items()
            },
            "statistics": {
                name.removesuffix(".bias"): (
                    self.place(numpy.zeros_like(w), self.split_of(w)),
                    self.place(numpy.ones_like(w), self.split_of(w)),
                )
                for name, w in weights.items()
                if ".bn" in name or name.startswith("bn") or ".downsample.1" in name
                if name.endswith(".bias")
            },
        }
        self.compiled = self.compile()

    def place(self, array, spec):
        return self.jax.make_array_from_process_local_data(
            self.jax.sharding.NamedSharding(self.mesh, spec), array
        )

    def split_of(self, _):
        return self.split  # each rank keeps its own statistics

    def compile(self):
        jax, job, lax = self.jax, self.job, self.jax.lax

        def loss_of(parameters, x, y):
            ops = Ops(jax, parameters)
            log = jax.nn.log_softmax(job.network.forward(ops, x))
            loss = -jax.numpy.mean(
                jax.numpy.take_along_axis(log, y[:, None], axis=1)
            )
            return loss, ops.statistics

        def step(state, x, y):
            (loss, seen), gradients = jax.value_and_grad(loss_of, has_aux=True)(
                state["parameters"], x, y
            )
            gradients = lax.pmean(gradients, "ranks")
            momentum = jax.tree.map(
                lambda v, g, p: job.momentum * v + g + job.weight_decay * p,
                state["momentum"],
                gradients,
                state["parameters"],
            )
            parameters = jax.tree.map(
                lambda p, v: p - job.learning_rate * v,
                state["parameters"],
                momentum,
            )
            statistics = {
                name: tuple(0.9 * a + 0.1 * b for a, b in zip(old, seen[name]))
                for name, old in state["statistics"].items()
            }
            new = {
                "parameters": parameters,
                "momentum": momentum,
                "statistics": statistics,
            }
            return new, loss[None]

        specs = {
            "parameters": self.whole,
            "momentum": self.whole,
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
            name: numpy.asarray(value.addressable_shards[0].data)
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
