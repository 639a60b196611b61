# SPDX-License-Identifier: Apache-2.0
"""One rank of PaddlePaddle's DataParallel over Gloo."""

import os
import sys

from paceline.adapters import functional
from paceline.adapters import harness
from paceline.adapters.harness import Unsupported


class Ops:
    """The operators of functional.py in PaddlePaddle, in the layout NCHW."""

    def __init__(self, paddle, parameters, statistics):
        self.paddle, self.p, self.statistics = paddle, parameters, statistics
        self.f = paddle.nn.functional

    def conv(self, x, name, stride, padding):
        return self.f.conv2d(
            x,
            self.p[f"{name}.weight"],
            self.p.get(f"{name}.bias"),
            stride=stride,
            padding=padding,
        )

    def norm(self, x, name):
        mean, variance = self.statistics[name]
        return self.f.batch_norm(
            x,
            mean,
            variance,
            self.p[f"{name}.weight"],
            self.p[f"{name}.bias"],
            training=True,
            momentum=0.9,
            epsilon=1e-5,
        )

    def linear(self, x, name):
        return self.f.linear(x, self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def relu(self, x):
        return self.f.relu(x)

    def add(self, x, y):
        return x + y

    def max_pool(self, x, size, stride, padding):
        return self.f.max_pool2d(x, size, stride, padding)

    def mean(self, x):
        return x.mean((2, 3))

    def flatten(self, x):
        return x.flatten(1)

    def cross_entropy(self, scores, labels):
        total = self.f.cross_entropy(
            scores, labels, ignore_index=-100, reduction="sum"
        )
        return total / (labels >= 0).astype(total.dtype).sum()

    def lookup(self, name, ids, padding=None):
        table = self.p[f"{name}.weight"]
        rows = self.f.embedding(ids, table)
        if padding is None:
            return rows
        kept = (ids != padding).astype(rows.dtype).unsqueeze(-1)
        return kept * rows + (1 - kept) * rows.detach()

    def rows(self, name, count):
        return self.p[f"{name}.weight"][:count]

    def tied(self, x, name, bias):
        table = self.p[f"{name}.weight"]
        return self.paddle.matmul(x, table, transpose_y=True) + self.p[bias]

    def layer_norm(self, x, name):
        return self.f.layer_norm(
            x,
            x.shape[-1:],
            self.p[f"{name}.weight"],
            self.p[f"{name}.bias"],
            epsilon=1e-12,
        )

    def gelu(self, x):
        return self.f.gelu(x)

    def tanh(self, x):
        return self.paddle.tanh(x)

    def reshape(self, x, shape):
        return x.reshape(shape)

    def first(self, x, tokens):
        return x.reshape((-1, tokens, x.shape[-1]))[:, 0]

    def attention(self, query, key, value):
        return self.f.scaled_dot_product_attention(query, key, value)


def in_framework_layout(name, value):
    """Converts a parameter from PyTorch's layout to Paddle's, whose linear layers are
    [in, out]."""
    return value.T if functional.is_transposed(name, value.shape) else value


def make_network(paddle, job):
    class Network(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.named = {}
            self.statistics = {}
            for name, value in job.weights().items():
                value = in_framework_layout(name, value)
                parameter = self.create_parameter(
                    value.shape,
                    default_initializer=paddle.nn.initializer.Assign(value),
                )
                self.add_parameter(name.replace(".", "_"), parameter)
                self.named[name] = parameter
            for name in functional.norms(self.named):
                width = self.named[f"{name}.bias"].shape
                self.statistics[name] = (paddle.zeros(width), paddle.ones(width))

        def forward(self, inputs, target):
            ops = Ops(paddle, self.named, self.statistics)
            return job.network.loss(ops, inputs, target)

    return Network()


class Trainer:
    def __init__(self, job):
        if job.compiled:
            raise Unsupported("compiled: this adapter is eager")
        self.set_cluster_environment(job)
        import paddle

        self.paddle, self.job = paddle, job
        paddle.set_device("cpu")
        if job.world > 1:
            paddle.distributed.init_parallel_env()
        self.network = make_network(paddle, job)
        self.model = self.network
        if job.world > 1:
            self.model = paddle.DataParallel(self.network)
        common = {
            "learning_rate": job.learning_rate,
            "parameters": self.network.parameters(),
            "weight_decay": job.weight_decay,
        }
        if job.clip_norm:
            common["grad_clip"] = paddle.nn.ClipGradByGlobalNorm(job.clip_norm)
        if job.optimizer == "sgd":
            self.optimizer = paddle.optimizer.Momentum(
                momentum=job.momentum, **common
            )
        else:
            decayed = {
                p.name for p in self.network.parameters() if job.decay_of(p.shape)
            }
            self.optimizer = paddle.optimizer.AdamW(
                epsilon=job.epsilon,
                apply_decay_param_fun=decayed.__contains__,
                **common,
            )
        inputs, target = job.batch()
        self.inputs, self.target = paddle.to_tensor(inputs), paddle.to_tensor(target)

    @staticmethod
    def set_cluster_environment(job):
        """Sets the addresses of all ranks.  MASTER_PORT is rank 0's; the others listen on
        the ports after it."""
        if job.world > 1 and os.environ["MASTER_ADDR"] != "127.0.0.1":
            raise Unsupported("several hosts: this adapter trains on one")
        port = int(os.environ.get("MASTER_PORT", 0))
        ends = [f"127.0.0.1:{port + 1 + rank}" for rank in range(job.world)]
        os.environ.update(
            PADDLE_TRAINER_ID=str(job.rank),
            PADDLE_TRAINERS_NUM=str(job.world),
            PADDLE_TRAINER_ENDPOINTS=",".join(ends),
            PADDLE_CURRENT_ENDPOINT=ends[job.rank],
            PADDLE_MASTER=f"127.0.0.1:{port}",
            PADDLE_DISTRI_BACKEND="gloo",
        )

    def step(self):
        loss = self.model(self.inputs, self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        return float(loss)

    def parameters(self):
        return {
            n: value.T if functional.is_transposed(n, value.shape) else value
            for n, value in (
                (n, p.numpy()) for n, p in self.network.named.items()
            )
        }

    def close(self):
        if self.job.world > 1:
            sys.stdout.flush()
            os._exit(0)  # Gloo's shutdown in Paddle sometimes never ends


def version():
    import paddle

    return paddle.__version__


if __name__ == "__main__":
    sys.exit(
        harness.run(
            "paddle",
            version,
            Trainer,
            {
                "layout": "NCHW",
                "exchange": "DataParallel's reducer over gloo",
                "loss_scaling": "none",
            },
        )
    )
