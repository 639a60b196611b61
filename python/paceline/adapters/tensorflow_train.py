# SPDX-License-Identifier: Apache-2.0
"""One worker of TensorFlow 2's MultiWorkerMirroredStrategy. A tf.function runs the step; with
`compiled`, XLA compiles its forward and backward pass."""

import json
import os
import sys

from paceline.adapters import functional
from paceline.adapters import harness
from paceline.adapters.harness import Unsupported

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


class Ops:
    """The operators of functional.py in TensorFlow, in the layouts NHWC and HWIO."""

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

    def cross_entropy(self, scores, labels):
        tf = self.tf
        counted = labels >= 0
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            tf.where(counted, labels, 0), scores
        )
        counted = tf.cast(counted, losses.dtype)
        return tf.reduce_sum(counted * losses) / tf.reduce_sum(counted)

    def lookup(self, name, ids, padding=None):
        rows = self.tf.gather(self.p[f"{name}.weight"], ids)
        if padding is None:
            return rows
        is_padding = (ids == padding)[..., self.tf.newaxis]
        return self.tf.where(is_padding, self.tf.stop_gradient(rows), rows)

    def rows(self, name, count):
        return self.p[f"{name}.weight"][:count]

    def tied(self, x, name, bias):
        table = self.p[f"{name}.weight"]
        return self.tf.matmul(x, table, transpose_b=True) + self.p[bias]

    def layer_norm(self, x, name):
        mean, variance = self.tf.nn.moments(x, -1, keepdims=True)
        return self.tf.nn.batch_normalization(
            x,
            mean,
            variance,
            self.p[f"{name}.bias"],
            self.p[f"{name}.weight"],
            1e-12,
        )

    def gelu(self, x):
        return self.tf.nn.gelu(x)

    def tanh(self, x):
        return self.tf.tanh(x)

    def reshape(self, x, shape):
        return self.tf.reshape(x, shape)

    def first(self, x, tokens):
        return x[::tokens]

    def attention(self, query, key, value):
        tf = self.tf
        query = query * query.shape[-1] ** -0.5
        weights = tf.nn.softmax(tf.einsum("bqhw,bkhw->bhqk", query, key))
        return tf.einsum("bhqk,bkhw->bqhw", weights, value)


def in_framework_layout(name, value):
    """Converts a parameter from PyTorch's layout to TensorFlow's: HWIO, or [in, out]."""
    if value.ndim == 4:
        return value.transpose(2, 3, 1, 0)
    return value.T if functional.is_transposed(name, value.shape) else value


class Trainer:
    def __init__(self, job):
        if job.world > 1:
            self.set_cluster_environment(job)
        import tensorflow as tf

        self.tf, self.job = tf, job
        tf.config.threading.set_intra_op_parallelism_threads(max(1, job.threads))
        tf.config.threading.set_inter_op_parallelism_threads(2)
        self.strategy = self.make_strategy()
        with self.strategy.scope():
            self.variables = {
                name: tf.Variable(in_framework_layout(name, value))
                for name, value in job.weights().items()
            }
            kept = 1 if job.optimizer == "sgd" else 2
            self.kept = {
                name: [tf.Variable(tf.zeros_like(value)) for _ in range(kept)]
                for name, value in self.variables.items()
            }
            self.count = tf.Variable(0.0)
            # Each rank keeps its own statistics, as PyTorch does without broadcast_buffers.
            self.statistics = {
                name: (self.of_rank(tf.zeros_like(bias)), self.of_rank(tf.ones_like(bias)))
                for name in functional.norms(self.variables)
                for bias in [self.variables[f"{name}.bias"]]
            }
        inputs, target = job.batch()
        if not job.network.reads_text:
            inputs = inputs.transpose(0, 2, 3, 1)
        self.inputs = tf.constant(inputs)
        self.target = tf.constant(target)
        self.compiled_gradients = tf.function(
            self.gradients, jit_compile=job.compiled or None
        )
        self.whole_step = tf.function(lambda: self.strategy.run(self.replica_step))

    @staticmethod
    def set_cluster_environment(job):
        """Sets the addresses of all workers.  MASTER_PORT is rank 0's; the others listen
        on the ports after it."""
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
            loss = self.job.network.loss(ops, self.inputs, self.target)
        # TensorFlow represents gradients of embedding tables as rows with their indices.
        gradients = [
            tf.convert_to_tensor(one) for one in tape.gradient(loss, values)
        ]
        return loss, gradients, ops.statistics

    def replica_step(self):
        tf, job = self.tf, self.job
        names = list(self.variables)
        values = [tf.convert_to_tensor(v) for v in self.variables.values()]
        loss, gradients, seen = self.compiled_gradients(names, values)
        if job.world > 1:
            gradients = tf.distribute.get_replica_context().all_reduce(
                tf.distribute.ReduceOp.MEAN, gradients
            )
        if job.clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, job.clip_norm)
        update = self.sgd if job.optimizer == "sgd" else self.adamw
        self.count.assign_add(1)
        for name, gradient in zip(names, gradients):
            update(self.variables[name], gradient, *self.kept[name])
        for name, old in self.statistics.items():
            for place in (0, 1):
                old[place].assign(0.9 * old[place] + 0.1 * seen[name][place])
        return loss

    def sgd(self, variable, gradient, momentum):
        """Runs the update as one kernel. A sum of three terms becomes TensorFlow's AddN, which
        begins with whichever buffer is free, so that ranks round differently."""
        job = self.job
        self.tf.raw_ops.ResourceApplyMomentum(
            var=variable.handle,
            accum=momentum.handle,
            lr=job.learning_rate,
            grad=gradient + job.weight_decay * variable,
            momentum=job.momentum,
        )

    def adamw(self, variable, gradient, first, second):
        job, tf = self.job, self.tf
        first.assign(0.9 * first + 0.1 * gradient)
        second.assign(0.999 * second + 0.001 * gradient * gradient)
        root = tf.sqrt(second / (1 - 0.999**self.count)) + job.epsilon
        decay = job.decay_of(variable.shape)
        moved = first / (1 - 0.9**self.count) / root + decay * variable
        variable.assign_sub(job.learning_rate * moved)

    def step(self):
        loss = self.whole_step()
        return float(self.strategy.experimental_local_results(loss)[0])

    def parameters(self):
        local = self.strategy.experimental_local_results
        return {
            n: functional.as_torch(n, local(v)[0].numpy())
            for n, v in self.variables.items()
        }

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
