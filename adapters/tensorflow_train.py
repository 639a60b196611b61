#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One worker of TensorFlow 2's MultiWorkerMirroredStrategy: a tf.function around
the step; `compiled` lets XLA make forward and backward of it."""

import json
import os
import sys

import harness
from harness import Unsupported

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


class Ops:
    """functional.py in TensorFlow, NHWC and HWIO."""

    def __init__(self, tf, parameters):
        self.tf, self.p, self.statistics = tf, parameters, {}

    def padded(self, x, padding, value=0.0):
        if padding == 0:
            return x
        both = [padding, padding]
        return self.tf.pad(
            x, [[0, 0], both, both, [0, 0]], constant_values=value
        )

    def conv(self, x, name, stride, padding):
        y = self.tf.nn.conv2d(
            self.padded(x, padding), self.p[f"{name}.weight"], stride, "VALID"
        )
        bias = self.p.get(f"{name}.bias")
        return y if bias is None else y + bias

    def norm(self, x, name):
        y, mean, variance, *_ = self.tf.compat.v1.nn.fused_batch_norm(
            x,
            self.p[f"{name}.weight"],
            self.p[f"{name}.bias"],
            epsilon=1e-5,
            is_training=True,
        )
        self.statistics[name] = (mean, variance)
        return y

    def linear(self, x, name):
        return x @ self.p[f"{name}.weight"] + self.p[f"{name}.bias"]

    def relu(self, x):
        return self.tf.nn.relu(x)

    def add(self, x, y):
        return x + y

    def max_pool(self, x, size, stride, padding):
        x = self.padded(x, padding, float("-inf"))
        return self.tf.nn.max_pool2d(x, size, stride, "VALID")

    def mean(self, x):
        return self.tf.reduce_mean(x, (1, 2))

    def flatten(self, x):
        return self.tf.reshape(self.tf.transpose(x, (0, 3, 1, 2)), (x.shape[0], -1))


def laid_out(value):
    """A parameter of PyTorch's layout in TensorFlow's: HWIO, or [in, out]."""
    if value.ndim == 4:
        return value.transpose(2, 3, 1, 0)
    return value.T if value.ndim == 2 else value


class Trainer:
    def __init__(self, job):
        if job.world > 1:
            self.tell_cluster(job)
        import tensorflow as tf

        if job.optimizer != "sgd":
            raise Unsupported(f"optimizer {job.optimizer}: this adapter has sgd")
        self.tf, self.job = tf, job
        tf.config.threading.set_intra_op_parallelism_threads(max(1, job.threads))
        tf.config.threading.set_inter_op_parallelism_threads(2)
        self.strategy = self.make_strategy()
        with self.strategy.scope():
            self.variables = {
                name: tf.Variable(laid_out(value))
                for name, value in job.weights().items()
            }
            self.momentum = {
                name: tf.Variable(tf.zeros_like(value))
                for name, value in self.variables.items()
            }
            # Each rank keeps its own, as PyTorch without broadcast_buffers.
            self.statistics = {
                name.removesuffix(".bias"): (
                    self.of_rank(tf.zeros_like(value)),
                    self.of_rank(tf.ones_like(value)),
                )
                for name, value in self.variables.items()
                if ".bn" in name or name.startswith("bn") or ".downsample.1" in name
                if name.endswith(".bias")
            }
        inputs, target = job.batch()
        self.inputs = tf.constant(inputs.transpose(0, 2, 3, 1))
        self.target = tf.constant(target)
        self.compiled_gradients = tf.function(
            self.gradients, jit_compile=job.compiled or None
        )
        self.whole_step = tf.function(lambda: self.strategy.run(self.replica_step))

    @staticmethod
    def tell_cluster(job):
        """MASTER_PORT is rank 0's; the others listen on the ports after it."""
        if os.environ["MASTER_ADDR"] != "127.0.0.1":
            raise Unsupported("several hosts: this adapter trains on one")
        port = int(os.environ["MASTER_PORT"])
        workers = [f"127.0.0.1:{port + rank}" for rank in range(job.world)]
        os.environ["TF_CONFIG"] = json.dumps(
            {
                "cluster": {"worker": workers},
                "task": {"type": "worker", "index": job.rank},
            }
        )

    def make_strategy(self):
        distribute = self.tf.distribute
        if self.job.world == 1:
            return distribute.get_strategy()
        experimental = distribute.experimental
        return distribute.MultiWorkerMirroredStrategy(
            communication_options=experimental.CommunicationOptions(
                implementation=experimental.CommunicationImplementation.RING
            )
        )

    def of_rank(self, value):
        tf = self.tf
        return tf.Variable(
            value,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )

    def gradients(self, names, values):
        tf = self.tf
        parameters = dict(zip(names, values))
        ops = Ops(tf, parameters)
        with tf.GradientTape() as tape:
            tape.watch(values)
            logits = self.job.network.forward(ops, self.inputs)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(self.target, logits)
            )
        return loss, tape.gradient(loss, values), ops.statistics

    def replica_step(self):
        tf, job = self.tf, self.job
        names = list(self.variables)
        values = [tf.convert_to_tensor(v) for v in self.variables.values()]
        loss, gradients, seen = self.compiled_gradients(names, values)
        if job.world > 1:
            gradients = tf.distribute.get_replica_context().all_reduce(
                tf.distribute.ReduceOp.MEAN, gradients
            )
        for name, gradient in zip(names, gradients):
            variable, momentum = self.variables[name], self.momentum[name]
            momentum.assign(
                job.momentum * momentum + gradient + job.weight_decay * variable
            )
            variable.assign_sub(job.learning_rate * momentum)
        for name, old in self.statistics.items():
            for place in (0, 1):
                old[place].assign(0.9 * old[place] + 0.1 * seen[name][place])
        return loss

    def step(self):
        loss = self.whole_step()
        return float(self.strategy.experimental_local_results(loss)[0])

    def parameters(self):
        local = self.strategy.experimental_local_results
        return {n: local(v)[0].numpy() for n, v in self.variables.items()}

    def close(self):
        pass


def version():
    import tensorflow as tf

    return tf.__version__


if __name__ == "__main__":
    sys.exit(
        harness.run(
            "tensorflow",
            version,
            Trainer,
            {
                "layout": "NHWC",
                "exchange": "ring all-reduce of MultiWorkerMirroredStrategy over gRPC",
                "loss_scaling": "none",
            },
        )
    )
