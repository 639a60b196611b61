// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "paceline/records/importers.h"
#include "paceline/records/json.h"
#include "records/refusal.h"

namespace paceline::records {
namespace {

// Lines of mlcommons/training_results_v4.0, ASUSTeK/results/
// ESC8000A-E12-8xH100-PCIE-80GB/resnet/result_1.txt.
constexpr const char* kMllog = R"(
:::MLLOG {"namespace": "", "time_ms": 1715251850571, "event_type": "POINT_IN_TIME", "key": "submission_benchmark", "value": "resnet", "metadata": {"file": "<string>", "lineno": 3}}
:::MLLOG {"namespace": "", "time_ms": 1715251850609, "event_type": "POINT_IN_TIME", "key": "submission_platform", "value": "1xESC8000A-E12", "metadata": {"file": "<string>", "lineno": 3}}
:::MLLOG {"namespace": "", "time_ms": 1715251895686, "event_type": "POINT_IN_TIME", "key": "seed", "value": 11988, "metadata": {"file": "/workspace/image_classification/train_imagenet.py", "lineno": 186}}
:::MLLOG {"namespace": "", "time_ms": 1715251900504, "event_type": "POINT_IN_TIME", "key": "weights_initialization", "value": null, "metadata": {"file": "/workspace/image_classification/symbols/resnet-v1b-mainloop-fl.py", "lineno": 214, "tensor": "stage1_unit1_bn1_beta"}}
:::MLLOG {"namespace": "", "time_ms": 1715253129259, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"throughput": 36194.356825665054}, "metadata": {"file": "/workspace/image_classification/common/fit.py", "lineno": 1001, "step": 34}}
:::MLLOG {"namespace": "", "time_ms": 1715253164660, "event_type": "POINT_IN_TIME", "key": "tracked_stats", "value": {"throughput": 36189.53018148138}, "metadata": {"file": "/workspace/image_classification/common/fit.py", "lineno": 1001, "step": 35}}
:::MLLOG {"namespace": "", "time_ms": 1715253165202, "event_type": "POINT_IN_TIME", "key": "eval_accuracy", "value": 0.7602, "metadata": {"file": "/workspace/image_classification/common/fit.py", "lineno": 1043, "epoch_num": 35}}
:::MLLOG {"namespace": "", "time_ms": 1715253165202, "event_type": "INTERVAL_END", "key": "run_stop", "value": null, "metadata": {"file": "/workspace/image_classification/common/fit.py", "lineno": 1050, "status": "success", "epoch": 34}}
)";

TEST(Importers, MlperfThroughputPerTrackedStats) {
  const Importer* importer = importer_of(kMllog, "result_1.txt");
  ASSERT_NE(importer, nullptr);
  EXPECT_EQ(importer->name, "mllog");
  const auto records = importer->read(kMllog, "result_1.txt");
  ASSERT_EQ(records.size(), 1U);
  const RunRecord& record = records[0];
  EXPECT_EQ(record.configuration.model, "resnet");
  EXPECT_EQ(record.configuration.label, "1xESC8000A-E12");
  EXPECT_EQ(record.adapter.at("seed"), "11988");
  EXPECT_EQ(record.adapter.at("run_status"), "success");
  EXPECT_EQ(record.adapter.count("weights_initialization"), 0U);
  EXPECT_EQ(record.ranks[0].step_ns, (std::vector<std::int64_t>{27629, 27632}))
      << "1e9 / 36194.36, 1e9 / 36189.53: no line has the global batch";
  EXPECT_EQ(from_line(to_line(record)), record);
  EXPECT_NE(refusal([] {
              import_mllog(":::MLLOG {\"key\": \"seed\", \"value\": 1}", "x");
            }).find("x: no tracked_stats"),
            std::string::npos);
  EXPECT_NE(refusal([] { import_mllog("\n:::MLLOG {", "x"); }).find("x:2: not"),
            std::string::npos);
  std::string damaged = kMllog;
  damaged.replace(damaged.find("36189.53018148138"), 17, "null");
  EXPECT_EQ(refusal([&] { import_mllog(damaged, "x"); }),
            "x:7: the throughput null is no positive number");
}

TEST(Importers, MlperfSaysWhatTheLogDoesNot) {
  const auto codes = [](const std::string& text) {
    std::vector<std::string> found;
    const RunRecord record = import_mllog(text, "x").at(0);
    for (const Warning& warning : record.warnings) {
      found.push_back(warning.code);
    }
    return found;
  };
  EXPECT_EQ(import_mllog(kMllog, "x").at(0).configuration.framework,
            "1xESC8000A-E12");
  EXPECT_EQ(codes(kMllog), std::vector<std::string>{"devices-unknown"});
  std::string aborted = kMllog;
  aborted.replace(aborted.find("\"success\""), 9, "\"aborted\"");
  EXPECT_EQ(
      codes(aborted),
      (std::vector<std::string>{"devices-unknown", "run-not-successful"}));
  const std::string batch = R"(:::MLLOG {"event_type": "POINT_IN_TIME", )"
                            R"("key": "global_batch_size", "value": )";
  EXPECT_EQ(import_mllog(batch + "3264}" + kMllog, "x")
                .at(0)
                .configuration.batch_size,
            3264);
  for (const char* wrong : {"0", "-8", "null", "\"many\""}) {
    EXPECT_NE(refusal([&] {
                import_mllog(batch + wrong + "}" + kMllog, "x");
              }).find("x:1: the global_batch_size"),
              std::string::npos)
        << wrong;
  }
}

// Lines of mlcommons/hpc_results_v1.0, LBNL/results/
// perlmutter_10x128x4_ngc21.09_mxnet/weak/cosmoflow/result_1.txt.
constexpr const char* kHpcLog = R"(
:::MLLOG {"namespace": "", "time_ms": 1633530195688, "event_type": "POINT_IN_TIME", "key": "submission_benchmark", "value": "cosmoflow", "metadata": {"file": "train.py", "lineno": 137, "instance_id": 0}}
:::MLLOG {"namespace": "", "time_ms": 1633530195689, "event_type": "POINT_IN_TIME", "key": "number_of_nodes", "value": 128, "metadata": {"file": "train.py", "lineno": 145, "instance_id": 0}}
:::MLLOG {"namespace": "", "time_ms": 1633530195689, "event_type": "POINT_IN_TIME", "key": "accelerators_per_node", "value": 4, "metadata": {"file": "train.py", "lineno": 146, "instance_id": 0}}
:::MLLOG {"namespace": "", "time_ms": 1633530274006, "event_type": "POINT_IN_TIME", "key": "global_batch_size", "value": 512, "metadata": {"file": "/global/u2/s/sfarrell/WorkAreas/mlperf/cosmoflow-nv-hpc-v1.0/cosmoflow/data.py", "lineno": 352, "instance_id": 0}}
:::MLLOG {"namespace": "", "time_ms": 1633530403816, "event_type": "POINT_IN_TIME", "key": "throughput", "value": 22220.347361610737, "metadata": {"file": "train.py", "lineno": 352, "epoch_num": 1, "instance_id": 0}}
:::MLLOG {"namespace": "", "time_ms": 1633530452334, "event_type": "POINT_IN_TIME", "key": "throughput", "value": 27235.935572323197, "metadata": {"file": "train.py", "lineno": 352, "epoch_num": 2, "instance_id": 0}}
)";

TEST(Importers, MlperfDevicesAreTheAcceleratorsOfAllNodes) {
  const RunRecord record = import_mllog(kHpcLog, "result_1.txt").at(0);
  const Configuration& c = record.configuration;
  EXPECT_EQ(c.ranks, 512);
  EXPECT_EQ(c.ranks_per_host, std::vector<int>(128, 4));
  EXPECT_EQ(c.batch_size, 1);
  EXPECT_EQ(record.ranks[0].step_ns,
            (std::vector<std::int64_t>{23041944, 18798693}))
      << "512e9 / 22220.35, 512e9 / 27235.94";
  EXPECT_EQ(from_line(to_line(record)), record);
  const auto codes_with = [](const std::string& line, const std::string& now) {
    std::string text = kHpcLog;
    text.replace(text.find(line), line.size(), now);
    std::vector<std::string> codes;
    const RunRecord changed = import_mllog(text, "x").at(0);
    for (const Warning& warning : changed.warnings) {
      codes.push_back(warning.code);
    }
    codes.push_back(std::to_string(changed.configuration.ranks));
    return codes;
  };
  using Codes = std::vector<std::string>;
  EXPECT_EQ(codes_with("\"value\": 512", "\"value\": 1000"),
            (Codes{"batch-unknown", "run-not-successful", "512"}));
  for (const char* absent : {"0", "null", "1e9"}) {
    EXPECT_EQ(codes_with("\"value\": 4", std::string("\"value\": ") + absent),
              (Codes{"devices-unknown", "run-not-successful", "1"}))
        << absent;
  }
}

}  // namespace
}  // namespace paceline::records
