// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/cluster/collective_model.h"
#include "paceline/cluster/fair_share.h"
#include "paceline/plan/cost.h"
#include "paceline/predict/advise.h"
#include "simulator/agree.h"
#include "simulator/toy.h"

namespace paceline::predict {
namespace {

using simulator::kUs;

/// 1 byte per ns inside, 0.5 outside; hops of 1 and 10 us.
cluster::Machine two_speeds(cluster::Algorithm algorithm) {
  cluster::Machine machine;
  machine.algorithm = algorithm;
  machine.device = {.bytes_per_s = 1'000'000'000, .latency = kUs};
  machine.network = {
      .bytes_per_s = 500'000'000, .latency = 10 * kUs, .sharing = cluster::LinkSharing::kHost};
  return machine;
}

plan::Picoseconds time_of(cluster::Algorithm algorithm, const cluster::Group& group) {
  const cluster::Machine machine = two_speeds(algorithm);
  return cluster::alone(cluster::collective_cost({plan::Pattern::kAllReduce, 8000, group}, machine),
                        group, machine);
}

constexpr cluster::Group kHost{.ranks = 4, .hosts = 1, .ranks_on_fullest_host = 4};
constexpr cluster::Group kTwoHosts{.ranks = 8, .hosts = 2, .ranks_on_fullest_host = 4};

TEST(Models, RingByHand) {
  EXPECT_EQ(time_of(cluster::Algorithm::kRing, kHost), 6 * kUs + 12 * kUs);
  EXPECT_EQ(time_of(cluster::Algorithm::kRing, kTwoHosts), 14 * 10 * kUs + 28 * kUs);
}

// Among 8 hosts an exponent of a half leaves half of what 2 hosts get; a fit of the network's rate
// to 2 hosts is what it says.
TEST(Models, DeclineByHand) {
  cluster::Machine machine = two_speeds(cluster::Algorithm::kRing);
  machine.network.decline = 0.5;
  const auto time = [&](const cluster::Group& group) {
    return cluster::alone(
        cluster::collective_cost({plan::Pattern::kAllReduce, 8000, group}, machine), group,
        machine);
  };
  EXPECT_EQ(time(kHost), 6 * kUs + 12 * kUs);
  EXPECT_EQ(time(kTwoHosts), 14 * 10 * kUs + 28 * kUs);
  // 14000 bytes at 250 MB/s
  EXPECT_EQ(time({.ranks = 8, .hosts = 8, .ranks_on_fullest_host = 1}), 14 * 10 * kUs + 56 * kUs);
}

TEST(Models, TreeByHand) {
  EXPECT_EQ(time_of(cluster::Algorithm::kTree, kHost), 6 * kUs + 12 * kUs);
  EXPECT_EQ(time_of(cluster::Algorithm::kTree, kTwoHosts), 2 * 13 * kUs + 28 * kUs);
}

TEST(Models, MeasuredFollowsItsPieces) {
  cluster::Machine machine = two_speeds(cluster::Algorithm::kMeasured);
  machine.fits = {{.operation = "all-reduce",
                   .ranks = 8,
                   .line = {{{.from_bytes = 0, .alpha = 5 * kUs, .beta_ps_per_byte = 4000},
                             {.from_bytes = 8000, .alpha = 9 * kUs, .beta_ps_per_byte = 5000}}},
                   .error_percent = {}}};
  const auto time = [&](std::int64_t bytes) {
    return cluster::alone(
        cluster::collective_cost({plan::Pattern::kAllReduce, bytes, kTwoHosts}, machine), kTwoHosts,
        machine);
  };
  EXPECT_EQ(time(4000), 5 * kUs + 16 * kUs);
  EXPECT_EQ(time(8000), 9 * kUs + 40 * kUs);
}

constexpr cluster::Group kFourHosts{.ranks = 16, .hosts = 4, .ranks_on_fullest_host = 4};

/// Fits of all-reduces on two and on four hosts, faster than a ring on the links.
std::vector<cluster::LinkFit> fast_fits() {
  std::vector<cluster::LinkFit> fits;
  for (const cluster::Group& group : {kTwoHosts, kFourHosts}) {
    fits.push_back(
        {.operation = "all-reduce",
         .ranks = group.ranks,
         .line = {{{.alpha = 5 * group.hosts * kUs, .beta_ps_per_byte = 500.0 * group.hosts}}},
         .error_percent = {},
         .ranks_per_host = std::vector<int>(group.hosts, group.ranks_on_fullest_host)});
  }
  return fits;
}

// NVLS and trees move fewer bytes than a ring: the links do not hold a measured time down.
TEST(Models, MeasuredTimesAreNotThoseOfARing) {
  for (const cluster::LinkSharing sharing :
       {cluster::LinkSharing::kHost, cluster::LinkSharing::kDevice}) {
    SCOPED_TRACE(static_cast<int>(sharing));
    cluster::Machine machine = two_speeds(cluster::Algorithm::kMeasured);
    machine.network.sharing = sharing;
    machine.fits = fast_fits();
    const auto cost =
        cluster::collective_cost({plan::Pattern::kAllReduce, 3072, kTwoHosts}, machine);
    // 10 us and 1 ns a byte; a ring of 8 would move 5376 bytes at 0.5 bytes/ns.
    const plan::Picoseconds measured = 10 * kUs + 3'072'000;
    EXPECT_NEAR(static_cast<double>(cluster::alone(cost, kTwoHosts, machine)),
                static_cast<double>(measured), 10);
    auto input = simulator::toy_input(3, 8);
    input.local_world = {4, 4};
    simulator::Costs costs = simulator::toy_costs(input);
    costs.machine = machine;
    EXPECT_NEAR(
        static_cast<double>(simulator::simulate(*simulator::planner_of("bsp"), input, costs).step),
        static_cast<double>(90 * kUs + measured), 10);
  }
}

TEST(Models, BetweenMeasuredRanksTimesAreLinearInTheirLogarithm) {
  cluster::Machine machine = two_speeds(cluster::Algorithm::kMeasured);
  machine.fits = fast_fits();
  const auto time = [&](plan::Rank ranks, std::int64_t bytes) {
    const cluster::Group group{
        .ranks = ranks, .hosts = (ranks + 3) / 4, .ranks_on_fullest_host = 4};
    return static_cast<double>(
        cluster::alone(cluster::collective_cost({plan::Pattern::kAllReduce, bytes, group}, machine),
                       group, machine));
  };
  for (const std::int64_t bytes : {64, 8000, 1'000'000}) {
    const double least = time(8, bytes), most = time(16, bytes);
    const double share = std::log2(12.0 / 8);
    EXPECT_NEAR(time(12, bytes), least + share * (most - least), 1e-6 * most) << bytes;
  }
}

// A calibration states the sizes that were measured; the model gives the ratio to others.
TEST(Models, OutsideTheMeasuredSizesTimesFollowTheModel) {
  cluster::Machine machine = two_speeds(cluster::Algorithm::kMeasured);
  machine.fits = fast_fits();
  for (cluster::LinkFit& fit : machine.fits) {
    fit.from_bytes = 1 << 20;
    fit.to_bytes = 1 << 21;
  }
  const auto time = [&](std::int64_t bytes, cluster::Algorithm algorithm) {
    cluster::Machine of = machine;
    of.algorithm = algorithm;
    return static_cast<double>(
        cluster::alone(cluster::collective_cost({plan::Pattern::kAllReduce, bytes, kTwoHosts}, of),
                       kTwoHosts, of));
  };
  for (const auto& [bytes, nearest] : {std::pair{1 << 10, 1 << 20}, {1 << 24, 1 << 21}}) {
    EXPECT_NEAR(
        time(bytes, cluster::Algorithm::kMeasured) / time(nearest, cluster::Algorithm::kMeasured),
        time(bytes, cluster::Algorithm::kRing) / time(nearest, cluster::Algorithm::kRing), 1e-6)
        << bytes;
  }
}

// Alone on the links, an executed collective takes what the formula says.
TEST(Models, ExecutedEqualsClosedForm) {
  for (const cluster::Algorithm algorithm :
       {cluster::Algorithm::kRing, cluster::Algorithm::kTree}) {
    for (const cluster::LinkSharing sharing :
         {cluster::LinkSharing::kHost, cluster::LinkSharing::kDevice}) {
      for (const bool full : {true, false}) {
        SCOPED_TRACE(testing::Message()
                     << static_cast<int>(algorithm) << " " << static_cast<int>(sharing) << full);
        auto input = simulator::toy_input(3, 8);
        input.local_world = {4, 4};
        simulator::Costs costs = simulator::toy_costs(input);
        costs.machine = two_speeds(algorithm);
        costs.machine.network.sharing = sharing;
        costs.machine.network.full_duplex = full;
        const plan::Picoseconds expected = cluster::alone(
            cluster::collective_cost({plan::Pattern::kAllReduce, 3072, kTwoHosts}, costs.machine),
            kTwoHosts, costs.machine);
        EXPECT_EQ(simulator::simulate(*simulator::planner_of("bsp"), input, costs).step,
                  90 * kUs + expected);
      }
    }
  }
}

// What crosses a rank's link is what the plan says it sends.
TEST(Models, RingsMoveThePlansBytes) {
  for (const char* strategy : {"bsp", "wfbp", "fusion", "dear", "wfbp+rs-ag"}) {
    for (const plan::Rank world : {2, 3, 4, 8, 13}) {
      SCOPED_TRACE(testing::Message() << strategy << " " << world);
      const auto input = simulator::toy_input(3, world);
      const simulator::Job job =
          simulator::compile(*simulator::planner_of(strategy), input, {.steps = 4, .fold = false});
      simulator::Simulator simulator(job);
      simulator::Costs costs = simulator::toy_costs(input);
      costs.machine.noise.sigma = 1e-12;  // no early end
      simulator.run(costs);
      EXPECT_EQ(simulator.bytes_sent(), 4 * job.wire_bytes);
    }
  }
}

TEST(FairShare, SharesWhatOthersCannotUse) {
  cluster::FairShare network;
  const std::vector<std::int64_t> links{900, 300};
  network.reset(links);
  const std::vector<cluster::LinkLoad> wide{{0, cluster::kWeightOne}};
  const std::vector<cluster::LinkLoad> both{{0, cluster::kWeightOne}, {1, cluster::kWeightOne}};
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const auto a = network.start(0, 0, 1000, kNoLimit, wide);
  const auto b = network.start(0, 1, 1000, kNoLimit, both);
  const auto c = network.start(0, 2, 1000, 50, wide);
  const auto d = network.start(0, 3, 1000, kNoLimit, both);
  network.share(0);
  EXPECT_EQ(network.flow(c).rate, 50);   // its own limit
  EXPECT_EQ(network.flow(b).rate, 150);  // half of the narrow link
  EXPECT_EQ(network.flow(d).rate, 150);
  EXPECT_EQ(network.flow(a).rate, 550);  // the rest of the wide one
  network.end(d);
  network.share(plan::kPicosecondsPerSecond);
  EXPECT_EQ(network.flow(b).rate, 300);
  EXPECT_EQ(network.end_time_of(b), plan::kPicosecondsPerSecond + plan::wire_time(850, 300));
}

TEST(Interference, SlowsWhatOverlaps) {
  const auto input = simulator::toy_input(2, 2);
  simulator::Costs costs = simulator::toy_costs(input);
  costs.machine.device.bytes_per_s = 102'400'000;  // 10 us a tensor
  const auto planner = simulator::planner_of("wfbp");
  EXPECT_EQ(simulator::simulate(*planner, input, costs).step, 60 * kUs + 10 * kUs);
  // The first all-reduce runs under a backward at half speed: 20 us of work take 10 us more while
  // it lasts.
  costs.machine.interference.compute_under_transfer = 0.5;
  EXPECT_EQ(simulator::simulate(*planner, input, costs).step, 60 * kUs + 5 * kUs + 10 * kUs);
  // A quarter of the link while the rank computes: of the first all-reduce
  // half is left when backward ends.
  costs.machine.interference = {.device_link_under_compute = 0.25};
  EXPECT_EQ(simulator::simulate(*planner, input, costs).step, 60 * kUs + 5 * kUs + 10 * kUs);
}

// As much on a bus that both share, at twice the rate: while one of them computes, a quarter is
// left for either.
TEST(Interference, SlowsASharedBusToo) {
  auto input = simulator::toy_input(2, 2);
  input.local_world = {2};
  simulator::Costs costs = simulator::toy_costs(input);
  costs.machine.device = {.bytes_per_s = 204'800'000, .sharing = cluster::LinkSharing::kHost};
  const auto planner = simulator::planner_of("wfbp");
  EXPECT_EQ(simulator::simulate(*planner, input, costs).step, 60 * kUs + 10 * kUs);
  costs.machine.interference = {.device_link_under_compute = 0.25};
  EXPECT_EQ(simulator::simulate(*planner, input, costs).step, 60 * kUs + 5 * kUs + 10 * kUs);
}

TEST(Costs, AreAddedWhereTheyFall) {
  const auto input = simulator::toy_input(2, 2);
  simulator::Costs costs = simulator::toy_costs(input);
  costs.software = {
      .issue = kUs,
      .collective = 4 * kUs,
      .collective_per_rank = 5 * kUs,
      .kernels = {{.optimizer_step = true, .launch = 7 * kUs, .launch_per_tensor = kUs}}};
  EXPECT_EQ(simulator::simulate(*simulator::planner_of("bsp"), input, costs).step,
            60 * kUs + kUs + 14 * kUs + 2'048'000 + 9 * kUs);
}

TEST(Costs, ThatCannotBeAreNamed) {
  const auto input = simulator::toy_input(1, 2);
  const auto message_of = [&](const simulator::Costs& costs) -> std::string {
    try {
      simulator::simulate(*simulator::planner_of("bsp"), input, costs);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  simulator::Costs costs = simulator::toy_costs(input);
  costs.machine.network.bytes_per_s = -5;
  EXPECT_EQ(message_of(costs),
            "the network link has a rate of -5 bytes/s: it must be above 0 and at most 10^14");
  costs = simulator::toy_costs(input);
  costs.software.issue = -1;
  EXPECT_EQ(message_of(costs), "issue = -1 ps: must not be negative");
  costs = simulator::toy_costs(input);
  costs.machine.interference.compute_under_transfer = 0;
  EXPECT_EQ(message_of(costs), "compute_under_transfer = 0: must be above 0 and at most 1");
  costs = simulator::toy_costs(input);
  costs.machine.noise.sigma = 0.1;
  EXPECT_EQ(message_of(costs),
            "ranks with noise of their own cannot be folded; compile the job with fold off");
}

TEST(Advice, RanksByStepAndSaysWhatIsAlike) {
  AdviseRequest request;
  request.job.network = plan::network_shape("resnet50");
  request.job.cluster =
      cluster::read_cluster(std::string(PACELINE_SOURCE_DIR) + "/clusters/8x4-2080ti-10gbe.toml");
  request.job.ranks = 8;
  request.bucket_mb = {10, 25};
  request.error = 0.05;
  const AdviceTable table = advise(request);
  ASSERT_GT(table.rows.size(), 5u);
  EXPECT_TRUE(table.rows.front().ties_with_best);
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    EXPECT_LE(table.rows[i - 1].step, table.rows[i].step);
    EXPECT_EQ(table.rows[i].ties_with_best, table.rows[i].low <= table.rows.front().high);
  }
  EXPECT_FALSE(table.rows.back().ties_with_best);
  request.error = 1;
  EXPECT_THROW(advise(request), UsageError);
}

}  // namespace
}  // namespace paceline::predict
