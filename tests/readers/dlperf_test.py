# SPDX-License-Identifier: Apache-2.0
"""The reader of DLPerf's logs: whole windows.  Logs are generated where no public one was found that
has 120 steps; their lines are those of dlperf_lines_test.py, with other numbers."""

import re
import unittest

import mutations
from paceline.readers import dlperf, table
from paceline.readers.checks import Invalid

IMAGES = "logs/1n8g/rn50_b128_fp32_3.log"


def read(text, path=IMAGES):
    (record,) = mutations.records_of(dlperf, text, path)
    return record


def step_ns(text, path=IMAGES):
    return read(text, path)["ranks"][0]["step_ns"]


def window_s(text, path=IMAGES):
    return round(sum(step_ns(text, path)) * 1e-9, 6)


def without(text, words):
    return "".join(line for line in text.splitlines(True) if words not in line)


def ngc_pytorch(steps=130):
    """Steps of 0.25 s; step 20, which the window leaves out, lasts 40 s."""
    text, at = "RUNNING EPOCHS FROM 0 TO 1\n", 13.473765
    for i in range(1, steps + 1):
        text += (
            f"DLL 2020-09-15 14:{29 + int(at) // 60:02}:{at % 60:09.6f} - Epoch: 0 Iteration: {i}  "
            "train.loss : 7.09304  train.total_ips : 4096.00 img/s\n"
        )
        at += 40 if i == 19 else 0.25
    return text


def pytorch(ranks=1, steps=120):
    """Times of each rank, of which another is the slowest in each step, and their mean."""
    text, sums = "", [0.0] * ranks
    for i in range(steps):
        for rank in range(ranks):
            time = 0.363 + 0.001 * (i % 7) if rank == i % ranks else 0.25
            sums[rank] += time
            text += (
                f"     Epoch: [0][{i:3}/530]       Time  {time:.3f} ({sums[rank] / (i + 1):6.3f})    Data  0.114 ( 0.039)"
                "    Loss 3.3840e+01 (2.2378e+01)    Acc@1   2.34 (  1.82) Acc@5  10.94 (  7.81)\n"
            )
    return text


def mxnet(ranks=1, steps=120, first=0):
    return "".join(
        f"2020-08-01 10:00:00,000 Epoch[0] Batch [{i}-{i + 1}]\tSpeed: {'100.00' if rank == i % ranks else '400.00'} samples/sec\n"
        for i in range(first, steps)
        for rank in range(ranks)
    )


# Lines of tensorflow/models official/vision/image_classification/classifier_trainer.py, quoted from HabanaAI/DL1-Workshop
# TF-EfficientNet/web_content/EfficientNet.md, which Oneflow-Inc/DLPerf TensorFlow/resnet50v1.5/scripts runs.
TF_IMAGES = """I0407 21:16:58.541527 139725706671936 keras_utils.py:145] TimeHistory: 43.91 seconds, 72.87 examples/second between steps 0 and 100
I0407 21:17:05.025709 139725706671936 keras_utils.py:145] TimeHistory: 6.46 seconds, 495.19 examples/second between steps 100 and 200
I0407 21:17:11.425594 139725706671936 keras_utils.py:145] TimeHistory: 6.39 seconds, 500.52 examples/second between steps 200 and 300
"""


def mindspore(ranks=1):
    """The loss of mindspore-ai/mindspore model_zoo/official/cv/resnet/README.md, the times of
    mindspore/train/callback/_time_monitor.py, an epoch of 10 steps each."""
    text = ""
    for epoch in range(1, 13):
        text += f"epoch: {epoch} step: 10, loss is 1.9601055\n" * ranks
        for rank in range(ranks):
            ms = 3456.785 if rank == epoch % ranks else 3300.123
            text += f"epoch time: {ms:5.3f} ms, per step time: {ms / 10:5.3f} ms\n"
    return text


class Names(unittest.TestCase):
    def test_what_the_name_says(self):
        one = read(ngc_pytorch())
        said = one["configuration"]
        self.assertEqual((said["framework"], said["model"], said["dtype"]), ("NGC PyTorch", "ResNet-50-v1.5", "fp32"))
        self.assertEqual((said["batch_size"], said["ranks"], said["ranks_per_host"]), (128, 8, [8]))
        self.assertEqual((one["run"], said["warmup_steps"], said["steps"]), (2, 20, 100))
        for key in ("strategy", "optimizer", "momentum", "engine", "device", "bucket_mib"):
            self.assertIsNone(said[key], key)
        two_digits = read(mxnet(), "12n8g/r50_b64_fp16_1.log")["configuration"]
        self.assertEqual((two_digits["ranks"], two_digits["dtype"]), (96, "amp"))
        self.assertEqual(read(ngc_pytorch(), "1n8g/rn50_bz128_fp32_3.log.gz")["configuration"]["batch_size"], 128)

    def test_by_one_reader(self):
        for text in (ngc_pytorch(), pytorch(), mxnet(), TF_IMAGES, mindspore()):
            self.assertEqual(table.reader_of(mutations.source_of(text, IMAGES)).name, "dlperf")
        self.assertFalse(dlperf.recognizes(mutations.source_of(ngc_pytorch(), "train.log")))
        self.assertFalse(dlperf.recognizes(mutations.source_of("x", IMAGES)))

    def test_names_without_devices_or_samples(self):
        for path, number in (
            ("0n8g/rn50_b128_fp32_1.log", "0"),
            ("1n0g/rn50_b128_fp32_1.log", "0"),
            ("1n8g/rn50_b0_fp32_1.log", "0"),
            ("1n8g/rn50_b99999999999_fp32_1.log", "99999999999"),
        ):
            with self.assertRaisesRegex(Invalid, f"{path}: a number of its name: {number} is not between 1 and 32768"):
                read(ngc_pytorch(), path)
        with self.assertRaisesRegex(Invalid, "train.log: is no log of DLPerf"):
            read(ngc_pytorch(), "train.log")


class Stamps(unittest.TestCase):
    def test_a_hundred_steps_after_twenty(self):
        self.assertEqual(step_ns(ngc_pytorch()), [250_000_000] * 100)
        self.assertIn("100 steps after 20, of which 101 ends are said", read(ngc_pytorch())["adapter"]["formula"])

    def test_steps_are_counted_by_their_numbers(self):
        lost = without(without(ngc_pytorch(), " Iteration: 3"), " Iteration: 130 ")
        self.assertEqual(step_ns(lost), [250_000_000] * 100)
        self.assertIn("91 ends are said", read(lost)["adapter"]["formula"])
        with self.assertRaisesRegex(Invalid, "no line says when step 20 ended, which is a border of the window"):
            read(without(lost, " Iteration: 20 "))

    def test_a_name_that_the_rates_contradict(self):
        for path in ("1n4g/rn50_b128_fp32_3.log", "1n8g/rn50_b256_fp32_3.log", "2n8g/rn50_b128_fp32_3.log"):
            with self.assertRaisesRegex(Invalid, "took 0.25 s as the stamps say, and .* s as the rates say of"):
                read(ngc_pytorch(), path)

    def test_a_log_that_is_too_short(self):
        with self.assertRaisesRegex(Invalid, "50 steps, but the window is 100 after 20"):
            read(ngc_pytorch(50))

    def test_a_line_that_cannot_be_read(self):
        damaged = ngc_pytorch().replace("DLL 2020-09-15 14:29:14.973765", "DLL 2020-0")
        with self.assertRaisesRegex(Invalid, ":8: 'DLL 2020-0 .* is a line of a step that is cut off or mixed"):
            read(damaged)

    def test_time_does_not_go_back(self):
        text = ngc_pytorch().replace("Iteration: 50 ", "Iteration: 5 ").replace("Iteration: 60 ", "Iteration: 50 ")
        with self.assertRaisesRegex(Invalid, "ended before step"):
            read(text)
        with self.assertRaisesRegex(Invalid, "is not a time"):
            read(ngc_pytorch().replace("2020-09-15 14:29:14.", "2020-19-15 14:29:14."))

    def test_numbered_steps_of_oneflow(self):
        # Lines of Oneflow-Inc/DLPerf, OneFlow/Classification/ConvNets/resnet50v1.5/extract_cnn_result.py and
        # OneFlow/LanguageModeling/BERT/extract_bert_result.py.
        images = (
            "model = resnet50\n"
            "train: epoch 0, iter 20, loss: 7.087004, top_1: 0.000000, top_k: 0.000000, samples/s: 3988.891 1597933942.9863544\n"
            "train: epoch 0, iter 120, loss: 1.050499, top_1: 1.000000, top_k: 1.000000, samples/s: 5917.583 1597933977.6064055\n"
        )
        one = read(images, "oneflow/2n8g/rn50_b128_fp32_1.log")
        self.assertEqual((one["configuration"]["framework"], len(one["ranks"][0]["step_ns"])), ("OneFlow", 100))
        self.assertEqual(window_s(images, "oneflow/2n8g/rn50_b128_fp32_1.log"), 34.620051)
        with self.assertRaisesRegex(Invalid, "took 0.346201 s as the stamps say, and 0.173044 s as the rates say of 1024 samples"):
            read(images, "oneflow/1n8g/rn50_b128_fp32_1.log")
        texts = (
            "step: 19, total_loss: 9.725, mlm_loss: 8.960, nsp_loss: 0.766, throughput: 54.982 1598056519.8844702\n"
            "step: 119, total_loss: 8.010, mlm_loss: 7.331, nsp_loss: 0.679, throughput: 139.896 1598056537.0029895\n"
        )
        path = "oneflow/1n1g/bert_b24_fp32_1.log"
        self.assertEqual(read(texts, path)["configuration"]["model"], "BERT-Base")
        self.assertEqual(window_s(texts, path), 17.118519)
        with self.assertRaisesRegex(Invalid, "20 steps, but the window is 100 after 20"):
            read(images[: images.index("train: epoch 0, iter 120")])

    def test_steps_between_two_stamps_are_equal(self):
        text, at = "", 1.0
        for i in range(10, 131, 10):
            text += f"DLL 2020-08-26 18:{int(at) // 60:02}:{at % 60:09.6f} - Iteration: {i}  throughput_train : {768.0 if i <= 60 else 1536.0} seq/s\n"
            at += 5 if i < 60 else 2.5
        one = read(text, "1n8g/bert_b48_fp32_2.log")
        self.assertEqual(one["configuration"]["framework"], "NGC TensorFlow 1.x")
        self.assertEqual(one["ranks"][0]["step_ns"], [500_000_000] * 40 + [250_000_000] * 60)

    def test_a_line_in_100_steps_begins_the_window_after_100(self):
        path = "tensorflow/1n1g/rn50_b32_fp32_1.log"
        one = read(TF_IMAGES, path)
        said = one["configuration"]
        self.assertEqual((said["framework"], said["warmup_steps"], said["steps"]), ("TensorFlow 2.x", 100, 100))
        self.assertEqual(window_s(TF_IMAGES, path), 6.484182)
        self.assertIn("mean of the printed rates of steps 100 to 600", one["adapter"]["formula"])
        with self.assertRaisesRegex(Invalid, "100 steps, but the window is 100 after 100"):
            read(TF_IMAGES.splitlines()[0], path)
        for old, new in (("495.19", "49.519"), ("6.46 seconds", "64.6 seconds"), ("steps 100 and 200", "steps 0 and 200")):
            with self.assertRaisesRegex(Invalid, ":2: the samples of steps"):
                read(TF_IMAGES.replace(old, new), path)
        with self.assertRaisesRegex(Invalid, ":1: the samples of steps 0 to 100"):
            read(TF_IMAGES, "tensorflow/1n1g/rn50_b64_fp32_1.log")

    def test_stamps_of_absl_have_no_year(self):
        text = "".join(
            f"I0302 02:{17 + i // 30:02}:{2 * (i % 30):02}.085311 140737349982016 model_training_utils.py:539] "
            f"Train Step: {i}/120  / loss = 11.1953125 / time = 0.134 sec\n"
            for i in range(1, 121)
        )
        one = read(text, "2n8g/bert_b32_fp32_1.log")
        self.assertEqual((one["configuration"]["framework"], one["configuration"]["model"]), ("TensorFlow 2.x", "BERT-Base"))
        self.assertEqual(one["ranks"][0]["step_ns"], [2_000_000_000] * 100)

    def test_damage(self):
        """Between two stamps that are left all steps are equal, so that the window lasts as long."""
        text, at = "", 1.0
        for i in range(19, 122):
            text += (
                f"DLL 2020-09-15 14:{29 + int(at) // 60:02}:{at % 60:09.6f} - Epoch: 0 Iteration: {i} \n"
            )
            at += 0.25 + 0.001 * (i % 7)
        right = window_s(text)

        def also(found):
            return round(sum(found["ranks"][0]["step_ns"]) * 1e-9, 6) == right

        mutations.check_mutations(self, dlperf, text.rstrip("\n"), {"formula"}, also=also, path=IMAGES)
        mutations.check_mutations(
            self, dlperf, TF_IMAGES.rstrip("\n"), path="1n1g/rn50_b32_fp32_1.log",
            also=lambda found: window_s(TF_IMAGES, "1n1g/rn50_b32_fp32_1.log") == round(sum(found["ranks"][0]["step_ns"]) * 1e-9, 6),
        )  # fmt: skip

    def test_random_bytes(self):
        mutations.check_random_bytes(self, dlperf, ngc_pytorch(), 60_000, path=IMAGES)
        mutations.check_random_bytes(self, dlperf, TF_IMAGES, 20_000, path=IMAGES)


class Times(unittest.TestCase):
    def test_of_several_ranks_the_slowest_counts(self):
        path = "1n2g/rn50_b128_fp32_1.log"
        text = pytorch(2)
        self.assertEqual(read(text, path)["configuration"]["framework"], "PyTorch")
        self.assertEqual(step_ns(text, path), [round(1e6 * (363 + i % 7)) for i in range(20, 120)])
        with self.assertRaisesRegex(Invalid, "99 of the 100 steps after step 19 have a line"):
            read(text.replace("[ 77/530]", "[ 78/530]"), path)
        with self.assertRaisesRegex(Invalid, "1 lines say how long step 77 took, and 2 of step 20"):
            read(text.replace("[ 77/530]", "[577/530]", 1), path)
        with self.assertRaisesRegex(Invalid, "3 lines say how long step 20 took, and the name says 2 devices"):
            read(pytorch(3), path)

    def test_the_mean_that_each_line_has(self):
        self.assertEqual(len(step_ns(pytorch())), 100)
        with self.assertRaisesRegex(Invalid, "the mean of the times of 51 steps"):
            read(pytorch().replace("[ 50/530]       Time  0.364", "[ 50/530]       Time  0.728"))

    def test_rates_of_several_ranks(self):
        path = "1n2g/r50_b50_fp32_1.log"
        self.assertEqual(step_ns(mxnet(2), path), [1_000_000_000] * 100)
        with self.assertRaisesRegex(Invalid, "99 of the 100 steps after step 20 have a line"):
            read(without(mxnet(2), "-50]"), path)

    def test_steps_of_several_nodes_are_one(self):
        text = "".join(
            f"epoch: 1, progress: 1/1, step: {2 * i}, loss: 10.1, ppl: 30000.0, next_sent_acc: 0.5, speed: 4.000000 "
            "steps/s, file: part-0\n"
            for i in range(1, 121)
        )
        one = read(text, "2n8g/bert_b32_fp32_1.log")
        self.assertEqual(one["configuration"]["framework"], "PaddlePaddle")
        self.assertEqual(one["ranks"][0]["step_ns"], [500_000_000] * 100)
        with self.assertRaisesRegex(Invalid, ":1: step 2 is no multiple of the 3 nodes"):
            read(text, "3n8g/bert_b32_fp32_1.log")

    def test_lines_without_numbers_are_counted(self):
        # Generated from the words that extract_tensorflow_logs.py looks for: no public log that has them was found.
        text = "DLL 2020-08-13 10:00:00.000000 -  imgs_per_sec : 256.0 \n" * 100
        one = read(text, "1n1g/rn50_b128_fp32_1.log")
        self.assertEqual(one["ranks"][0]["step_ns"], [500_000_000] * 100)
        self.assertIn("which says no number of its step", one["adapter"]["formula"])
        with self.assertRaisesRegex(Invalid, "119 steps, but the window is 100 after 20"):
            read(text[text.index("\n") + 1 :], "1n1g/rn50_b128_fp32_1.log")

    def test_damage(self):
        mutations.check_mutations(self, dlperf, pytorch().rstrip("\n"), path="1n1g/rn50_b128_fp32_1.log")
        text = mxnet(first=1, steps=121).rstrip("\n")
        mutations.check_mutations(self, dlperf, text, path=IMAGES, also=self.another_rate(IMAGES, text))

    def another_rate(self, path, text):
        """A rate of a step is said once: a log of another rate of one step is another right log."""
        right = step_ns(text, path)

        def also(found):
            times = found["ranks"][0]["step_ns"]
            return len(times) == 100 and sum(a != b for a, b in zip(times, right)) <= 1

        return also

    def test_random_bytes(self):
        for text in (pytorch(), mxnet()):
            mutations.check_random_bytes(self, dlperf, text, 20_000, path=IMAGES)


class Epochs(unittest.TestCase):
    def test_of_several_ranks_the_slowest_counts(self):
        path = "mindspore/1n2g/rn50_b128_fp32_1.log"
        one = read(mindspore(2), path)
        self.assertEqual((one["configuration"]["framework"], one["configuration"]["warmup_steps"]), ("MindSpore", 20))
        self.assertEqual(window_s(mindspore(2), path), 34.5678)
        with self.assertRaisesRegex(Invalid, "90 of the 100 steps after step 20 have a line"):
            read(without(mindspore(2), "epoch: 7 step"), path)

    def test_steps_may_be_counted_from_the_first(self):
        # mindspore-ai/mindspore model_zoo/official/nlp/bert/README.md, and src/utils.py there for a log without the
        # size of the data.
        text = "".join(
            f"epoch: 0.0, current epoch percent: 0.000, step: {step}, outputs are (Tensor(shape=[1], dtype=Float32, "
            "[ 1.0856101e+01]), Tensor(shape=[], dtype=Bool, False), Tensor(shape=[], dtype=Float32, 65536))\n"
            "epoch time: 2853.640 ms, per step time: 285.364 ms\n"
            for step in range(10, 121, 10)
        )
        self.assertEqual(step_ns(text, "1n1g/bert_b32_fp32_5.log"), [285_364_000] * 100)

    def test_times_that_contradict_each_other(self):
        with self.assertRaisesRegex(Invalid, "the time of an epoch"):
            read(mindspore().replace("3456.785 ms, per", "3556.785 ms, per", 1))

    def test_damage(self):
        mutations.check_mutations(
            self, dlperf, mindspore().rstrip("\n"), path="1n1g/rn50_b128_fp32_1.log",
            also=lambda found: re.match("100 steps", found["adapter"]["formula"]) and len(set(found["ranks"][0]["step_ns"])) == 1,
        )  # fmt: skip


if __name__ == "__main__":
    unittest.main()
