# SPDX-License-Identifier: Apache-2.0
"""Lines of DLPerf's frameworks as public repositories have them, each with its repository and path.
A log that holds no whole window is rejected with the number of steps that were read from it."""

import unittest

import mutations
from paceline.readers import dlperf
from paceline.readers.checks import Invalid

# Oneflow-Inc/DLPerf e36df2e, Tensorflow/resnet50v1.5/logs/tensorflow/resnet50/1n8g/rn50_b128_fp32_3.log, all lines
# that say times.
TENSORFLOW = """I0826 22:24:57.954259 140123426031360 keras_utils.py:133] TimeHistory: 134.33 seconds, 762.32 examples/second between steps 0 and 100
I0826 22:25:40.053065 140123426031360 keras_utils.py:133] TimeHistory: 42.09 seconds, 2432.78 examples/second between steps 100 and 200
I0826 22:26:21.380457 140123426031360 keras_utils.py:133] TimeHistory: 41.32 seconds, 2478.08 examples/second between steps 200 and 300
I0826 22:27:02.736152 140123426031360 keras_utils.py:133] TimeHistory: 41.35 seconds, 2476.39 examples/second between steps 300 and 400
I0826 22:27:44.891260 140123426031360 keras_utils.py:133] TimeHistory: 42.15 seconds, 2429.37 examples/second between steps 400 and 500
I0826 22:28:26.235080 140123426031360 keras_utils.py:133] TimeHistory: 41.34 seconds, 2477.07 examples/second between steps 500 and 600
"""

SHORT = (
    # Oneflow-Inc/DLPerf, NVIDIADeepLearningExamples/PyTorch/resnet50v1.5/README.md, lines 347 ff.
    ("1n8g/rn50_b128_fp32_1.log", 3, """DLL 2020-09-15 14:29:13.473765 - Epoch: 0 Iteration: 1  train.loss : 7.09304  train.total_ips : 267.44 img/s
DLL 2020-09-15 14:29:14.427490 - Epoch: 0 Iteration: 2  train.loss : 6.93504  train.total_ips : 4294.91 img/s
DLL 2020-09-15 14:29:15.018767 - Epoch: 0 Iteration: 3  train.loss : 6.85957  train.total_ips : 6928.79 img/s
"""),
    # PaddlePaddle/Perf, Bert/OtherReports/PyTorch/logs/V100_LOG/
    # bert_base_lamb_pretraining.pyt_bert_pretraining_phase1_fp32_bs96_gpu8.log
    ("1n8g/bert-base-adam-training_b96_fp32_1.log", 2, """DLL 2023-07-28 14:01:46.376161 - Training Epoch: 0 Training Iteration: 1  average_loss : 0.0  learning_rate : 0.0  skipped_steps : 0 
DLL 2023-07-28 14:02:40.988775 - Training Epoch: 0 Training Iteration: 2  average_loss : 11.184912941672586  learning_rate : 0.0010552234016358852  skipped_steps : 0 
"""),
    # Oneflow-Inc/DLPerf, PyTorch/resnet50v1.5/README.md, lines 333 ff.
    ("1n1g/rn50_b128_fp32_1.log", 3, """     Epoch: [0][ 0/53]       Time 12.054 (12.054)    Data  0.001 ( 0.001)    Loss 6.9828e+00 (6.9828e+00)    Acc@1   0.78 (  0.78) Acc@5   1.56 (  1.56)
     Epoch: [0][ 1/53]       Time  0.970 ( 6.512)    Data  0.002 ( 0.001)    Loss 2.6312e+01 (1.6647e+01)    Acc@1   1.56 (  1.17) Acc@5  10.94 (  6.25)
     Epoch: [0][ 2/53]       Time  0.363 ( 4.462)    Data  0.114 ( 0.039)    Loss 3.3840e+01 (2.2378e+01)    Acc@1   2.34 (  1.82) Acc@5  10.94 (  7.81)
"""),
    # PaddlePaddle/Perf, Bert/OtherReports/TensorFlow/README.md of 2020-12-08.
    ("1n1g/bert_b32_fp32_1.log", 17, """DLL 2020-12-07 20:04:34.092791 - Iteration: 16  throughput_train : 145.221 seq/s mlm_loss : 10.4521  nsp_loss : 0.6735  total_loss : 11.1256  avg_loss_step : 11.1381  learning_rate : 5.25e-06
DLL 2020-12-07 20:12:05.701908 - Iteration: 17  throughput_train : 145.250 seq/s mlm_loss : 10.4404  nsp_loss : 0.6923  total_loss : 11.1327  avg_loss_step : 11.1358  learning_rate : 5.625e-06
"""),
    # NVIDIA/DeepLearningExamples, issue 1262.
    ("1n1g/bert_b11_fp16_1.log", 12, """I0302 02:12:35.623627 140737349982016 model_training_utils.py:539] Train Step: 11/90  / loss = 11.1015625 / time = 0.135 sec
I0302 02:12:40.530828 140737349982016 model_training_utils.py:539] Train Step: 12/90  / loss = 11.09375 / time = 0.134 sec
"""),
)  # fmt: skip

FAR_APART = (
    # apache/mxnet, issue 15962.
    ("1n4g/r50_b32_fp32_1.log", 2, """2019-08-21 12:24:33,668 INFO Epoch[0] Batch [50]\tSpeed: 590.59 samples/sec\taccuracy=0.211397
2019-08-21 12:24:44,679 INFO Epoch[0] Batch [100]\tSpeed: 581.25 samples/sec\taccuracy=0.270625
2019-08-21 12:24:55,786 INFO Epoch[0] Batch [150]\tSpeed: 576.24 samples/sec\taccuracy=0.315156
"""),
    # PaddlePaddle/models, issue 3828.
    ("1n1g/bert_b32_fp32_1.log", 0, "epoch: 4, progress: 1/1, step: 8720, loss: 8.089045, ppl: 1050.821289, next_sent_acc: 0.250000, "
     "speed: 5.793753 steps/s, file: demo_wiki_train.gz\n"),
)  # fmt: skip


def read(text, path):
    return mutations.records_of(dlperf, text, path)


class RealLines(unittest.TestCase):
    def test_a_log_of_tensorflow_has_its_window(self):
        (one,) = read(TENSORFLOW, "tensorflow/resnet50/1n8g/rn50_b128_fp32_3.log")
        self.assertEqual((one["configuration"]["framework"], one["configuration"]["ranks"]), ("TensorFlow 2.x", 8))
        self.assertEqual(one["run"], 2)
        step_ns = one["ranks"][0]["step_ns"]
        self.assertEqual((len(step_ns), round(sum(step_ns) * 1e-9, 6)), (100, 42.098806))

    def test_steps_that_are_read(self):
        for path, steps, text in SHORT:
            self.assertTrue(dlperf.recognizes(mutations.source_of(text, path)), path)
            with self.assertRaisesRegex(Invalid, f"^{path}: {steps} steps, but the window is 100 after 20"):
                read(text, path)

    def test_lines_that_are_far_apart(self):
        for path, steps, text in FAR_APART:
            with self.assertRaisesRegex(Invalid, f"^{path}: {steps} of the 100 steps after step 20 have a line"):
                read(text, path)


if __name__ == "__main__":
    unittest.main()
