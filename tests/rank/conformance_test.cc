// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "paceline/engines/c10d_store.h"
#include "paceline/engines/channel_spec.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/detect_launch.h"
#include "paceline/launch/job_launch.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// Worlds: what a schedule sends is its plan's cost in each of them, and ranks that are processes
// train as those that are threads do.  The whole matrix is the nightly run's; what every run sees
// takes from each row and column.

namespace paceline::rank {
namespace {

using namespace std::chrono_literals;

constexpr int kMostRanks = 16;

/// With groups of two where the world divides.
std::vector<std::string> schedules_of(int world) {
  std::vector<std::string> all = testing::schedules();
  if (world % 2 == 0) {
    all.push_back("fusion+hierarchical:local=2");
  }
  return all;
}

void expect_planned_bytes(int world, const std::string& schedule) {
  SCOPED_TRACE(schedule + " of " + std::to_string(world));
  testing::run_rank_threads_well(world, [&](const RankGroup& group) {
    Trainer trainer(testing::irregular_case(schedule), group, testing::irregular_options());
    testing::booked(trainer, 1);
    EXPECT_EQ(testing::booked(trainer, 2), testing::planned(trainer, group.rank, 2))
        << "rank " << group.rank;
  });
}

class EveryWorld : public ::testing::TestWithParam<int> {};
class NightlyWorld : public ::testing::TestWithParam<int> {};

// Another few of the schedules in every world.
TEST_P(EveryWorld, SendsWhatPlansSay) {
  const auto all = schedules_of(GetParam());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((i + static_cast<std::size_t>(GetParam())) % 7 == 0) {
      expect_planned_bytes(GetParam(), all[i]);
    }
  }
}

TEST_P(NightlyWorld, SendsWhatPlansSay) {
  for (const std::string& schedule : schedules_of(GetParam())) {
    expect_planned_bytes(GetParam(), schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(UpTo16, EveryWorld, ::testing::Range(2, kMostRanks + 1));
INSTANTIATE_TEST_SUITE_P(UpTo16, NightlyWorld, ::testing::Range(2, kMostRanks + 1));

/// One for each kind of operation in plans: all-reduces behind backward and under it, halves of one
/// that cross the step border, both halves at once, groups of ranks, partitions by priority and
/// credit.
std::vector<std::string> one_of_each_kind() {
  return {"bsp",
          "wfbp",
          "dear",
          "fusion+rs-ag",
          "fusion+hierarchical:local=2",
          "bytescheduler:partition-mb=0.02,credit-mb=0.04"};
}

/// What ranks that are processes compute on.
at::Device device_of_ranks() {
  const char* device = std::getenv("PACELINE_TEST_DEVICE");
  return device == nullptr ? at::kCPU : at::Device(device);
}

void train_as_rank(const engines::World& world, const std::vector<std::string>& schedules) {
  const auto engine = engines::make_engine("gloo");
  const testing::Training reference = testing::whole_batch(world.self.world);
  for (const std::string& schedule : schedules) {
    RankGroup group{engines::channel_spec(world, schedule, world.self.world), engine.get()};
    group.device = device_of_ranks();
    Trainer trainer(testing::irregular_case(schedule), group, testing::irregular_options());
    const auto sent = testing::booked(trainer, testing::kSteps);
    EXPECT_EQ(sent, testing::planned(trainer, group.rank, testing::kSteps))
        << schedule << ", rank " << group.rank;
    EXPECT_LE(testing::distance(reference, testing::copies(trainer.network().parameters())), 1e-10)
        << schedule << ", rank " << group.rank;
  }
}

int be_a_rank(const std::vector<std::string>& schedules) {
  at::set_num_threads(1);
  return engines::run_rank(launch::detect_launch(""), 60s,
                           [&](const engines::RankContext& context) {
                             train_as_rank(context.world, schedules);
                             return ::testing::Test::HasFailure() ? 1 : 0;
                           });
}

// What the processes that the tests below start run.
TEST(DISABLED_RankOf, OneOfEachKind) { ASSERT_EQ(be_a_rank(one_of_each_kind()), 0); }

TEST(DISABLED_RankOf, EverySchedule) { ASSERT_EQ(be_a_rank(testing::schedules()), 0); }

void start_ranks(int world, const std::string& test) {
  SCOPED_TRACE(std::to_string(world) + " processes");
  const launch::JobLaunch job{
      .hosts = {{.host = launch::host_name(),
                 .ranks = world,
                 .argv = {"train_test", "--gtest_also_run_disabled_tests",
                          "--gtest_filter=DISABLED_RankOf." + test}}},
      .serve_store = engines::serve_key_value_store,
      // Of this process, which may be one of several shards.
      .rank_variables = {{"GTEST_TOTAL_SHARDS", "1"}, {"GTEST_SHARD_INDEX", "0"}}};
  const launch::Outcome outcome = launch::launch_job(job);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.message;
}

TEST(Processes, TrainLikeOneOnTheWholeBatch) {
  start_ranks(2, "OneOfEachKind");
  start_ranks(4, "OneOfEachKind");
}

TEST(NightlyProcesses, TrainLikeOneOnTheWholeBatch) {
  for (const int world : {2, 3, 4, 8}) {
    start_ranks(world, "EverySchedule");
  }
}

}  // namespace
}  // namespace paceline::rank
