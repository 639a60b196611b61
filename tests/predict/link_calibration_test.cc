// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/link_calibration.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_time.h"
#include "predict/calibrated_hosts.h"

namespace paceline::predict {
namespace {

using cluster::LinkScope;

cluster::LinkCalibration constants_of_nccl(double share, std::int64_t base_ps,
                                           std::int64_t hop_ps) {
  return {.engine = "nccl",
          .share = share,
          .base_ps = base_ps,
          .hop_ps = hop_ps,
          .from_bytes = 1,
          .to_bytes = 1,
          .ranks = {2}};
}

/// What the calibrations do not know.
cluster::Cluster unknown_hosts() {
  cluster::Cluster cluster = hosts_of_a100();
  cluster.links[0].calibration = constants_of_nccl(0.7, 15'000'000, 1'200'000);
  cluster.links[1].calibration = constants_of_nccl(0.6, 22'000'000, 9'000'000);
  return cluster;
}

CalibratedLink calibrate(LinkScope scope, const std::vector<MeasuredTime>& times,
                         cluster::Cluster& cluster) {
  return calibrate_link({.scope = scope, .rate_is_given = true, .engine = "nccl"}, times, cluster);
}

std::vector<std::string> names_of(const CalibratedLink& link) {
  std::vector<std::string> names;
  for (const FittedConstant& constant : link.constants) {
    names.push_back(constant.name);
  }
  return names;
}

TEST(LinkCalibration, FindsTheConstantsOfTheModelFromSeveralWorlds) {
  cluster::Cluster cluster = hosts_of_a100();
  const CalibratedLink devices =
      calibrate(LinkScope::kDevices, times_of({2, 4, 8}, unknown_hosts()), cluster);
  EXPECT_EQ(names_of(devices), (std::vector<std::string>{"share", "base", "hop"}));
  EXPECT_NEAR(devices.constants[0].value, 0.7, 0.01);
  EXPECT_NEAR(devices.constants[1].value, 15e-6, 0.5e-6);
  EXPECT_NEAR(devices.constants[2].value, 1.2e-6, 0.1e-6);
  const CalibratedLink network =
      calibrate(LinkScope::kHosts, times_of({16, 64}, unknown_hosts()), cluster);
  EXPECT_LT(network.worst_error, 0.05);
  // 512 ranks were not measured.
  for (std::int64_t bytes = 1024; bytes <= 256 << 20; bytes *= 4) {
    const cluster::CollectiveCall call = all_reduce(512, bytes);
    EXPECT_NEAR(nccl_seconds(call, cluster) / nccl_seconds(call, unknown_hosts()), 1, 0.05)
        << bytes;
  }
}

TEST(LinkCalibration, LeavesWhatTheTimesDoNotDetermine) {
  cluster::Cluster cluster = hosts_of_a100();
  // Times that are nearly all bytes.
  const CalibratedLink large =
      calibrate(LinkScope::kDevices, times_of({8}, unknown_hosts(), 64 << 20), cluster);
  EXPECT_EQ(names_of(large), std::vector<std::string>{"share"});
  EXPECT_EQ(large.undetermined, (std::vector<std::string>{"base", "hop"}));
  EXPECT_FALSE(cluster.links[0].calibration->base_ps);
  EXPECT_FALSE(cluster.links[0].calibration->hop_ps);
  // A single time of a short message.
  const cluster::CollectiveCall call = all_reduce(8, 1024);
  const CalibratedLink one =
      calibrate(LinkScope::kDevices,
                {{.call = call, .seconds = nccl_seconds(call, unknown_hosts())}}, cluster);
  EXPECT_LE(one.constants.size(), 1U);
  EXPECT_FALSE(cluster.links[0].calibration->error_percent);
}

TEST(LinkCalibration, RejectsWhatIsFasterThanTheLine) {
  cluster::Cluster cluster = hosts_of_a100();
  const std::vector<MeasuredTime> times{{.call = all_reduce(8, 256 << 20), .seconds = 1e-3}};
  try {
    calibrate(LinkScope::kDevices, times, cluster);
    FAIL() << "an efficiency above 1";
  } catch (const UsageError& error) {
    // 14/8 of 256 MiB at 300 GB/s.
    EXPECT_STREQ(error.what(),
                 "all-reduce of 268435456 B among 8 ranks took 1000 us, and the rates of the links "
                 "alone need 1566 us: an efficiency of 1.57, which is at most 1; check the rate of "
                 "link 'nvlink', 300 GB/s");
  }
}

/// Published all-reduces of two nodes of eight H100 with EFA
/// (stas00/ml-engineering, reference/modern/nccl_allreduce.csv), 64 MiB and more.
std::vector<MeasuredTime> times_of_efa() {
  std::vector<MeasuredTime> times;
  std::int64_t bytes = 64 << 20;
  for (const double us : {996.0, 1950.5, 3010.8, 3608.0, 6426.3, 9197.5}) {
    times.push_back({.call = all_reduce(16, bytes), .seconds = us * 1e-6});
    bytes *= 2;
  }
  return times;
}

cluster::Cluster hosts_of_h100() {
  cluster::Cluster cluster = hosts_of_a100();
  cluster.device.name = "NVIDIA H100 80GB HBM3";
  cluster.links[0].bytes_per_s = 450e9;
  cluster.links[1].sharing = cluster::LinkSharing::kHost;
  cluster.links[1].bytes_per_s = 438e9;
  return cluster;
}

TEST(LinkCalibration, FitsARateThatEachTimeAllows) {
  cluster::Cluster cluster = hosts_of_h100();
  const CalibratedLink link =
      calibrate_link({.scope = LinkScope::kHosts, .rate_is_given = false, .engine = "nccl"},
                     times_of_efa(), cluster);
  // Each of two hosts sends 2 GiB in 9197.5 us.
  constexpr double kLeast = 2147483648 / 9197.5e-6;
  ASSERT_EQ(names_of(link), std::vector<std::string>{"rate"});
  EXPECT_GE(link.constants[0].value, kLeast * 0.9999);
  EXPECT_GE(link.constants[0].interval.low, kLeast * 0.9999);
  for (const MeasuredTime& time : times_of_efa()) {
    EXPECT_LE(least_possible_s(time.call, cluster), time.seconds * 1.0001) << time.call.bytes;
  }
}

TEST(LinkCalibration, LargeSizesLeaveLatenciesAsTheyAre) {
  cluster::Cluster cluster = hosts_of_h100();
  const double before = nccl_seconds(all_reduce(16, 32768), cluster);
  const CalibratedLink link =
      calibrate_link({.scope = LinkScope::kHosts, .rate_is_given = false, .engine = "nccl"},
                     times_of_efa(), cluster);
  EXPECT_EQ(link.undetermined, (std::vector<std::string>{"base", "hop"}));
  EXPECT_NEAR(nccl_seconds(all_reduce(16, 32768), cluster) / before, 1, 0.05);
}

// The bound has no latency, no software, and the bytes of the engine that moves the fewest.
TEST(IdealSeconds, AreAtMostThoseOfEveryEngine) {
  for (const char* const device : {"A100-SXM4-80GB", "H100-SXM5-80GB"}) {
    cluster::Cluster cluster = hosts_of_a100();
    cluster.device.name = device;
    for (const EngineCosts& engine : shipped_costs().engines) {
      const cluster::Machine machine = machine_for(cluster, engine);
      for (const plan::Pattern pattern : plan::kPatterns) {
        for (const int ranks : {2, 3, 8, 16, 24, 512}) {
          for (std::int64_t bytes = 1; bytes < std::int64_t{1} << 34; bytes *= 4) {
            cluster::CollectiveCall call = all_reduce(ranks, bytes);
            call.pattern = pattern;
            EXPECT_LE(least_possible_s(call, cluster), collective_s(call, machine, engine.costs))
                << engine.name << " " << plan::name_of(pattern) << " " << ranks << " " << bytes;
          }
        }
      }
    }
  }
}

TEST(LinkCalibration, SaysHowFarTheTimesAreFromTheModel) {
  cluster::Cluster exact = hosts_of_a100(), scattered = hosts_of_a100();
  std::vector<MeasuredTime> times = times_of({8}, unknown_hosts());
  calibrate(LinkScope::kDevices, times, exact);
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].seconds *= i % 2 == 0 ? 1.2 : 1 / 1.2;
  }
  calibrate(LinkScope::kDevices, times, scattered);
  EXPECT_LT(exact.links[0].calibration->error_percent, 5);
  EXPECT_GT(scattered.links[0].calibration->error_percent, 20);
  EXPECT_EQ(exact.links[0].calibration->ranks, std::vector<int>{8});
  EXPECT_EQ(exact.links[0].calibration->from_bytes, 1024);
  EXPECT_EQ(exact.links[0].calibration->to_bytes, 256 << 20);
  EXPECT_FALSE(exact.links[0].calibration->doubling_percent);
}

// Worlds that foresee each other narrow what each doubling adds; others widen it.
TEST(LinkCalibration, EarnsTheErrorOfADoublingByLeavingOutAWorld) {
  cluster::Cluster alike = hosts_of_a100(), apart = hosts_of_a100();
  std::vector<MeasuredTime> times = times_of({16, 32}, unknown_hosts());
  calibrate(LinkScope::kHosts, times, alike);
  for (MeasuredTime& time : times) {
    time.seconds *= time.call.group.ranks == 32 ? 2 : 1;
  }
  calibrate(LinkScope::kHosts, times, apart);
  ASSERT_TRUE(alike.links[1].calibration->doubling_percent);
  EXPECT_GT(*apart.links[1].calibration->doubling_percent,
            *alike.links[1].calibration->doubling_percent);
}

}  // namespace
}  // namespace paceline::predict
