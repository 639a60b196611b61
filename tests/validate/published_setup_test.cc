// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/published_setup.h"

#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/strategies/strategy.h"
#include "paceline/validate/cell.h"
#include "paceline/validate/csv.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

const std::filesystem::path kReference = PACELINE_SOURCE_DIR "/reference";

/// Rows of a category of ddl_benchmarks_setup.csv: value by item and scope.
std::map<std::pair<std::string, std::string>, std::string> setup(
    const std::string& category) {
  const Csv csv = Csv::read(kReference / "ddl_benchmarks_setup.csv");
  std::map<std::pair<std::string, std::string>, std::string> values;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.text(row, "category") == category) {
      values[{csv.text(row, "item"), csv.text(row, "scope")}] =
          csv.text(row, "value");
    }
  }
  return values;
}

/// setup_other_systems.csv: value of an item.
std::string other_setup(const std::string& system, const std::string& item) {
  const Csv csv = Csv::read(kReference / "setup_other_systems.csv");
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.text(row, "system") == system && csv.text(row, "item") == item) {
      return csv.text(row, "value");
    }
  }
  return "";
}

TEST(PublishedSetup, RatesOfOneDeviceAreTheFiles) {
  const auto rates = setup("single_gpu_throughput");
  ASSERT_EQ(rates.size(), published_models().size());
  for (const Published& one : published_models()) {
    const std::string scope =
        fmt::format("batch_size_per_gpu={}", one.batch_size);
    EXPECT_EQ(one.samples_per_s,
              std::stod(rates.at({std::string(one.model), scope})))
        << one.model;
  }
  const Csv cells = Csv::read(kReference / "ddl_benchmarks.csv");
  for (std::size_t row = 0; row < cells.rows(); ++row) {
    const Published& one = published(cells.text(row, "model"));
    const std::string& id = cells.text(row, "row_id");
    EXPECT_EQ(cells.number(row, "batch_size_per_gpu"), one.batch_size) << id;
    EXPECT_EQ(cells.number(row, "single_gpu_samples_per_s"), one.samples_per_s)
        << id;
  }
}

TEST(PublishedSetup, OptimizersAreTheFiles) {
  const auto methods = setup("method");
  EXPECT_EQ(methods.at({"optimizer", "ResNet-50"}), "SGD without momentum");
  EXPECT_FALSE(published("ResNet-50").adam);
  EXPECT_EQ(methods.at({"optimizer",
                        "BERT horovod and mgwfbp / bytescheduler / byteps"}),
            "AdamW / Adam / SGD");
  EXPECT_TRUE(published("BERT-Base").adam);
  EXPECT_TRUE(published("BERT-Large").adam);
}

TEST(PublishedSetup, TablesOfMgWfbpAreTheFiles) {
  const auto table = setup("alpha_beta_table");
  for (const char* network : {"10GbE", "56GbIB"}) {
    const auto lines = planning_lines(network);
    ASSERT_EQ(lines.size(), 4U);  // 4, 8, 16 and 32 devices
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto& [ranks, alpha, beta] = lines[i];
      const std::string scope = fmt::format("{} workers={}", network, ranks);
      SCOPED_TRACE(scope);
      EXPECT_EQ(ranks, 4 << i);
      EXPECT_EQ(alpha, std::stod(table.at({"alpha", scope})));
      EXPECT_EQ(beta, std::stod(table.at({"beta", scope})));
    }
  }
}

TEST(PublishedSetup, FramesOfBlueFogAreTheFiles) {
  for (const int batch_size : {32, 64}) {
    EXPECT_EQ(
        bluefog_alone(batch_size),
        std::stod(other_setup(
            "bluefog", fmt::format("ideal_per_gpu_batch{}", batch_size))));
  }
}

TEST(PublishedSetup, FixedNumbersAreTheFiles) {
  const auto methods = setup("method");
  const auto method = [&](const std::string& item, const std::string& scope) {
    return std::stod(methods.at({item, scope}));
  };
  EXPECT_EQ(kServerPartition, method("partition", "parameter_server"));
  EXPECT_EQ(kSchedulerPartition, method("partition", "ByteScheduler-A2A"));
  EXPECT_EQ(kSchedulerCredit, method("credit", "ByteScheduler-A2A"));
  EXPECT_EQ(kMergedBelow, method("merge_when_below", "MG-WFBP"));
  const auto lines = setup("network");
  const auto rate = [](const std::string& gigabit) {
    return std::stod(gigabit) * 1e9 / 8;
  };
  EXPECT_EQ(kTenGigabit, rate(lines.at({"line_rate", "10GbE"})));
  EXPECT_EQ(kInfiniBand, rate(lines.at({"line_rate", "100GbIB"})));
  EXPECT_EQ(kInfiniBand, rate(other_setup("dlperf", "network_line_rate")));
  EXPECT_EQ(kInfiniBand,
            rate(other_setup("pytorch_ddp", "network_line_rate_per_adapter")));
  EXPECT_EQ(kAdapters,
            std::stod(other_setup("pytorch_ddp", "adapters_per_machine")));
  EXPECT_EQ(kReducerMebibytes,
            std::stod(other_setup("pytorch_ddp", "bucket_cap_main")));
  EXPECT_EQ(kFirstMebibytes,
            std::stod(other_setup("pytorch_ddp", "first_bucket_cap")));
  EXPECT_EQ(kMeasuredSteps,
            std::stoi(other_setup("pytorch_ddp", "measured_iterations")));
}

// The survey's servers leave the partition at its default.
TEST(PublishedSetup, ServersCutIntoBytePsPartitions) {
  std::size_t found = 0;
  for (const auto& row : strategies::exchanges()) {
    for (const strategies::OptionInfo& option : row.options) {
      if (row.name == "ps" && option.key == "partition-mb") {
        ++found;
        EXPECT_EQ(std::stod(std::string(option.fallback)) * (1 << 20),
                  kServerPartition);
      }
    }
  }
  EXPECT_EQ(found, 1U);
}

TEST(PublishedSetup, NvlinkIsTheFiles) {
  const Csv csv = Csv::read(kReference / "peers_vtrain_nccl_fit.csv");
  std::map<double, double> busbw;  // of V100, by devices
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (csv.text(row, "gpu") == "V100") {
      busbw[csv.number(row, "gpus").value()] =
          csv.number(row, "busbw_gb_per_s").value();
    }
  }
  EXPECT_DOUBLE_EQ(kNvlink2 / 1e9, busbw.at(2));
  EXPECT_DOUBLE_EQ(kNvlink4 / 1e9, busbw.at(4));
  EXPECT_DOUBLE_EQ(kNvlink / 1e9, busbw.at(8));
}

}  // namespace
}  // namespace paceline::validate
