# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler as collective records and as layer profiles."""

import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import mutations
from paceline.readers import kineto, kineto_profile, table
from paceline.readers.checks import Invalid
from paceline.readers.lines import Source

RANKS = 4
BASE = 5062125781549.5  # us, as large as real ones


def event(kind, name, begin, length, thread=1, **args):
    return {"ph": "X", "cat": kind, "name": name, "pid": 7, "tid": thread, "ts": BASE + begin, "dur": length, "args": args}


def trace(events, world=RANKS, backend="nccl"):
    group = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": world, "ranks": list(range(world))}
    info = {"backend": backend, "rank": 1, "world_size": world, "pg_count": 1, "pg_config": [group]}
    lines = [json.dumps(one) for one in events]
    return '{\n"schemaVersion": 1,\n"distributedInfo": %s,\n"traceEvents": [\n%s\n]}\n' % (
        json.dumps(info),
        ",\n".join(lines),
    )


def collective(name, kernel, into, out, begin, length, **other):
    args = {
        "Collective name": name,
        "In msg nelems": into,
        "Out msg nelems": out,
        "Group size": RANKS,
        "dtype": "Float",
        "Process Group Name": "0",
        "Process Group Ranks": "[0, 1, 2, 3]",
        "stream": 20,
    }
    return event("kernel", f"ncclDevKernel_{kernel}(ncclDevKernelArgsStorage<4096ul>)", begin, length, 20, **{**args, **other})


def collectives():
    found = []
    for step in range(3):
        at = 1000 * step
        found += [
            collective("allreduce", "AllReduce_Sum_f32_RING_LL", 1000, 1000, at, 40 + step),
            collective("allreduce", "AllReduce_Sum_f32_RING_LL", 250_000, 250_000, at + 100, 90 + step),
            collective("_allgather_base", "AllGather_RING_LL", 500, 2000, at + 300, 30 + step),
            collective("_reduce_scatter_base", "ReduceScatter_Sum_f32_RING_LL", 2000, 500, at + 400, 35),
            event("kernel", "void gemm(float)", at + 500, 60, 7),
        ]
    return found


def read(events):
    return mutations.records_of(kineto, events if isinstance(events, str) else trace(events))


class Collectives(unittest.TestCase):
    def test_recognized(self):
        self.assertEqual(table.reader_of(Source("t.json", trace(collectives()).encode())).name, "kineto")

    def test_of_nccl(self):
        records = read(collectives())
        self.assertEqual(
            [(one["operation"], one["op"], one["bytes"], one["iteration_ns"]) for one in records],
            [
                ("all-reduce", None, 4000, [40_000, 41_000, 42_000]),
                ("all-reduce", None, 1_000_000, [90_000, 91_000, 92_000]),
                ("all-gather", None, 8000, [30_000, 31_000, 32_000]),
                ("reduce-scatter", None, 8000, [35_000] * 3),
            ],
        )
        first = records[1]
        self.assertEqual((first["ranks"], first["engine"], first["dtype"], first["wrong_elements"]), (4, "nccl", "float", None))
        self.assertAlmostEqual(first["bytes_per_s"]["bus"], 1e6 / 91e-6 * 1.5)
        self.assertEqual(first["warnings"][0]["code"], "waits-included")
        self.assertIn("on rank 1", first["formula"])
        self.assertIsNone(first["ranks_per_host"])

    def test_kernels_of_other_generations(self):
        right = read(collectives())
        for kernel in ("ncclKernel_AllReduce_RING_LL_Sum_float", "ncclSymDevKernel_AllReduce_AGxLL_R_sum_f32", "ncclDevKernel_Generic_4"):
            events = collectives()
            events[0]["name"] = kernel  # beside those of another generation
            self.assertEqual(read(events), right)
        events = collectives()
        for one in events[:4]:
            del one["args"]["Process Group Name"], one["args"]["Process Group Ranks"]  # as PyTorch 2.2
        text = trace(events[:4]).replace('"pg_config"', '"other"')
        self.assertEqual([len(one["iteration_ns"]) for one in read(text)], [1, 1, 1, 1])

    def test_of_rccl(self):
        for mark in ({"name": "hipLaunchKernel"}, {"id": 0, "name": "AMD Instinct MI300X"}):
            text = trace(collectives()).replace('"schemaVersion": 1', f'"deviceProperties": [{json.dumps(mark)}]')
            self.assertEqual({one["engine"] for one in read(text)}, {"rccl"})

    def test_events_of_other_kinds(self):
        more = [event("python_function", "f", 10, -5), {"ph": "X", "cat": "Trace", "name": "span"}, {**event("cpu_op", "g", 1, 1), "args": None}]
        self.assertEqual(read(collectives() + more), read(collectives()))

    def test_of_gloo(self):
        args = {"Input Dims": [[1000]], "Input type": ["float"]}
        events = [event("user_annotation", name, at, 50, 3, **args)
                  for at, name in enumerate(("gloo:all_reduce", "gloo:all_gather", "gloo:broadcast"))]  # fmt: skip
        self.assertEqual(
            [(one["operation"], one["bytes"], one["ranks"]) for one in read(trace(events, backend="gloo"))],
            [("all-reduce", 4000, 4), ("all-gather", 16_000, 4), ("broadcast", 4000, 4)],
        )
        both = {"Input Dims": [[10], [4, 5]], "Input type": ["float", "float"]}
        coalesced = trace([event("user_annotation", "gloo:all_reduce", 1, 50, 3, **both)], backend="gloo")
        self.assertEqual([one["bytes"] for one in read(coalesced)], [120])

    def test_what_is_left_out_is_said(self):
        more = [collective("all_to_allv", "SendRecv", 8, 8, 5000, 9), event("kernel", "ncclDevKernel_Generic", 6000, 9)]
        source = Source("t.json", trace(collectives() + more).encode())
        self.assertEqual(list(kineto.read(source)), read(collectives()))
        self.assertEqual(len(source.notes), 2)
        self.assertIn("1 kernels of 'all_to_allv', which is not an operation of Paceline", source.notes[0])

    def test_contradictions(self):
        for change, why in (
            ({"Out msg nelems": 1001}, "In msg nelems 1000 and Out msg nelems 1001 contradict"),
            ({"Group size": 8}, "says 8 ranks .Group size., and it lists 4 as Process Group Ranks"),
            ({"Group size": 8, "Process Group Ranks": "[0, ...]"}, "says 4 ranks of the group 0, and it lists 8"),
            ({"dtype": "Quaternion"}, "dtype: 'Quaternion' is not known"),
            ({"In msg nelems": "many"}, "In msg nelems: .* is not an integer"),
        ):
            with self.subTest(change=change), self.assertRaisesRegex(Invalid, why):
                read([collective("allreduce", "AllReduce_Sum_f32", 1000, 1000, 0, 40, **change)])
        with self.assertRaisesRegex(Invalid, "makes a layer profile"):
            read([event("kernel", "gemm", 0, 1)])
        events = collectives()
        with self.assertRaisesRegex(Invalid, "the event 'ncclDevKernel_AllReduce.* is there twice"):
            read(events + events[:1])
        events[0]["dur"] = 0
        with self.assertRaisesRegex(Invalid, "has a duration of 0 ns"):
            read(events)


def step(number, begin, gpu=False):
    """A step of a convolution and a linear layer, batch 8; times are those of `begin` plus 1, 2, ... us."""
    dims = {"conv2d": [[8, 3, 32, 32], [16, 3, 3, 3], [16]], "linear": [[8, 512], [10, 512], [10]]}
    found = [event("user_annotation", f"ProfilerStep#{number}", begin, 400)]

    def unique(launch):
        return 1000 * number + launch

    def operator(name, at, length, seq, shapes, inner=None):
        found.append(event("cpu_op", name, begin + at, length, **{"External id": unique(at), "Sequence number": seq, "Input Dims": shapes}))
        if inner:
            found.append(event("cpu_op", inner, begin + at + 1, length - 2, **{"External id": unique(at + 1), "Sequence number": seq + 1,
                                                                             "Input Dims": shapes}))  # fmt: skip

    def gradient(at, sizes, dtype="float"):
        found.append(event("cpu_op", f"{NODE}torch::autograd::AccumulateGrad", begin + at, 4))
        found.append(event("cpu_op", "torch::autograd::AccumulateGrad", begin + at + 1, 2, **{"Input Dims": [sizes], "Input type": [dtype]}))

    operator("aten::conv2d", 10, 30, 33, dims["conv2d"])
    operator("aten::add_", 45, 2, 34, [[]])  # the number of the next operator
    operator("aten::relu", 50, 10, 34, [[8, 16, 30, 30]])
    operator("aten::linear", 70, 20, 35, dims["linear"], "aten::addmm")
    operator("aten::cross_entropy_loss", 100, 10, 37, [[8, 10], [8]])
    for name, at, length, seq in (("LossBackward0", 120, 5, 37), ("AddmmBackward0", 130, 20, 36)):
        found.append(event("cpu_op", NODE + name, begin + at, length, **{"External id": unique(at), "Sequence number": seq}))
    gradient(152, [10])
    found.append(event("cpu_op", NODE + "TBackward0", begin + 160, 3, **{"External id": unique(160), "Sequence number": 35}))
    gradient(166, [10, 512])
    found.append(event("cpu_op", NODE + "ConvolutionBackward0", begin + 180, 40, **{"External id": unique(180), "Sequence number": 33}))
    gradient(222, [16, 3, 3, 3])
    gradient(230, [16])
    found.append(event("user_annotation", "Optimizer.step#SGD.step", begin + 250, 60))
    found.append(event("cpu_op", "aten::add_", begin + 255, 5, **{"External id": unique(255)}))
    if gpu:
        for launched, at, length in ((10, 500, 100), (71, 650, 30), (100, 690, 10), (120, 720, 10), (130, 740, 50),
                                     (160, 795, 15), (180, 820, 200), (255, 1100, 25)):  # fmt: skip
            ids = {"External id": unique(launched), "stream": 7}
            found.append(event("kernel", "gemm", begin + at, length, 7, **ids))
        found.append(collective("allreduce", "AllReduce_Sum_f32", 1000, 1000, begin + 745, 400, **{"External id": unique(152)}))
    return found


NODE = "autograd::engine::evaluate_function: "


def steps(gpu=False):
    return trace([one for k in range(3) for one in step(k, 2000 * k, gpu)], world=1)


def profile(text, **keys):
    return kineto_profile.profile_of(Source("t.json", text.encode()), "net", **keys)


class Profiles(unittest.TestCase):
    def test_of_a_cpu(self):
        found = profile(steps())
        self.assertEqual((found["batch_size"], found["dtype"], found["device"], found["update_us"]), (8, "fp32", "cpu", 60))
        self.assertEqual([(one["name"], one["forward_us"]) for one in found["modules"]], [("conv2d_0", 60), ("linear_1", 50)])
        self.assertEqual(
            {one["name"]: (one["module"], one["sizes"], one["backward_us"]) for one in found["parameters"]},
            {
                "conv2d_0.p0": ("conv2d_0", [16, 3, 3, 3], 56),  # to 226 from 170
                "conv2d_0.p1": ("conv2d_0", [16], 8),
                "linear_1.p0": ("linear_1", [10], 36),  # to 156 from 120
                "linear_1.p1": ("linear_1", [10, 512], 14),
            },
        )
        self.assertEqual([one["name"] for one in found["parameters"]], ["conv2d_0.p0", "conv2d_0.p1", "linear_1.p1", "linear_1.p0"])
        self.assertEqual(found["ready_order"], ["linear_1.p0", "linear_1.p1", "conv2d_0.p0", "conv2d_0.p1"])

    def test_of_a_gpu(self):
        found = profile(steps(gpu=True))
        self.assertEqual((found["device"], found["update_us"]), ("cuda", 25))
        self.assertEqual([one["forward_us"] for one in found["modules"]], [150, 70])  # from 500, 650, to 720
        self.assertEqual(
            {one["name"]: one["backward_us"] for one in found["parameters"]},
            {"linear_1.p0": 70, "linear_1.p1": 20, "conv2d_0.p0": 210, "conv2d_0.p1": 0},  # 790, 810, 1020
        )

    def test_of_a_gpu_where_the_first_node_launches_nothing(self):
        events = json.loads(steps(gpu=True))["traceEvents"]
        kept = [one for one in events if (one["cat"], one["args"].get("External id", 0) % 1000) != ("kernel", 120)]
        self.assertEqual(len(events) - len(kept), 3)  # the kernels of LossBackward0
        found = profile(trace(kept, world=1))
        self.assertEqual([one["forward_us"] for one in found["modules"]], [150, 90])  # to 740

    def test_what_a_profile_needs(self):
        text = steps()
        for change, why in (
            (("ProfilerStep#", "Step#"), "call profiler.step"),
            (('"Input Dims": [[10]]', '"Input Dims": []'), "record_shapes=True writes"),
            (('"Input Dims": [[10]]', '"Input Dims": [[11]]'), r"a gradient is \[11\], and aten::linear takes"),
            (('"Sequence number": 35}', '"Sequence number": 99}'), "several backward passes"),
            (('"float"', '"double"'), "a gradient of type 'double'"),
            (("torch::autograd::AccumulateGrad", "torch::autograd::Other"), "no gradient of a parameter"),
        ):
            self.assertIn(change[0], text)
            with self.subTest(change=change), self.assertRaisesRegex(Invalid, why):
                profile(text.replace(*change))
        with self.assertRaisesRegex(Invalid, "ProfilerStep#1 has other operators"):
            profile(trace(step(0, 0) + json.loads(json.dumps(step(1, 2000)).replace("aten::linear", "aten::matmul"))))

    def test_the_batch_may_be_given(self):
        self.assertEqual(profile(steps(), batch_size=2)["batch_size"], 2)
        with self.assertRaisesRegex(Invalid, "is of 8 rows"):
            profile(steps(), batch_size=3)
        other = steps().replace("aten::conv2d", "aten::my_conv")
        with self.assertRaisesRegex(Invalid, "--batch-size does"):
            profile(other)
        self.assertEqual(profile(other, batch_size=3)["batch_size"], 3)

    def test_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = Path(folder) / "a.pt.trace.json", Path(folder) / "a.profile.json"
            path.write_text(steps())
            self.assertEqual(kineto_profile.main([str(path), "--output", str(out)]), 0)
            self.assertEqual(json.loads(out.read_text())["model"], "a")
            text = io.StringIO()
            with redirect_stdout(text):
                kineto_profile.main([str(path), "--model", "net"])
            self.assertEqual(json.loads(text.getvalue())["model"], "net")
            path.write_text("{}")
            text = io.StringIO()
            with redirect_stderr(text):
                self.assertEqual(kineto_profile.main([str(path)]), 2)
            self.assertIn("is no trace", text.getvalue())


class ProfileReader:
    """As a reader of mutations.py."""

    recognizes = staticmethod(kineto.recognizes)

    @staticmethod
    def read(source):
        yield kineto_profile.profile_of(source, "net")


class Damaged(unittest.TestCase):
    # A duration is said once.
    def test_mutations_of_collectives(self):
        once = {"iteration_ns", "iterations", "duration_ns", "bytes_per_s", "mean_of", "formula"}
        mutations.check_mutations(self, kineto, trace(collectives()), once, also=lambda one: False)

    def test_mutations_of_profiles(self):
        for gpu in (False, True):
            once = {"forward_us", "backward_us", "update_us", "origin"}
            mutations.check_mutations(self, ProfileReader, steps(gpu), once)

    def test_random_bytes(self):
        for reader in (kineto, ProfileReader):
            mutations.check_random_bytes(self, reader, trace(collectives()))


if __name__ == "__main__":
    unittest.main()
