// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/estimate.h"

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launch/memory_store.h"
#include "paceline/base/error.h"
#include "paceline/rank/case_time.h"

namespace paceline::rank {
namespace {

// No network of this name can be probed, so whoever returns has not tried.
cases::Case unknown_network() {
  cases::Case c;
  c.model = "no such network";
  c.device = "cpu";
  c.threads = 1;
  return c;
}

class LaterRepetition : public ::testing::Test {
 protected:
  LaterRepetition() { world_.store = std::make_shared<paceline::testing::MemoryStore>(); }

  Estimate agree(const nlohmann::json& note) {
    world_.store->set(kEstimateKey, note.dump());
    launch::PrefixStore job(world_.store, 0, "");
    const cases::Settings settings;
    return share_estimate(world_, job, {unknown_network()}, {.settings = settings, .cores = 2});
  }

  engines::World world_;
};

TEST_F(LaterRepetition, TakesTheFirstOnesEstimateAndProbesNothing) {
  const std::map<std::string, std::string> rejected{{"a case", "too large"}};
  const Estimate estimate = agree(
      {{"rejection", ""}, {"rejected", rejected}, {"first_step_s", nlohmann::json::object()}});
  EXPECT_EQ(estimate.first_step(unknown_network(), 1, 2).count(), 0);
  EXPECT_EQ(estimate.rejected, rejected);
}

TEST_F(LaterRepetition, IsRejectedWithTheSameSentence) {
  try {
    agree({{"rejection", "too long"},
           {"rejected", nlohmann::json::object()},
           {"first_step_s", nlohmann::json::object()}});
    ADD_FAILURE() << "not rejected";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "too long");
  }
}

// An engine of no such name can be probed with nothing.
TEST(Estimate, RejectsByTheShapeBeforeAnyProbe) {
  const std::string why = "resnet50 with batch 1000000 on 1 rank needs more than ";
  cases::Case c = unknown_network();
  c.engine = "no such engine";
  c.model = "resnet50";
  c.batch_size = 1'000'000;
  engines::World world;
  world.store = std::make_shared<paceline::testing::MemoryStore>();
  launch::PrefixStore job(world.store, 0, "");
  const cases::Settings settings;
  try {
    cases::Case small = c;
    small.model = "lenet";
    small.batch_size = 1;
    share_estimate(world, job, {small, c}, {.settings = settings, .cores = 2});
    ADD_FAILURE() << "not rejected";
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(why)) << error.what();
  }
  world.store = std::make_shared<paceline::testing::MemoryStore>();
  launch::PrefixStore other_job(world.store, 0, "");
  const Estimate estimate =
      share_estimate(world, other_job, {c},
                     {.settings = settings, .cores = 2, .continues_without_rejected = true});
  EXPECT_EQ(estimate.rejection, "");
  ASSERT_EQ(estimate.rejected.size(), 1U);
  EXPECT_TRUE(estimate.rejected.at(c.key()).starts_with(why)) << estimate.rejected.at(c.key());
}

TEST(BeforeProbe, LeastMemoryFollowsFromShapes) {
  cases::Case c = unknown_network();
  EXPECT_EQ(least_memory_bytes(c), 0);
  c.model = "resnet50";
  c.batch_size = 1;
  const std::int64_t one = least_memory_bytes(c);
  // 25.6 million parameters: values, gradients and momentum.
  EXPECT_GT(one, 3 * 4 * 25'500'000);
  c.batch_size = 33;
  const std::int64_t kept = (least_memory_bytes(c) - one) / 32;
  // The outputs of its convolutions alone are 11.1 million numbers.
  EXPECT_GT(kept, 4 * 11'100'000);
  EXPECT_LT(kept, 2 * 4 * 11'100'000);
  c.image_size = 112;
  EXPECT_LT(least_memory_bytes(c), one + 32 * kept / 3);
  c.device = "cuda";
  EXPECT_EQ(least_memory_bytes(c), 0);
}

TEST(BeforeProbe, RowsAreDrawnWhereThereAreTables) {
  cases::Case c = unknown_network();
  EXPECT_EQ(table_draw_seconds(c, 2), 0);
  c.model = "hybrid";
  c.strategy = "ddp";
  c.trainers = c.servers = 2;
  c.ranks = 5;
  EXPECT_GT(table_draw_seconds(c, 2), 0);
}

TEST(KnownTime, IsThatOfReplaysAlone) {
  cases::Case c = unknown_network();
  EXPECT_EQ(replay_time_text({c, c}, 3),
            "time: of 2 cases no time is known without a probe, which a run makes first\n");
  cases::Case replay = c;
  replay.replay = PACELINE_SOURCE_DIR "/tests/plan/their_network.profile.json";
  replay.strategy = "none";
  replay.warmup = 0;
  replay.steps = 1;
  replay.stretch = 10'000;
  const std::string once = replay_time_text({replay}, 1);
  EXPECT_TRUE(once.starts_with("time: about ")) << once;
  EXPECT_TRUE(once.ends_with(" for 1 replayed case, by the profiles\n")) << once;
  EXPECT_NE(replay_time_text({replay}, 100), once);
  EXPECT_TRUE(
      replay_time_text({replay, c}, 1)
          .ends_with("; of 1 case no time is known without a probe, which a run makes first\n"));
}

TEST(NetworkOf, TellsWidthsOfEmbeddingsApart) {
  cases::Case wide;
  wide.model = "embedding-mlp";
  wide.embedding_dim = 2 * wide.embedding_dim;
  cases::Case narrow = wide;
  narrow.embedding_dim = 64;
  EXPECT_NE(network_key(wide), network_key(narrow));
  narrow.embedding_dim = wide.embedding_dim;
  EXPECT_EQ(network_key(wide), network_key(narrow));
}

}  // namespace
}  // namespace paceline::rank
