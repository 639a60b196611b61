// SPDX-License-Identifier: Apache-2.0
#include "paceline/records/importers.h"

#include <gtest/gtest.h>

#include "paceline/records/json.h"
#include "records/refusal.h"

namespace paceline::records {
namespace {

// Generated: no public log of NGC PyTorch was found that has 120 steps.  The
// line is the first of NgcPyTorch in import_real_lines_test.cc, with the times
// of steps of 0.25 s; step 20, which the window leaves out, lasts 40 s.
std::string dll_log(int steps) {
  std::string text = "RUNNING EPOCHS FROM 0 TO 1\n";
  double at = 13.473765;
  for (int i = 1; i <= steps; ++i) {
    const int whole = static_cast<int>(at);
    char line[200];
    std::snprintf(line,
                  sizeof line,
                  "DLL 2020-09-15 14:%02d:%02d.%06d - Epoch: 0 Iteration: %d  "
                  "train.loss : 7.09304  train.total_ips : 267.44 img/s\n",
                  29 + whole / 60,
                  whole % 60,
                  static_cast<int>((at - whole) * 1e6 + 0.5),
                  i);
    text += line;
    at += i == 19 ? 40 : 0.25;
  }
  return text;
}

TEST(Importers, DlperfLogIsHundredStepsAfterTwenty) {
  const std::string path = "logs/1n8g/rn50_b128_fp32_3.log";
  const Importer* importer = importer_of(dll_log(130), path);
  ASSERT_NE(importer, nullptr);
  EXPECT_EQ(importer->name, "dlperf");
  const RunRecord record = importer->read(dll_log(130), path).at(0);
  const Configuration& c = record.configuration;
  EXPECT_EQ(c.framework, "NGC PyTorch");
  EXPECT_EQ(c.model, "ResNet-50-v1.5");
  EXPECT_EQ(c.batch_size, 128);
  EXPECT_EQ(c.ranks, 8);
  EXPECT_EQ(record.run, 2);
  ASSERT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_NEAR(static_cast<double>(record.ranks[0].window_ns), 25e9, 1e4);
  EXPECT_NE(record.adapter.at("formula").find("100 steps after 20"),
            std::string::npos);
  EXPECT_EQ(from_line(to_line(record)), record);
}

TEST(Importers, DlperfCountsLinesThatItCannotRead) {
  const std::string path = "logs/1n8g/rn50_b128_fp32_3.log";
  EXPECT_TRUE(import_dlperf_log(dll_log(130), path).at(0).warnings.empty());
  std::string damaged = dll_log(130);
  for (const int step : {7, 30}) {  // which have the lines 8 and 31
    const auto at = damaged.find(" Iteration: " + std::to_string(step) + " ");
    damaged.erase(damaged.rfind("DLL 2020", at), 20);
  }
  const RunRecord record = import_dlperf_log(damaged, path).at(0);
  ASSERT_EQ(record.warnings.size(), 1U);
  EXPECT_EQ(record.warnings[0].code, "unreadable-lines");
  EXPECT_EQ(record.warnings[0].seen,
            "2 lines of a step cannot be read, the first is line 8");
  EXPECT_NEAR(static_cast<double>(record.ranks[0].window_ns), 25e9, 1e4);
}

// A copy of `text` without the lines that hold `words`.
std::string without(const std::string& text, const std::string& words) {
  std::string rest = text;
  for (auto at = rest.find(words); at != std::string::npos;
       at = rest.find(words)) {
    const auto begin = rest.rfind('\n', at) + 1;
    rest.erase(begin, rest.find('\n', at) + 1 - begin);
  }
  return rest;
}

TEST(Importers, DlperfStepsAreCountedByTheirNumbers) {
  const std::string path = "logs/1n8g/rn50_b128_fp32_3.log";
  // Steps 30 to 39, 3 and 130.
  std::string lost = without(dll_log(130), " Iteration: 3");
  lost = without(lost, " Iteration: 130 ");
  const RunRecord record = import_dlperf_log(lost, path).at(0);
  ASSERT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_NEAR(static_cast<double>(record.ranks[0].window_ns), 25e9, 1e4);
  EXPECT_EQ(refusal([&] {
              import_dlperf_log(without(lost, " Iteration: 20 "), path);
            }),
            path +
                ": no line says when step 20 ended, which is a border of the "
                "window");
}

TEST(Importers, DlperfLogThatIsTooShortOrNamedOtherwiseIsRefused) {
  EXPECT_NE(refusal([] {
              import_dlperf_log(dll_log(50), "1n1g/rn50_b128_fp32_1.log");
            }).find("50 steps, but the window is 100 after 20"),
            std::string::npos);
  EXPECT_EQ(importer_of(dll_log(130), "train.log"), nullptr);
  EXPECT_NE(refusal([] {
              import_dlperf_log("x", "train.log");
            }).find("no log of DLPerf"),
            std::string::npos);
}

TEST(Importers, DlperfNamesWithoutDevicesOrSamplesAreRefused) {
  const auto said = [](const std::string& path) {
    return refusal([&] { import_dlperf_log(dll_log(130), path); });
  };
  const std::string range = " in its name is not from 1 to 32768";
  EXPECT_EQ(said("0n8g/rn50_b128_fp32_1.log"),
            "0n8g/rn50_b128_fp32_1.log: 0" + range);
  EXPECT_EQ(said("1n0g/rn50_b128_fp32_1.log"),
            "1n0g/rn50_b128_fp32_1.log: 0" + range);
  EXPECT_EQ(said("1n8g/rn50_b0_fp32_1.log"),
            "1n8g/rn50_b0_fp32_1.log: 0" + range);
  EXPECT_EQ(said("1n8g/rn50_b99999999999_fp32_1.log"),
            "1n8g/rn50_b99999999999_fp32_1.log: 99999999999" + range);
}

// The lines of Oneflow-Inc/DLPerf, OneFlow/Classification/ConvNets/
// resnet50v1.5/extract_cnn_result.py and OneFlow/LanguageModeling/BERT/
// extract_bert_result.py.
TEST(Importers, DlperfStampsOfNumberedSteps) {
  const std::string images =
      "model = resnet50\n"
      "train: epoch 0, iter 20, loss: 7.087004, top_1: 0.000000, top_k: "
      "0.000000, samples/s: 3988.891 1597933942.9863544\n"
      "train: epoch 0, iter 120, loss: 1.050499, top_1: 1.000000, top_k: "
      "1.000000, samples/s: 5917.583 1597933977.6064055\n";
  const RunRecord record =
      import_dlperf_log(images, "oneflow/2n8g/rn50_b128_fp32_1.log").at(0);
  EXPECT_EQ(record.configuration.framework, "OneFlow");
  ASSERT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_NEAR(
      static_cast<double>(record.ranks[0].window_ns), 34.6200511e9, 1e3);
  const std::string texts =
      "step: 19, total_loss: 9.725, mlm_loss: 8.960, nsp_loss: 0.766, "
      "throughput: 54.982 1598056519.8844702\n"
      "step: 119, total_loss: 8.010, mlm_loss: 7.331, nsp_loss: 0.679, "
      "throughput: 139.896 1598056537.0029895\n";
  const RunRecord bert =
      import_dlperf_log(texts, "oneflow/1n1g/bert_b24_fp32_1.log").at(0);
  EXPECT_EQ(bert.configuration.model, "BERT-Base");
  EXPECT_NEAR(static_cast<double>(bert.ranks[0].window_ns), 17.1185193e9, 1e3);
  EXPECT_NE(refusal([&] {
              import_dlperf_log(images.substr(0,
                                              images.find("train: epoch 0, "
                                                          "iter 120")),
                                "1n1g/rn50_b128_fp32_1.log");
            }).find("20 steps, but the window is 100 after 20"),
            std::string::npos);
}

// Generated: no public log of NGC TensorFlow's BERT was found that has 120
// steps.  The line is that of NgcTensorFlow in import_real_lines_test.cc; one
// in 10 steps, of 0.5 s each, and after the 60th step of 0.25 s.
TEST(Importers, DlperfStepsBetweenTwoStampsAreEqual) {
  std::string text;
  double at = 1;
  for (int i = 10; i <= 130; i += 10) {
    char line[100];
    std::snprintf(line,
                  sizeof line,
                  "DLL 2020-08-26 18:%02d:%09.6f - Iteration: %d "
                  " throughput_train : 120.0 seq/s\n",
                  static_cast<int>(at) / 60,
                  std::fmod(at, 60.0),
                  i);
    text += line;
    at += i < 60 ? 5 : 2.5;
  }
  const RunRecord record =
      import_dlperf_log(text, "1n8g/bert_b48_fp32_2.log").at(0);
  EXPECT_EQ(record.configuration.framework, "NGC TensorFlow 1.x");
  ASSERT_EQ(record.ranks[0].step_ns.size(), 100U);
  EXPECT_EQ(record.ranks[0].step_ns[39], 500'000'000);
  EXPECT_EQ(record.ranks[0].step_ns[40], 250'000'000);
}

// Generated: two ranks, of which one is slower in each step.  The line is that
// of PyTorch in import_real_lines_test.cc, with other numbers.
TEST(Importers, DlperfTimesOfSeveralRanksAreTheSlowestOnes) {
  std::string text;
  for (int i = 0; i < 120; ++i) {
    for (const int rank : {0, 1}) {
      char line[200];
      std::snprintf(
          line,
          sizeof line,
          "     Epoch: [0][%3d/530]       Time  %.3f ( 4.462)    Data  0.114 "
          "( 0.039)    Loss 3.3840e+01 (2.2378e+01)    Acc@1   2.34 (  1.82) "
          "Acc@5  10.94 (  7.81)\n",
          i,
          rank == i % 2 ? 0.363 : 0.25);
      text += line;
    }
  }
  const std::string path = "1n2g/rn50_b128_fp32_1.log";
  const RunRecord record = import_dlperf_log(text, path).at(0);
  EXPECT_EQ(record.configuration.framework, "PyTorch");
  EXPECT_EQ(record.ranks[0].step_ns,
            std::vector<std::int64_t>(100, 363'000'000));
  text.replace(text.find("[ 77/530]"), 9, "[ 78/530]");
  text.replace(text.find("[ 77/530]"), 9, "[ 78/530]");
  EXPECT_NE(refusal([&] {
              import_dlperf_log(text, path);
            }).find("99 of the 100 steps after step 19 have a line"),
            std::string::npos);
}

// Generated: no public log of MXNet was found that has a line for each step.
// The line is that of MxNet in import_real_lines_test.cc.
TEST(Importers, DlperfRatesOfAllDevicesAndOfSteps) {
  std::string text;
  for (int i = 1; i <= 130; ++i) {
    text += "2019-08-21 12:24:33,668 INFO Epoch[0] Batch [" +
            std::to_string(i) +
            "]\tSpeed: 2048.00 samples/sec\taccuracy=0.211397\n";
  }
  // Two-digit numbers of nodes, which the original does not read.
  const RunRecord record =
      import_dlperf_log(text, "12n8g/r50_b64_fp16_1.log").at(0);
  EXPECT_EQ(record.configuration.ranks, 96);
  EXPECT_EQ(record.configuration.dtype, "amp");
  EXPECT_EQ(record.ranks[0].step_ns[0], 3'000'000'000);
}

// The lines of Speedometer in apache/mxnet 1.6, python/mxnet/callback.py; all
// ranks write to one log, and one of them is slower in each step.
TEST(Importers, DlperfRatesOfSeveralRanksAreTheSlowestOnes) {
  std::string text;
  for (int i = 1; i <= 120; ++i) {
    for (const int rank : {0, 1}) {
      text += "2020-08-01 10:00:00,000 Epoch[0] Batch [" +
              std::to_string(i - 1) + "-" + std::to_string(i) +
              "]\tSpeed: " + (rank == i % 2 ? "100.00" : "400.00") +
              " samples/sec\n";
    }
  }
  const std::string path = "1n2g/r50_b50_fp32_1.log";
  EXPECT_EQ(import_dlperf_log(text, path).at(0).ranks[0].step_ns,
            std::vector<std::int64_t>(100, 1'000'000'000));
  EXPECT_NE(refusal([&] {
              import_dlperf_log(without(text, "-50]"), path);
            }).find("99 of the 100 steps after step 20 have a line"),
            std::string::npos);
}

// Generated.  The line is that of PaddlePaddle in import_real_lines_test.cc;
// its step and speed count a step of two nodes as two.
TEST(Importers, DlperfStepsOfSeveralNodesAreOne) {
  std::string text;
  for (int i = 1; i <= 120; ++i) {
    text += "epoch: 1, progress: 1/1, step: " + std::to_string(2 * i) +
            ", loss: 10.1, ppl: 30000.0, next_sent_acc: 0.5, speed: 4.000000 "
            "steps/s, file: part-0\n";
  }
  const RunRecord record =
      import_dlperf_log(text, "2n8g/bert_b32_fp32_1.log").at(0);
  EXPECT_EQ(record.configuration.framework, "PaddlePaddle");
  EXPECT_EQ(record.ranks[0].step_ns,
            std::vector<std::int64_t>(100, 500'000'000));
}

// Generated from the words that DLPerf's extract_tensorflow_logs.py looks for:
// no public log that has them was found.  The log begins after step 20.
TEST(Importers, DlperfLinesWithoutNumbersAreCounted) {
  std::string text;
  for (int i = 21; i <= 120; ++i) {
    text += "DLL 2020-08-13 10:00:00.000000 -  imgs_per_sec : 256.0 \n";
  }
  const RunRecord record =
      import_dlperf_log(text, "1n1g/rn50_b128_fp32_1.log").at(0);
  EXPECT_EQ(record.ranks[0].step_ns,
            std::vector<std::int64_t>(100, 500'000'000));
  EXPECT_NE(record.adapter.at("formula").find("which says no number"),
            std::string::npos);
}

constexpr const char* kRates =
    "table_id,framework,framework_version,model,precision,xla,"
    "gradient_clipping,dali,batch_mode,batch_size_per_device,nodes,gpus,"
    "throughput_samples_per_s,published_speedup,flags\n"
    "t,\"NGC, "
    "MXNet\",1.6.0,ResNet-50-v1.5,fp32,no,,listed,fixed,128,1,1,392.24,"
    "1,\n"
    "t,\"NGC, MXNet\",1.6.0,ResNet-50-v1.5,fp32,no,,listed,fixed,128,2,16,"
    "5758.49,14.681,\n";

TEST(Importers, RatesKeepThePublishedText) {
  const Importer* importer = importer_of(kRates, "dlperf.csv");
  ASSERT_NE(importer, nullptr);
  const auto records = importer->read(kRates, "dlperf.csv");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].configuration.framework, "NGC, MXNet");
  EXPECT_EQ(records[1].configuration.ranks_per_host, (std::vector<int>{8, 8}));
  EXPECT_EQ(records[1].adapter.at("reported_samples_per_s"), "5758.49");
  EXPECT_EQ(records[1].ranks[0].step_ns[0], 355'648'790);
  EXPECT_EQ(from_line(to_line(records[1])), records[1]);
}

TEST(Importers, RatesThatAreWrongAreRefusedWithTheirLine) {
  std::string text = kRates;
  text.replace(text.find("5758.49"), 7, "fast");
  EXPECT_EQ(refusal([&] { import_rate_table(text, "x.csv"); }),
            "x.csv:3: throughput_samples_per_s: 'fast' is no positive number");
  std::string lacking = kRates;
  lacking.replace(lacking.find("gpus"), 4, "cards");
  EXPECT_EQ(refusal([&] { import_rate_table(lacking, "x.csv"); }),
            "x.csv:2: the column 'gpus' is missing");
  EXPECT_NE(refusal([] {
              import_rate_table(std::string(kRates) + "a,b\n", "x.csv");
            }).find("x.csv:4: 2 fields, the header has 15"),
            std::string::npos);
}

TEST(Importers, RatesThatCannotBeAreRefusedWithTheirLine) {
  for (const char* rate : {"inf", "1e300", "1e-300"}) {
    std::string text = kRates;
    text.replace(text.find("5758.49"), 7, rate);
    EXPECT_NE(refusal([&] { import_rate_table(text, "x.csv"); })
                  .find(std::string("x.csv:3: throughput_samples_per_s: '") +
                        rate + "' is no throughput"),
              std::string::npos)
        << rate;
  }
  std::string twice = kRates;
  twice += twice.substr(twice.find(
      "t,\"NGC, MXNet\",1.6.0,ResNet-50-v1.5,fp32,no,,listed,fixed,128,2"));
  EXPECT_EQ(refusal([&] { import_rate_table(twice, "x.csv"); }),
            "x.csv:4: the cell of line 3 again");
}

}  // namespace
}  // namespace paceline::records
