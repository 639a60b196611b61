# SPDX-License-Identifier: Apache-2.0
"""The reader of tf_cnn_benchmarks: right logs, and wrong ones."""

import unittest

import mutations
from paceline.readers import table, tf_cnn
from paceline.readers.checks import Invalid
from paceline.readers.record import has_wrong_values

# The lines of tensorflow/benchmarks, scripts/tf_cnn_benchmarks/benchmark_cnn.py; the head and the form of the rates
# are those of bytedance/byteps, issue 29, and horovod/horovod, issue 466, with other numbers.
HEAD = """TensorFlow:  1.15
Model:       resnet50
Dataset:     imagenet (synthetic)
Mode:        training
SingleSess:  False
Batch size:  256 global
             64 per device
Num batches: 40
Num epochs:  0.00
Devices:     ['horovod/gpu:0', 'horovod/gpu:1', 'horovod/gpu:2', 'horovod/gpu:3']
NUMA bind:   False
Data format: NCHW
Optimizer:   sgd
Variables:   horovod
==========
Generating training model
Running warm up
Done warm up
Step\tImg/sec\ttotal_loss
"""
LINES = """1\timages/sec: 338.8 +/- 0.0 (jitter = 0.0)\t7.569
10\timages/sec: 338.1 +/- 0.3 (jitter = 0.6)\t7.597
20\timages/sec: 338.5 +/- 0.2 (jitter = 0.5)\t7.712
30\timages/sec: 338.4 +/- 0.2 (jitter = 0.5)\t7.692
40\timages/sec: 338.3 +/- 0.1 (jitter = 0.5)\t7.611
"""
RULE = "-" * 64 + "\n"
LOG = f"{HEAD}{LINES}{RULE}total images/sec: 1352.20\n{RULE}"
ONE_PROCESS = LOG.replace("horovod/gpu", "/gpu").replace("1352.20", "338.05")


def read(text):
    return mutations.records_of(tf_cnn, text)


def each_process(count=4):
    """As mpirun shows them where all processes print."""
    lines = [line for line in LOG.splitlines() for _ in range(count)]
    return "\n".join(f"[1,{k % count}]<stdout>:{line}" for k, line in enumerate(lines))


class TfCnn(unittest.TestCase):
    def test_the_mean_step_of_a_process(self):
        (one,) = read(LOG)
        said = one["configuration"]
        self.assertEqual((said["model"], said["batch_size"], said["ranks"], said["device"]), ("resnet50", 64, 4, "cuda"))
        self.assertEqual([rank["step_ns"] for rank in one["ranks"]], [[round(64e9 / 338.3)]])
        self.assertEqual(one["adapter"]["total_images_per_s"], "1352.20")
        self.assertIn("the mean of 40 steps", one["adapter"]["formula"])
        self.assertEqual((said["optimizer"], said["warmup_steps"], said["learning_rate"]), ("sgd", None, None))
        self.assertEqual(table.reader_of(mutations.source_of(LOG)).name, "tf-cnn")

    def test_all_devices_of_one_process(self):
        (one,) = read(ONE_PROCESS)
        self.assertEqual(one["ranks"][0]["step_ns"], [round(256e9 / 338.3)])
        self.assertEqual(one["configuration"]["ranks"], 4)

    def test_each_process_prints(self):
        (one,) = read(each_process())
        self.assertEqual([rank["rank"] for rank in one["ranks"]], [0, 1, 2, 3])
        lines = each_process().splitlines()  # one process after the other
        (again,) = read("\n".join(sorted(lines, key=lambda line: line[:5])))
        self.assertEqual(again["ranks"], one["ranks"])
        with self.assertRaisesRegex(Invalid, "step 1 follows step 40"):
            read(each_process() + "\n" + each_process())
        with self.assertRaisesRegex(Invalid, "2 of 4 processes print"):
            read(each_process(2))

    def test_a_loss_that_is_no_number(self):
        (one,) = read(LOG.replace("7.611", "nan"))
        self.assertTrue(has_wrong_values(one))

    def test_a_run_without_its_end(self):
        source = mutations.source_of(LOG[: LOG.index("total images")])
        self.assertEqual(list(tf_cnn.read(source)), [])
        self.assertEqual(source.notes, ["damaged.log: the log ends before its line 'total images/sec', left out"])

    def test_contradictions(self):
        for old, new, why in (
            ("64 per", "32 per", "the batch size: the log says the global batch 256"),
            (", 'horovod/gpu:3'", "", "the batch size"),
            ("40\timages/sec: 338.3", "40\timages/sec: 676.6", "would have taken no time"),
            ("40\timages/sec: 338.3", "40\timages/sec: 33.83", "total images/sec: 1352.20, and the steps"),
            ("1352.20", "13522.0", "total images/sec: 13522.0"),
            ("1352.20", "1002.20", "total images/sec: 1002.20"),
            ("20\timages", "25\timages", "a line is missing"),
            ("Num batches: 40", "Num batches: 50", "the last line is of step 40"),
            ("Mode:        training", "Mode:        evaluation", "'evaluation' is not a known mode"),
            ("horovod/gpu:0", "/job:worker/task:0/gpu:0", "is not a list of devices of one kind"),
            ("horovod", "/job:worker/replica:0/task", "is not a known owner of devices"),
            ("Model:       resnet50\n", "", "a run without its line 'Model'"),
            ("338.4 +/- 0.2", "338.4 +/-", "cut off or mixed"),
        ):
            self.assertIn(old, LOG)
            with self.assertRaisesRegex(Invalid, why):
                read(LOG.replace(old, new))

    def test_damage(self):
        mutations.check_mutations(self, tf_cnn, LOG, {"model", "optimizer", "total_images_per_s", "warnings"})

    def test_random_bytes(self):
        mutations.check_random_bytes(self, tf_cnn, LOG)


if __name__ == "__main__":
    unittest.main()
