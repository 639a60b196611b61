// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "paceline/networks/bags.h"
#include "paceline/rank/embedding_case.h"
#include "rank/embedding_reference.h"
#include "rank/irregular_network.h"
#include "rank/run_rank_threads.h"

// What ranks of a job with embedding tables send each other, how late it may be, and ids that no
// table has.

namespace paceline::rank {
namespace {

constexpr int kBookedSteps = 10;

/// The distinct rows that a trainer wants of each server in a step.
std::map<int, std::int64_t> wanted(const strategies::EmbeddingJob& job,
                                   const networks::LookupBatchKey& key) {
  const strategies::TableMap map(job);
  std::map<int, std::set<plan::Elements>> rows;
  const auto lookups = networks::draw_offsets(job, key).back();
  for (int table = 0; table < job.tables; ++table) {
    for (const auto id : networks::draw_ids(job, key, table, lookups)) {
      const auto place = map.find(table, id, key.trainer);
      rows[place.server].insert(place.row);
    }
  }
  std::map<int, std::int64_t> counts;
  for (const auto& [server, set] : rows) {
    counts[server] = static_cast<std::int64_t>(set.size());
  }
  return counts;
}

// True lengths cross, with eight bytes that say them.
TEST(EmbeddingsSend, WhatWasLookedUpAndNoMore) {
  const auto c = case_of({.name = "", .trainers = 3, .placement = "row-hash"});
  const auto job = *embedding_job_of(c);
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, false));
    testing::booked(trainer, kBookedSteps);
    std::int64_t expected = 0;
    for (int step = 0; step < kBookedSteps; ++step) {
      for (int t = 0; t < c.trainers; ++t) {
        const networks::LookupBatchKey key{.seed = c.seed, .trainer = t, .step = step};
        for (const auto& [server, rows] : wanted(job, key)) {
          const std::int64_t values = 8 + 8 * rows * job.dim;
          expected += group.rank == t ? 8 + 8 * rows + values : 0;
          expected += group.rank == c.trainers + server ? values : 0;
        }
      }
    }
    EXPECT_EQ(trainer.ledger().bytes["message"], expected) << "rank " << group.rank;
  });
}

// What a trainer wants of its own rows does not cross.
TEST(EmbeddingsSend, NothingToThemselves) {
  const auto c = case_of({.name = "", .trainers = 3, .servers = 0});
  const auto job = *embedding_job_of(c);
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, false));
    testing::booked(trainer, kBookedSteps);
    std::int64_t ids = 0, rows_in = 0, rows_out = 0;
    for (int step = 0; step < kBookedSteps; ++step) {
      for (int t = 0; t < c.trainers; ++t) {
        const networks::LookupBatchKey key{.seed = c.seed, .trainer = t, .step = step};
        for (const auto& [server, rows] : wanted(job, key)) {
          const std::int64_t values = 8 + 8 * rows * job.dim;
          const bool crosses = server != t;
          ids += crosses && group.rank == t ? 8 + 8 * rows : 0;
          rows_in += crosses && group.rank == t ? values : 0;
          rows_out += crosses && group.rank == server ? values : 0;
        }
      }
    }
    EXPECT_EQ(trainer.ledger().bytes["message"], ids + rows_in + rows_out) << "rank " << group.rank;
    const records::LookupCounts lookups = *trainer.take_lookups();
    EXPECT_EQ(lookups.id_bytes, ids);
    EXPECT_EQ(lookups.row_bytes, rows_in);
    EXPECT_EQ(lookups.gradient_bytes, rows_in);
  });
}

// A table of one row is always looked up once, so that the typical length is the true one.
TEST(EmbeddingsSend, WhatTheirPlansSay) {
  for (const bool original : {false, true}) {
    auto c = case_of({.name = "", .servers = 3, .as_original = original});
    c.embeddings = 1;
    testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
      Trainer trainer(c, group, options_of(c, false));
      EXPECT_EQ(testing::booked(trainer, 3), testing::planned(trainer, group.rank, 3))
          << original << ", rank " << group.rank;
    });
  }
}

TEST(EmbeddingsStale, MissNoMoreStepsThanTheyMay) {
  auto c = case_of({.name = "", .trainers = 3, .staleness = 1});
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, false));
    for (int step = 0; step < 40; ++step) {
      trainer.step();
    }
    trainer.drain();
    std::int64_t lookups = 0;
    for (const auto& [missed, count] :
         lookups_by_steps_missed(trainer.executor().take_staleness())) {
      EXPECT_LE(missed, c.staleness);
      lookups += count;
    }
    const bool serves = !trainer.trains() && group.rank + 1 < c.ranks;
    EXPECT_EQ(lookups, serves ? 39 * c.trainers : 0);  // the first is strict
  });
}

/// A planner of the case's tables, whose trainers draw ids of 1000.
std::shared_ptr<const plan::Planner> with_more_ids(const cases::Case& c) {
  auto job = *embedding_job_of(c);
  job.bags.ids = 1000;
  return strategies::make_sharded_embeddings(
      job, strategies::make_planner(strategies::parse_strategy(c.strategy)),
      strategies::RowExchange::kServed);
}

TEST(EmbeddingsOutOfRange, AreErrorsOfTheTrainer) {
  for (const Job& job : {Job{.name = "", .trainers = 2, .servers = 3},
                         Job{.name = "", .trainers = 3, .servers = 0}}) {
    const auto c = case_of(job);
    const auto errors = testing::run_rank_threads(c.ranks, [&](const RankGroup& group) {
      TrainerOptions options = options_of(c, false);
      options.planner = with_more_ids(c);
      options.dispatcher.timeout = std::chrono::milliseconds(500);
      Trainer trainer(c, group, options);
      trainer.step();
      trainer.drain();
    });
    for (int rank = 0; rank + 1 < c.ranks; ++rank) {
      const std::string& error = errors[static_cast<std::size_t>(rank)];
      const std::string mine = "trainer " + std::to_string(rank) + " looks up id ";
      EXPECT_EQ(error.find(mine) != std::string::npos, rank < c.trainers) << error;
      EXPECT_EQ(error.find(" of table 0, whose ids are 0 to 36") != std::string::npos,
                rank < c.trainers)
          << error;
    }
  }
}

TEST(EmbeddingsAlone, SendNothing) {
  auto c = case_of({.name = "", .strategy = "none"});
  testing::run_rank_threads_well(c.ranks, [&](const RankGroup& group) {
    Trainer trainer(c, group, options_of(c, false));
    EXPECT_EQ(testing::booked(trainer, 3), testing::Booked{});
  });
}

}  // namespace
}  // namespace paceline::rank
