// SPDX-License-Identifier: Apache-2.0
// Logs of DLPerf whose lines stand for several steps.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/records/importers.h"
#include "refusal.h"

namespace paceline::records {
namespace {

std::int64_t window_ns(const RunRecord& record) {
  return record.ranks.at(0).window_ns;
}

// HabanaAI/DL1-Workshop TF-EfficientNet/web_content/EfficientNet.md: lines of
// tensorflow/models official/vision/image_classification/classifier_trainer.py,
// which Oneflow-Inc/DLPerf TensorFlow/resnet50v1.5/scripts/single_node_train.sh
// runs.  A log of DLPerf itself is in import_real_lines_test.cc.
constexpr const char* kTensorFlowImages =
    "I0407 21:16:58.541527 139725706671936 keras_utils.py:145] TimeHistory: "
    "43.91 seconds, 72.87 examples/second between steps 0 and 100\n"
    "I0407 21:17:05.025709 139725706671936 keras_utils.py:145] TimeHistory: "
    "6.46 seconds, 495.19 examples/second between steps 100 and 200\n"
    "I0407 21:17:11.425594 139725706671936 keras_utils.py:145] TimeHistory: "
    "6.39 seconds, 500.52 examples/second between steps 200 and 300\n";

TEST(ImportDlperfLog, ALineIn100StepsBeginsTheWindowAfter100) {
  const std::string path = "tensorflow/1n1g/rn50_b32_fp32_1.log";
  const RunRecord record = import_dlperf_log(kTensorFlowImages, path).at(0);
  EXPECT_EQ(record.configuration.framework, "TensorFlow 2.x");
  EXPECT_EQ(record.configuration.warmup, 100);
  EXPECT_EQ(record.configuration.steps, 100);
  EXPECT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_NEAR(static_cast<double>(window_ns(record)), 6.484182e9, 1e3);
  EXPECT_EQ(record.adapter.at("formula"),
            "100 steps after 100, samples over the sum of their times; "
            "DLPerf's own extractor takes the mean of the printed rates of "
            "steps 100 to 600");
  const std::string text = kTensorFlowImages;
  EXPECT_EQ(refusal([&] {
              import_dlperf_log(text.substr(0, text.find("I0407 21:17:05")),
                                path);
            }),
            path + ": 100 steps, but the window is 100 after 100");
}

// Generated: the line is that of TensorFlowOfTexts in
// import_real_lines_test.cc, with other numbers.
TEST(ImportDlperfLog, StampsOfAbslHaveNoYear) {
  std::string text;
  for (int i = 1; i <= 120; ++i) {
    text += fmt::format(
        "I0302 02:{:02}:{:02}.085311 140737349982016 "
        "model_training_utils.py:539] Train Step: {}/120  / loss = 11.1953125 "
        "/ time = 0.134 sec\n",
        17 + i / 30,
        2 * (i % 30),
        i);
  }
  const RunRecord record =
      import_dlperf_log(text, "2n8g/bert_b32_fp32_1.log").at(0);
  EXPECT_EQ(record.configuration.framework, "TensorFlow 2.x");
  EXPECT_EQ(record.configuration.model, "BERT-Base");
  EXPECT_EQ(record.ranks[0].step_ns,
            std::vector<std::int64_t>(100, 2'000'000'000));
}

// Generated: of `ranks` whose output mpirun joins, an epoch of 10 steps each;
// the loss of mindspore-ai/mindspore model_zoo/official/cv/resnet/README.md,
// the times of mindspore/train/callback/_time_monitor.py.
std::string mindspore_images(int ranks) {
  std::string text;
  for (int epoch = 1; epoch <= 12; ++epoch) {
    for (int rank = 0; rank < ranks; ++rank) {
      text += fmt::format("epoch: {} step: 10, loss is 1.9601055\n", epoch);
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const double ms = rank == epoch % ranks ? 3456.785 : 3300.123;
      text += fmt::format(
          "epoch time: {:5.3f} ms, per step time: {:5.3f} ms\n", ms, ms / 10);
    }
  }
  return text;
}

TEST(ImportDlperfLog, EpochsOfSeveralRanksAreThoseOfTheSlowest) {
  const std::string path = "mindspore/1n2g/rn50_b128_fp32_1.log";
  std::string text = mindspore_images(2);
  const RunRecord record = import_dlperf_log(text, path).at(0);
  EXPECT_EQ(record.configuration.framework, "MindSpore");
  EXPECT_EQ(record.configuration.warmup, 20);
  ASSERT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_NEAR(static_cast<double>(window_ns(record)), 34.56785e9, 1e6);
  const std::string lost = "epoch: 7 step: 10, loss is 1.9601055\n";
  for (auto at = text.find(lost); at != std::string::npos;
       at = text.find(lost)) {
    text.erase(at, lost.size());
  }
  EXPECT_EQ(refusal([&] { import_dlperf_log(text, path); }),
            path + ": 90 of the 100 steps after step 20 have a line");
}

// mindspore-ai/mindspore model_zoo/official/nlp/bert/README.md, and
// src/utils.py there for a log without the size of the data.
TEST(ImportDlperfLog, StepsOfAnEpochMayBeCountedFromTheFirst) {
  std::string text;
  for (int step = 10; step <= 120; step += 10) {
    text += fmt::format(
        "epoch: 0.0, current epoch percent: 0.000, step: {}, outputs are "
        "(Tensor(shape=[1], dtype=Float32, [ 1.0856101e+01]), "
        "Tensor(shape=[], dtype=Bool, False), Tensor(shape=[], dtype=Float32, "
        "65536))\nepoch time: 2853.640 ms, per step time: 285.364 ms\n",
        step);
  }
  const RunRecord record =
      import_dlperf_log(text, "1n1g/bert_b32_fp32_5.log").at(0);
  EXPECT_EQ(record.configuration.framework, "MindSpore");
  EXPECT_EQ(record.ranks[0].step_ns,
            std::vector<std::int64_t>(100, 285'364'000));
}

}  // namespace
}  // namespace paceline::records
