// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/nccl_tuning.h"

namespace paceline::cluster {
namespace {

constexpr double kLaunch = 28e-6;  // issue_us of data/engine_costs.toml

/// Nodes of eight GPUs.
Cluster nodes_of(const std::string& device, double line, const std::string& network = "ndr400") {
  Cluster cluster;
  cluster.device.name = device;
  cluster.hosts = {{.name = "a", .slots = 8}, {.name = "b", .slots = 8}};
  cluster.links = {{.name = "nvlink",
                    .scope = LinkScope::kDevices,
                    .sharing = LinkSharing::kDevice,
                    .bytes_per_s = line,
                    .latency_ps = 2'000'000,
                    .fits = {}},
                   {.name = network,
                    .scope = LinkScope::kHosts,
                    .sharing = LinkSharing::kDevice,
                    .bytes_per_s = 50e9,
                    .latency_ps = 2'000'000,
                    .fits = {}}};
  return cluster;
}

Machine machine_for(const Cluster& cluster) {
  Machine machine = machine_of(cluster, "nccl");
  machine.algorithm = Algorithm::kNccl;
  return machine;
}

NcclChoice choice(const Machine& machine, std::int64_t bytes, plan::Rank hosts = 1,
                  plan::Pattern pattern = plan::Pattern::kAllReduce) {
  return nccl_choice({.pattern = pattern,
                      .bytes = bytes,
                      .group = {.ranks = 8 * hosts, .hosts = hosts, .ranks_on_fullest_host = 8}},
                     machine);
}

double seconds(const Machine& machine, std::int64_t bytes, const Group& group) {
  return plan::seconds_of(
      alone(collective_cost({plan::Pattern::kAllReduce, bytes, group}, machine), group, machine));
}

TEST(Nccl, RingOfLlByItsOwnFormula) {
  const Machine machine = machine_for(nodes_of("A100-SXM4-80GB", 300e9));
  const NcclChoice small = choice(machine, 32768);
  EXPECT_EQ(small.algorithm, NcclAlgorithm::kRing);
  EXPECT_EQ(small.protocol, NcclProtocol::kLl);
  // 14 hops of 0.6 us; 87.7 GB/s of LL on Ampere, 8 parts in 14 steps.
  EXPECT_NEAR(small.model_us, 6.6 + 14 * 0.6 + 32768 / (87.7e3 * 8 / 14), 1e-9);
}

TEST(Nccl, ChoosesByTheSizeAndTheGeneration) {
  const Machine a100 = machine_for(nodes_of("A100-SXM4-80GB", 300e9));
  const Machine h100 = machine_for(nodes_of("H100-SXM5-80GB", 450e9));
  EXPECT_EQ(choice(a100, 1 << 30).algorithm, NcclAlgorithm::kRing);
  EXPECT_EQ(choice(a100, 1 << 30).protocol, NcclProtocol::kSimple);
  EXPECT_EQ(choice(h100, 1 << 30).algorithm, NcclAlgorithm::kNvls);
  EXPECT_EQ(choice(h100, 1 << 30, 4).algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(choice(h100, 1 << 20, 2, plan::Pattern::kBroadcast).algorithm, NcclAlgorithm::kRing);
  EXPECT_EQ(choice(a100, 1 << 16, 32).algorithm, NcclAlgorithm::kTree);
}

// NCCL's model takes the mean of the ranks a host, and the chain of the fullest host takes the
// time.
TEST(Nccl, OneRankOnAThirdHostSavesNoHops) {
  const Machine machine = machine_for(nodes_of("H100", 450e9));
  const Group two{.ranks = 16, .hosts = 2, .ranks_on_fullest_host = 8};
  const Group three{.ranks = 17, .hosts = 3, .ranks_on_fullest_host = 8};
  for (const std::int64_t bytes : {1 << 10, 1 << 15, 1 << 18, 1 << 20}) {
    EXPECT_GE(seconds(machine, bytes, three), seconds(machine, bytes, two)) << bytes;
  }
}

// On two hosts NCCL takes NVLS trees to have twice the network's rate, and chooses them from
// smaller sizes on than on three, where a tree is chosen, which the model expects to be faster.
TEST(Nccl, ChoosesNvlsTreesFromSmallerSizesOnTwoHosts) {
  const Machine machine = machine_for(nodes_of("H100", 450e9));
  EXPECT_EQ(choice(machine, 4 << 20, 2).algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(choice(machine, 4 << 20, 3).algorithm, NcclAlgorithm::kTree);
}

TEST(Nccl, TakesCollNetOnlyWhereItIsAskedFor) {
  Machine machine = machine_for(nodes_of("V100-SXM2-16GB", 150e9));
  for (std::int64_t bytes = 1024; bytes < (std::int64_t{1} << 31); bytes *= 4) {
    EXPECT_LT(choice(machine, bytes, 16).algorithm, NcclAlgorithm::kCollNetDirect);
  }
  machine.algorithm = Algorithm::kNcclCollNet;
  EXPECT_GE(choice(machine, 4 << 20, 16).algorithm, NcclAlgorithm::kCollNetDirect);
}

TEST(Nccl, KnowsLinksByTheirNamesAndHops) {
  EXPECT_EQ(nccl_tuning_of(nodes_of("H100", 450e9))->network.share, 0.96);
  EXPECT_EQ(nccl_tuning_of(nodes_of("H100", 450e9, "EFA v2"))->network.extra_us, 75);
  Cluster slow = nodes_of("H100", 450e9);
  slow.links[1].latency_ps = 25'000'000;
  EXPECT_FALSE(nccl_tuning_of(slow)->ll128);
  EXPECT_EQ(nccl_tuning_of(slow)->network.extra_us, 23);
  EXPECT_TRUE(nccl_tuning_of(nodes_of("H100 PCIe", 64e9))->known);
  EXPECT_FALSE(nccl_tuning_of(nodes_of("gpu", 12e9))->known);
}

TEST(Nccl, TakesLongerForMoreAndLessOnFasterLines) {
  for (const plan::Rank hosts : {1, 2, 3, 16, 512}) {
    const Group group{.ranks = 8 * hosts, .hosts = hosts, .ranks_on_fullest_host = 8};
    for (const char* device : {"V100", "A100", "H100", "B200"}) {
      const Machine slow = machine_for(nodes_of(device, 300e9));
      Cluster faster = nodes_of(device, 600e9);
      faster.links[1].bytes_per_s = 100e9;
      const Machine fast = machine_for(faster);
      for (std::int64_t bytes = 0; bytes < (std::int64_t{1} << 34); bytes = 4 * bytes + 1024) {
        EXPECT_LE(seconds(fast, bytes, group), seconds(slow, bytes, group))
            << device << ' ' << hosts << ' ' << bytes;
      }
    }
  }
}

// What the lines carry is never slower than what NCCL makes of them.
TEST(Nccl, IsNeverFasterThanTheLines) {
  for (const plan::Rank hosts : {1, 2, 3, 16, 512}) {
    const Group group{.ranks = 8 * hosts, .hosts = hosts, .ranks_on_fullest_host = 8};
    for (const char* device : {"V100", "A100", "H100", "B200"}) {
      const Machine machine = machine_for(nodes_of(device, 300e9));
      Machine bound = machine;
      bound.link_rates_only = true;
      for (std::int64_t bytes = 1; bytes < (std::int64_t{1} << 34); bytes *= 4) {
        EXPECT_LT(seconds(bound, bytes, group), seconds(machine, bytes, group));
      }
    }
  }
}

// NCCL's own formula counts one hop, and the data passes P - 1.
TEST(Nccl, ABroadcastTakesEveryHopOfItsRing) {
  const Machine machine = machine_for(nodes_of("H100-SXM5-80GB", 450e9));
  for (const plan::Rank hosts : {1, 2, 64, 512}) {
    for (const std::int64_t bytes : {8, 1 << 20, 1 << 30}) {
      const NcclChoice found = choice(machine, bytes, hosts, plan::Pattern::kBroadcast);
      EXPECT_EQ(found.algorithm, NcclAlgorithm::kRing);
      const auto protocol = static_cast<std::size_t>(found.protocol);
      const NcclTuning& tuning = *machine.nccl;
      const double least_us = 7.0 * hosts * tuning.device_hop_us[0][protocol] +
                              (hosts - 1.0) * tuning.network_hop_us[0][protocol];
      EXPECT_GE(plan::seconds_of(found.cost.latency), least_us * 1e-6) << hosts << " " << bytes;
    }
  }
  // Base and one hop of LL128 or Simple and the bytes are all that NCCL counts.
  EXPECT_LT(choice(machine, 1 << 20, 512, plan::Pattern::kBroadcast).model_us, 22);
}

struct Row {
  std::string system, device;
  double line = 0, us = 0;
  std::int64_t bytes = 0;
  int nodes = 1, ranks = 8;
  bool nvls = true;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

/// Rows of reference/modern/nccl_allreduce.csv that move something.
std::vector<Row> published() {
  std::ifstream file(std::string(PACELINE_SOURCE_DIR) + "/reference/modern/nccl_allreduce.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    std::map<std::string, std::string> cell;
    const std::vector<std::string> cells = cells_of(line);
    for (std::size_t i = 0; i < names.size(); ++i) {
      cell[names[i]] = cells.at(i);
    }
    Row row;
    row.system = cell["system"];
    row.bytes = std::stoll(cell["size_bytes"]);
    row.nodes = std::stoi(cell["nodes"]);
    row.ranks = std::stoi(cell["n_ranks"]);
    row.nvls = cell["note"].find("NVLS off") == std::string::npos;
    for (const auto& [word, rate] :
         {std::pair{"A100", 300e9}, {"H100", 450e9}, {"H200", 450e9}, {"B200", 900e9}}) {
      if (row.system.find(word) != std::string::npos) {
        row.device = word;
        row.line = rate;
      }
    }
    const double n = row.ranks;
    const auto bytes = static_cast<double>(row.bytes);
    row.us = !cell["time_us"].empty() ? std::stod(cell["time_us"])
             : !cell["algbw_GBps"].empty()
                 ? bytes / (1e3 * std::stod(cell["algbw_GBps"]))
                 : bytes * 2 * (n - 1) / n / (1e3 * std::stod(cell["busbw_GBps"]));
    if (row.bytes > 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

double predicted_us(const Row& row) {
  Machine machine = machine_for(nodes_of(row.device, row.line, row.nodes > 1 ? "efa" : "ndr400"));
  if (!row.nvls) {
    NcclTuning without = *machine.nccl;
    without.nvls_share = 0;
    machine.nccl = std::make_shared<const NcclTuning>(without);
  }
  const Group group{
      .ranks = row.ranks, .hosts = row.nodes, .ranks_on_fullest_host = row.ranks / row.nodes};
  return 1e6 * (kLaunch + seconds(machine, row.bytes, group));
}

// The mean absolute error is 20 % from 2 MiB on and 35 % below, at most.
TEST(Nccl, IsAsFarFromPublishedTimesAsIsSaid) {
  const std::vector<Row> rows = published();
  ASSERT_EQ(rows.size(), 76);
  std::map<std::string, std::vector<double>> errors;
  for (const Row& row : rows) {
    const double error = std::abs(predicted_us(row) / row.us - 1);
    const bool large = row.bytes >= 2 << 20;
    errors[large ? "from 2 MiB" : "below"].push_back(error);
    errors[row.system + (large ? ", from 2 MiB" : ", below")].push_back(error);
    if (std::getenv("PACELINE_SHOW_ROWS") != nullptr) {
      fmt::print("{} {} {} {:.1f} {:.1f} {:+.0f} %\n", row.system, row.ranks, row.bytes, row.us,
                 predicted_us(row), 100 * (predicted_us(row) / row.us - 1));
    }
  }
  for (const auto& [of, all] : errors) {
    double sum = 0;
    for (const double error : all) {
      sum += error;
    }
    const double mean = sum / static_cast<double>(all.size());
    RecordProperty(of, fmt::format("{:.1f} %", 100 * mean));
    fmt::print("{}: {} rows, {:.1f} %\n", of, all.size(), 100 * mean);
  }
  const auto mean = [&](const std::string& of) {
    double sum = 0;
    for (const double error : errors[of]) {
      sum += error;
    }
    return sum / static_cast<double>(errors[of].size());
  };
  EXPECT_LE(mean("from 2 MiB"), 0.20);
  EXPECT_LE(mean("below"), 0.35);
}

/// The smallest value that nine of ten are at most, rounded up to three decimals.
std::string nine_of_ten(std::vector<double> values) {
  std::ranges::sort(values);
  const auto place = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(values.size())));
  return fmt::format("{:.3f}", std::ceil(values.at(place - 1) * 1000) / 1000);
}

TEST(Nccl, SaysOfPublishedTimesWhatItsDataFileHas) {
  for (const bool several : {false, true}) {
    std::vector<double> below, from;
    std::vector<std::int64_t> bytes;
    std::vector<int> ranks;
    for (const Row& row : published()) {
      if ((row.nodes > 1) == several) {
        const double error = std::abs(std::log(predicted_us(row) / row.us));
        (row.bytes < 2 << 20 ? below : from).push_back(error);
        bytes.push_back(row.bytes);
        ranks.push_back(row.ranks);
      }
    }
    const NcclModelError& said = nccl_model_error(several);
    EXPECT_EQ(nine_of_ten(from), fmt::format("{:.3f}", said.from_2_mib)) << several;
    if (several) {
      EXPECT_TRUE(below.empty());
      EXPECT_EQ(said.below_2_mib, 0);
    } else {
      EXPECT_EQ(nine_of_ten(below), fmt::format("{:.3f}", said.below_2_mib));
    }
    EXPECT_EQ(said.from_bytes, std::ranges::min(bytes));
    EXPECT_EQ(said.to_bytes, std::ranges::max(bytes));
    EXPECT_EQ(said.least_ranks, std::ranges::min(ranks));
    EXPECT_EQ(said.most_ranks, std::ranges::max(ranks));
  }
}

// NCCL knows nothing of a calibration, so that it goes on choosing as before.
TEST(Nccl, TakesCalibratedConstantsForTheTimeAndNotForTheChoice) {
  Cluster cluster = nodes_of("A100-SXM4-80GB", 300e9);
  const NcclChoice before = choice(machine_for(cluster), 32768);
  cluster.links[0].calibration = LinkCalibration{.engine = "nccl",
                                                 .share = 0.5,
                                                 .base_ps = 10'000'000,
                                                 .hop_ps = 2'000'000,
                                                 .from_bytes = 1,
                                                 .to_bytes = 1,
                                                 .ranks = {8}};
  const Machine calibrated = machine_for(cluster);
  const NcclChoice after = choice(calibrated, 32768);
  EXPECT_EQ(after.algorithm, before.algorithm);
  EXPECT_EQ(after.protocol, before.protocol);
  EXPECT_EQ(after.model_us, before.model_us);
  // A ring of LL: 10 us, and 14 hops of 2 us.
  EXPECT_EQ(after.cost.latency, 38'000'000);
  EXPECT_TRUE(launch_is_calibrated(false, calibrated));
  EXPECT_FALSE(launch_is_calibrated(true, calibrated));
  // Ring and Simple, at half of the line.
  const NcclChoice large = choice(calibrated, 1 << 30);
  EXPECT_EQ(large.protocol, NcclProtocol::kSimple);
  EXPECT_EQ(large.cost.limit_bytes_per_s, 150'000'000'000);
}

// A latency that NCCL's constants hold becomes none at all, and never less.
TEST(Nccl, HasNoLatencyBelowZero) {
  Cluster cluster = nodes_of("A100-SXM4-80GB", 300e9);
  cluster.links[0].calibration = LinkCalibration{
      .engine = "nccl", .base_ps = 0, .hop_ps = 0, .from_bytes = 1, .to_bytes = 1, .ranks = {8}};
  EXPECT_EQ(choice(machine_for(cluster), 32768).cost.latency, 0);
}

}  // namespace
}  // namespace paceline::cluster
