// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/presets.h"

#include <cmath>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/error_bar.h"
#include "paceline/predict/examined.h"
#include "paceline/predict/roofline.h"
#include "paceline/validate/constants.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/score.h"

namespace paceline::validate {
namespace {

using plan::picoseconds_of;

cluster::Machine machine_of(const std::string& file) {
  return cluster::machine_of(
      cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) + "/clusters/" +
                            file),
      "nccl");
}

// What the program tells users of NCCL is what the examination fitted.
TEST(Presets, EngineCostsAreTheFittedOnes) {
  const Constants fitted;
  const predict::EngineCosts& nccl = predict::engine_costs_named("nccl");
  EXPECT_EQ(nccl.costs.collective, 0);
  EXPECT_EQ(nccl.costs.collective_per_rank,
            picoseconds_of(fitted[Constant::kCollectivePerRank] * 1e-6));
  EXPECT_EQ(nccl.costs.collective_under_compute,
            picoseconds_of(fitted[Constant::kWaitUnderCompute] * 1e-3));
  EXPECT_EQ(predict::optimizer_costs_named("adamw").launch_per_tensor,
            picoseconds_of(fitted[Constant::kAdamLaunch] * 1e-3));
  EXPECT_EQ(predict::optimizer_costs_named("adamw").passes, kAdamPasses / 8);
  EXPECT_EQ(predict::optimizer_costs_named("sgd").launch_per_tensor,
            picoseconds_of(kSgdLaunch));
}

TEST(Presets, EnginesOfOneProgramAreTheFittedOnes) {
  const Constants fitted;
  const predict::EngineCosts& python =
      predict::engine_costs_named("bytescheduler");
  EXPECT_EQ(python.module_call,
            picoseconds_of(fitted[Constant::kSchedulerCall] * 1e-3));
  EXPECT_DOUBLE_EQ(python.module_call_spread,
                   fitted[Constant::kSchedulerSpread] / 100);
  EXPECT_DOUBLE_EQ(python.tcp_s_per_byte,
                   fitted[Constant::kSchedulerTcp] * 1e-9);
  const predict::EngineCosts& servers = predict::engine_costs_named("byteps");
  EXPECT_EQ(servers.device_share,
            fitted[Constant::kServerBusRate] / fitted[Constant::kBusRate]);
  EXPECT_EQ(servers.under_compute, fitted[Constant::kServerBusUnderCompute]);
  EXPECT_TRUE(servers.tcp_copies);
  const cluster::SoftwareCosts& cloud =
      predict::engine_costs_named("bluefog").costs;
  EXPECT_EQ(cloud.collective_per_rank,
            picoseconds_of(fitted[Constant::kCloudPerRank] * 1e-6));
  EXPECT_EQ(cloud.message,
            picoseconds_of(fitted[Constant::kCloudMessage] * 1e-3));
}

// Layers share a device's time in `predict` as in the examination.
TEST(Presets, TheRooflineIsTheExaminations) {
  const cluster::Cluster cluster = cluster::read_cluster(
      PACELINE_SOURCE_DIR "/clusters/8x4-2080ti-10gbe.toml");
  const predict::RooflineOptions options = predict::roofline_of(cluster.device);
  EXPECT_DOUBLE_EQ(options.memory_bytes_per_s, kMemoryRate);
  EXPECT_DOUBLE_EQ(options.flops_per_s, kFlops);
  EXPECT_EQ(options.backward, kBackward);
  EXPECT_EQ(options.winograd, kWinograd);
  EXPECT_EQ(options.strided, kStrided);
}

// A bar is said to be examined wherever a cell of its table is.
TEST(Presets, EveryCellIsWhereItsFamilyWasExamined) {
  const std::string root = PACELINE_SOURCE_DIR;
  const std::vector<Cell> cells = read_cells(root + "/reference");
  int asked = 0;
  for (const Cell& cell : cells) {
    const auto request = preset_request(cell, cells, root + "/clusters");
    if (!request || cell.key[1] == "horovod") {  // its rows are of BlueFog's
      continue;
    }
    const std::string engine =
        predict::engine_of(request->engine, request->cluster);
    cluster::Machine machine = cluster::machine_of(request->cluster, engine);
    machine.algorithm = predict::engine_costs_named(engine).algorithm;
    const predict::ErrorBar bar = predict::error_bar_of(*request, machine);
    EXPECT_TRUE(bar.examined) << cell.id << ": " << bar.why;
    ++asked;
  }
  EXPECT_GT(asked, 100);
}

TEST(Presets, LinksAreTheFittedOnes) {
  const Constants fitted;
  for (const char* file : {"8x4-2080ti-10gbe.toml",
                           "8x4-2080ti-100gbe.toml",
                           "8x4-2080ti-100gbib.toml"}) {
    const cluster::Machine machine = machine_of(file);
    EXPECT_EQ(machine.device.sharing, cluster::LinkSharing::kDevice);
    EXPECT_FALSE(machine.device.full_duplex);
    EXPECT_EQ(machine.device.bytes_per_s,
              std::llround(2 * fitted[Constant::kBusRate] * 1e9));
    EXPECT_EQ(machine.interference.device_link_under_compute,
              fitted[Constant::kBusUnderCompute]);
  }
  const cluster::LinkModel tcp = machine_of("8x4-2080ti-10gbe.toml").network;
  EXPECT_EQ(tcp.bytes_per_s, std::llround(fitted[Constant::kTcp10Rate] * 1e9));
  EXPECT_EQ(tcp.latency, picoseconds_of(kTcpStep));
  const cluster::LinkModel ipoib = machine_of("8x4-2080ti-100gbe.toml").network;
  EXPECT_EQ(ipoib.bytes_per_s,
            std::llround(fitted[Constant::kIpoibRate] * 1e9));
  EXPECT_EQ(ipoib.decline, fitted[Constant::kIpoibDecline]);
  EXPECT_EQ(ipoib.latency, picoseconds_of(kTcpStep));
  const cluster::LinkModel line = machine_of("8x4-2080ti-100gbib.toml").network;
  EXPECT_EQ(line.bytes_per_s, std::llround(kInfiniBand));
  const cluster::Machine cloud = machine_of("16x8-v100-25gb.toml");
  EXPECT_EQ(cloud.network.bytes_per_s,
            std::llround(fitted[Constant::kCloudRingRate] * 1e9));
  EXPECT_EQ(cloud.network.decline, fitted[Constant::kCloudDecline]);
  EXPECT_EQ(cloud.interference.compute_under_transfer,
            fitted[Constant::kCloudUnderTransfer]);
  EXPECT_EQ(
      machine_of("8x8-v100-4x100gbib.toml").interference.compute_under_transfer,
      fitted[Constant::kDdpUnderTransfer]);
}

/// The 90th percentile of the absolute errors of predict() over the cells of a
/// family.
double error_of(const predict::Examined& family, const Errors& errors) {
  const Score found = score(errors, [&](const Cell& cell) {
    const bool reducer = cell.table == Table::kDdp;
    const bool scheduled = cell.key[0] == "ByteScheduler-A2A";
    const std::string_view name = reducer     ? "reducer"
                                  : scheduled ? "scheduled"
                                              : "merged";
    return name == family.family;
  });
  EXPECT_GT(found.cells, 1U) << family.family;
  return found.p90;
}

// The bars that `paceline advise` prints hold for what it prints them on. Plans
// of messages take minutes; a nightly test writes all of examined.inc anew.
TEST(Presets, AdviceClaimsNoLessThanPredictIsOff) {
  const std::string root = PACELINE_SOURCE_DIR;
  const std::vector<Cell> cells = read_cells(root + "/reference");
  std::vector<const Cell*> chosen;
  for (const Table table : {Table::kSurvey, Table::kDdp}) {
    for (const Cell* cell : scorable(cells, table)) {
      if (!cell->key[0].ends_with("-PS")) {
        chosen.push_back(cell);
      }
    }
  }
  const Errors errors = preset_errors(cells, chosen, root + "/clusters");
  for (const predict::Examined& family : predict::examined()) {
    if (family.family == "servers" || family.family == "neighbors") {
      continue;
    }
    // Bars are printed to a tenth.
    EXPECT_LE(error_of(family, errors), family.p90_percent + 0.05)
        << family.family;
  }
}

}  // namespace
}  // namespace paceline::validate
