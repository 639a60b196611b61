// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/program.h"
#include "paceline/plan/verify.h"
#include "paceline/strategies/embedding_buffers.h"
#include "plan/random_executor.h"
#include "plan/toy_embeddings.h"
#include "plan/toy_machine.h"

namespace paceline::strategies {
namespace {

TEST(TableMap, GivesEveryRowOnePlaceAndLeavesNoneFree) {
  for (const auto placement :
       {TablePlacement::kTable, TablePlacement::kRowHash, TablePlacement::kRowRange}) {
    for (const Rank servers : {1, 2, 3, 7}) {
      for (const Elements rows : {1, 5, 64, 97}) {
        const EmbeddingJob job{
            .servers = servers, .tables = 3, .rows = rows, .placement = placement};
        const TableMap map(job);
        std::set<std::pair<Rank, Elements>> places;
        for (int table = 0; table < job.tables; ++table) {
          for (Elements id = 0; id < rows; ++id) {
            const RowLocation place = map.find(table, id, 0);
            EXPECT_LT(place.row, map.row_count_of(place.server));
            EXPECT_TRUE(places.emplace(place.server, place.row).second);
          }
        }
        Elements held = 0;
        for (Rank server = 0; server < servers; ++server) {
          held += map.row_count_of(server);
        }
        EXPECT_EQ(held, static_cast<Elements>(places.size()));
      }
    }
  }
}

TEST(TableMap, LetsEveryReplicaServeItsTrainers) {
  const EmbeddingJob job{.trainers = 5,
                         .servers = 2,
                         .tables = 3,
                         .rows = 4,
                         .placement = TablePlacement::kReplicated};
  const TableMap map(job);
  EXPECT_EQ(map.row_count_of(0), 12);
  EXPECT_EQ(map.row_count_of(1), 12);
  EXPECT_EQ(map.find(2, 3, 4).server, 0);
  EXPECT_EQ(map.find(2, 3, 3).server, 1);
  EXPECT_EQ(map.find(2, 3, 3).row, 11);
}

TEST(TableMap, NamesTrainerTableAndIdThatIsOutOfRange) {
  const TableMap map({.tables = 3, .rows = 4});
  for (const Elements id : {-1, 4}) {
    try {
      map.find(2, id, 7);
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "trainer 7 looks up id " + std::to_string(id) +
                                  " of table 2, whose ids are 0 to 3");
    }
  }
}

// The mean of 300 (1 - (299/300)^n) over n = 20 .. 50 is 32.9.
TEST(TableMap, SaysHowManyDistinctRowsAStepWants) {
  EmbeddingJob job{.trainers = 1, .servers = 4, .tables = 4};
  EXPECT_EQ(TableMap(job).most_rows_per_server(), 50);
  EXPECT_EQ(TableMap(job).expected_rows_per_server(), std::vector<Elements>(4, 33));
  job.rows = 10;
  EXPECT_EQ(TableMap(job).most_rows_per_server(), 10);
  job.rows = 1;
  EXPECT_EQ(TableMap(job).expected_rows_per_server(), std::vector<Elements>(4, 1));
}

// Whatever cuts tables, all servers together are asked for the same rows.
TEST(TableMap, SaysWhichServerIsAskedForMost) {
  EmbeddingJob job{.trainers = 1, .servers = 4, .tables = 4};
  const auto wanted = [&](TablePlacement placement, double zipf) {
    job.placement = placement;
    job.bags.zipf = zipf;
    return TableMap(job).expected_rows_per_server();
  };
  const auto sum = [](const std::vector<Elements>& rows) {
    return std::reduce(rows.begin(), rows.end());
  };
  EXPECT_EQ(wanted(TablePlacement::kRowRange, 0), std::vector<Elements>(4, 33));
  EXPECT_EQ(wanted(TablePlacement::kRowHash, 0), std::vector<Elements>(4, 33));
  const auto whole = wanted(TablePlacement::kTable, 1.2);
  EXPECT_EQ(whole, std::vector<Elements>(4, whole[0]));
  for (const auto cut : {TablePlacement::kRowRange, TablePlacement::kRowHash}) {
    EXPECT_NEAR(static_cast<double>(sum(wanted(cut, 1.2))), static_cast<double>(sum(whole)), 4)
        << "each is rounded up";
  }
  const auto range = wanted(TablePlacement::kRowRange, 1.2);
  const auto hash = wanted(TablePlacement::kRowHash, 1.2);
  EXPECT_GT(range[0], 2 * range[1]) << "frequent ids come first";
  EXPECT_GT(range[0], 3 * std::ranges::max(hash) / 2);
}

/// The sum over all ids, one by one, of the probability that one of n lookups meets the id, by
/// server.
std::vector<double> exactly_distinct(const EmbeddingJob& job) {
  const TableMap map(job);
  const auto weight = [&](Elements id) {
    return std::pow(static_cast<double>(id + 1), -job.bags.zipf);
  };
  double sum = 0;
  for (Elements id = 0; id < job.rows; ++id) {
    sum += weight(id);
  }
  std::vector<double> all(static_cast<std::size_t>(job.servers));
  for (Elements id = 0; id < job.rows; ++id) {
    all[static_cast<std::size_t>(map.find(0, id, 0).server)] -=
        std::expm1(static_cast<double>(job.bags.most) * std::log1p(-weight(id) / sum));
  }
  return all;
}

TEST(TableMap, SumsZipfInBlocksAsCloseAsItSays) {
  EmbeddingJob job{.trainers = 1, .servers = 3, .tables = 1, .rows = 1'000'003};
  job.bags.fewest = job.bags.most = 200'000;
  for (const double zipf : {0.5, 1.0, 1.1, 2.0}) {
    job.bags.zipf = zipf;
    for (const auto& [placement, bound] :
         {std::pair(TablePlacement::kRowRange, 1e-6), std::pair(TablePlacement::kRowHash, 1e-4)}) {
      job.placement = placement;
      const auto exact = exactly_distinct(job);
      const auto found = TableMap(job).expected_rows_per_server();
      for (std::size_t server = 0; server < exact.size(); ++server) {
        const double error = bound * exact[server];
        const auto rows = static_cast<double>(found[server]);
        EXPECT_GE(rows, std::ceil(exact[server] - error)) << zipf;
        EXPECT_LE(rows, std::ceil(exact[server] + error)) << zipf;
      }
    }
  }
}

TEST(TableMap, TakesNoLongerForBillionsOfRows) {
  EmbeddingJob job{.trainers = 1, .servers = 2, .rows = 2'000'000'000};
  job.placement = TablePlacement::kRowRange;
  job.bags.zipf = 1.1;
  const auto wanted = TableMap(job).expected_rows_per_server();
  EXPECT_GT(wanted[0], wanted[1]);
}

TEST(EmbeddingJob, IsWhatItsNumbersSay) {
  EmbeddingJob job = plan::toy_job(3, 2);
  job.placement = TablePlacement::kRowRange;
  job.bags.zipf = 1.25;
  job.sequential = true;
  const auto [back, rank] = decode_job(encode_job(job, 4));
  EXPECT_EQ(rank, 4);
  EXPECT_EQ(encode_job(back, 4), encode_job(job, 4));
  EXPECT_EQ(back.placement, TablePlacement::kRowRange);
  EXPECT_EQ(back.bags.zipf, 1.25);
}

TEST(ShardedEmbeddings, ArePlansThatEveryRankAgreesOn) {
  for (const auto& [job, at] : plan::toy_jobs()) {
    for (const char* dense : {"bsp", "dear", "ddp", "bytescheduler:credit-mb=0", "fusion+ps"}) {
      const auto planner = plan::with_tables(job, dense);
      EXPECT_NO_THROW(
          plan::verify(*planner, plan::input_of(plan::model_behind_bags(job, at), job.ranks()), 4))
          << dense;
    }
  }
}

TEST(ShardedEmbeddings, EndWithTheInterpretersValuesUnderAnySchedule) {
  for (const auto& [job, at] : plan::toy_jobs()) {
    const auto planner = plan::with_tables(job, "fusion");
    const plan::PlanWorld world(*planner,
                                plan::input_of(plan::model_behind_bags(job, at), job.ranks()), 3);
    plan::ToyMachine machine(world);
    plan::interpret(world, machine);
    plan::RandomExecutor executor(world);
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(executor.run(seed), std::nullopt);
      EXPECT_EQ(executor.memory(), machine.memory);
    }
  }
}

TEST(ShardedEmbeddings, MayBeStaleWhereNothingElseChanges) {
  for (auto [job, at] : plan::toy_jobs()) {
    job.staleness = 2;
    if (!placement_conflict_message(job).empty()) {
      continue;
    }
    const auto planner = plan::with_tables(job, "fusion");
    plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, at), job.ranks());
    EXPECT_NO_THROW(plan::verify(*planner, input, 4));
    input.rank = job.trainers;
    const plan::Setup setup = planner->setup(input);
    EXPECT_EQ(plan::largest_slack_steps(planner->plan(input, setup, 0)), 0);
    EXPECT_EQ(plan::largest_slack_steps(planner->plan(input, setup, 1)), 3);
  }
}

/// Of the buffers that `which(name)`.
template <class Which>
std::int64_t bytes_of(const plan::Setup& setup, const Which& which) {
  std::int64_t bytes = 0;
  for (const plan::Buffer& buffer : setup.buffers) {
    bytes += which(buffer.name) ? buffer.elements * plan::size_of(buffer.dtype) : 0;
  }
  return bytes;
}

TEST(ShardedEmbeddings, TakeTheMemoryOfTheirBuffers) {
  for (auto [job, at] : plan::toy_jobs()) {
    for (const auto& [rule, state] :
         {std::pair{RowRule::kSgd, 0}, {RowRule::kAdagrad, 2}, {RowRule::kRowwiseAdagrad, 1}}) {
      job.rule = rule;
      const auto planner = plan::with_tables(job, "fusion");
      plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, at), job.ranks());
      for (input.rank = 0; input.rank < job.ranks(); ++input.rank) {
        const plan::Setup setup = planner->setup(input);
        const PlanMemory memory = memory_of_plan(*planner, input);
        const Rank server = input.rank - job.first_server();
        const bool serves = server >= 0 && server < job.servers;
        const Elements rows = serves ? TableMap(job).row_count_of(server) : 0;
        EXPECT_EQ(memory.rows, rows * 4 * (2 + state + (job.dense_gradients ? 2 : 0)));
        if (input.rank < job.trainers) {
          EXPECT_EQ(memory.bytes(), bytes_of(setup, [](const auto&) { return true; }));
          continue;
        }
        Rank answered = job.trainers;  // of a replica, every so many trainers
        if (job.placement == TablePlacement::kReplicated && serves) {
          answered = (job.trainers - server + job.servers - 1) / job.servers;
        }
        EXPECT_EQ(memory.other,
                  bytes_of(setup,
                           [](const auto& name) {
                             return name == "served_ids" || name == "served_gradients";
                           }) +
                      bytes_of(setup, [](const auto& name) { return name == "served_rows"; }) *
                          answered / job.trainers);
      }
    }
  }
}

// With fewer hazards some schedule must go wrong.
TEST(ShardedEmbeddings, NeedTheirHazards) {
  const EmbeddingJob job = plan::toy_job(2, 2);
  const auto planner = plan::with_tables(job, "fusion");
  const plan::PlanWorld world(*planner,
                              plan::input_of(plan::model_behind_bags(job, 0), job.ranks()), 3);
  plan::ToyMachine machine(world);
  plan::interpret(world, machine);
  int wrong = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    plan::RandomExecutor executor(world, 0.1, seed);
    wrong += executor.run(seed).has_value() || !(executor.memory() == machine.memory) ? 1 : 0;
  }
  EXPECT_GT(wrong, 0);
}

// 33 rows of 64 floats and 33 ids, each behind 8 bytes.
TEST(ShardedEmbeddings, CostWhatTheirHeaderSays) {
  const EmbeddingJob job{.trainers = 2, .servers = 4, .tables = 4};
  const auto planner = plan::with_tables(job, "none");
  plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, 0), job.ranks());
  const auto sent = [&](Rank rank) {
    input.rank = rank;
    const plan::Setup setup = planner->setup(input);
    return plan::cost(setup, planner->plan(input, setup, 1), rank).wire_bytes;
  };
  const std::int64_t rows = 8 + 33 * 64 * 4;
  EXPECT_EQ(sent(0), 4 * (8 + 33 * 8 + rows));
  EXPECT_EQ(sent(2), 2 * rows);
  EXPECT_EQ(sent(6), 0);
}

/// Bytes of memory, and bytes sent in a step, of a rank.
std::pair<std::int64_t, std::int64_t> bytes_of(const EmbeddingJob& job, Rank rank) {
  const auto planner = plan::with_tables(job, "none");
  plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, 0), job.ranks());
  input.rank = rank;
  const plan::Setup setup = planner->setup(input);
  std::int64_t held = 0;
  for (const plan::Buffer& buffer : setup.buffers) {
    held += buffer.elements * plan::size_of(buffer.dtype);
  }
  return {held, plan::cost(setup, planner->plan(input, setup, 1), rank).wire_bytes};
}

// A server holds the gradients of its 300 rows, and the same crosses.
TEST(ShardedEmbeddings, WithDenseGradientsCostMemoryAndNoBytesMore) {
  const EmbeddingJob sparse{.trainers = 2, .servers = 4, .tables = 4};
  EmbeddingJob dense = sparse;
  dense.dense_gradients = true;
  for (const Rank rank : {0, 2, 6}) {
    const auto [held, sent] = bytes_of(sparse, rank);
    EXPECT_EQ(bytes_of(dense, rank), std::pair(held + (rank == 2 ? 300 * 64 * 4 : 0), sent))
        << rank;
  }
}

/// Rank 1 issues exchanges of rows in another order.
class OfTwoMinds final : public plan::Planner {
 public:
  explicit OfTwoMinds(const plan::Planner& planner) : planner_(planner) {}

  plan::Setup setup(const plan::PlanInput& input) const override {
    plan::Setup setup = planner_.setup(input);
    if (input.rank == 1) {
      setup.communicators.back().order = plan::IssueOrder::kProgram;
    }
    return setup;
  }
  plan::Variant variant(const plan::PlanInput& input, plan::Step step) const override {
    return planner_.variant(input, step);
  }
  plan::CommPlan plan(const plan::PlanInput& input, const plan::Setup& setup,
                      plan::Variant variant) const override {
    return planner_.plan(input, setup, variant);
  }

 private:
  const plan::Planner& planner_;
};

TEST(ShardedEmbeddings, CrossOnACommunicatorOfTheirOwn) {
  const EmbeddingJob job = plan::toy_job(2, 2);
  const auto planner = plan::with_tables(job, "fusion");
  const plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, 0), job.ranks());
  const plan::Setup setup = planner->setup(input);
  int rows = 0, dense = 0;
  for (const plan::Op& op : planner->plan(input, setup, 1).ops) {
    const auto on = plan::communicator_of(op);
    if (!on) {
      continue;
    }
    const bool exchange = std::holds_alternative<plan::Exchange>(op.work);
    EXPECT_EQ(setup.communicators[plan::index_of(*on)].name == "lookups", exchange);
    const std::string text = plan::describe(op, input.model, setup);
    EXPECT_EQ(text.ends_with("on lookups, 4 ranks"), exchange) << text;
    ++(exchange ? rows : dense);
  }
  EXPECT_GT(rows, 0);
  EXPECT_GT(dense, 0);
  EXPECT_NO_THROW(plan::verify(*planner, input, 3));
  EXPECT_THROW(plan::verify(OfTwoMinds(*planner), input, 3), plan::PlanError);
}

// As above, and the two ranks that are trainer and server at once send to one rank less.
TEST(ShardedEmbeddings, OnTrainersCrossInThreeExchanges) {
  const EmbeddingJob job{.trainers = 2, .servers = 2, .tables = 2, .colocated = true};
  const auto planner = plan::with_tables(job, "none");
  plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, 0), job.ranks());
  ASSERT_EQ(input.world, 2);
  for (input.rank = 0; input.rank < 2; ++input.rank) {
    const plan::Setup setup = planner->setup(input);
    const plan::CommPlan plan = planner->plan(input, setup, 1);
    int exchanges = 0;
    for (const plan::Op& op : plan.ops) {
      if (const auto* exchange = std::get_if<plan::Exchange>(&op.work)) {
        ++exchanges;
        EXPECT_EQ(exchange->sends.size(), 1);
        EXPECT_EQ(exchange->receives.size(), 1);
      }
    }
    EXPECT_EQ(exchanges, 3);
    EXPECT_EQ(plan::cost(setup, plan, input.rank).wire_bytes, 8 + 33 * 8 + 2 * (8 + 33 * 64 * 4));
  }
}

TEST(ShardedEmbeddings, OnTrainersMissNoUpdate) {
  EmbeddingJob job = plan::toy_job(2, 0);
  job.staleness = 1;
  EXPECT_THROW(plan::with_tables(job, "none"), UsageError);
  job.staleness = 0;
  job.sequential = true;
  EXPECT_THROW(plan::with_tables(job, "none"), UsageError);
}

// Four trainers on two hosts, and the servers behind them.
TEST(ShardedEmbeddings, TellTheDensePartWhichTrainersShareAHost) {
  const EmbeddingJob job = plan::toy_job(4, 2);
  const auto planner = plan::with_tables(job, "fusion+hierarchical");
  plan::PlanInput input = plan::input_of(plan::model_behind_bags(job, 0), job.ranks());
  input.local_world = {2, 2, 3};
  const plan::Setup setup = planner->setup(input);
  const auto& groups = setup.communicators;
  EXPECT_TRUE(std::ranges::any_of(groups, [](const plan::Communicator& group) {
    return group.members == plan::Members::spaced(0, 2);
  }));
  EXPECT_NO_THROW(plan::verify(*planner, input, 3));
}

TEST(ShardedEmbeddings, RejectServersOfTheDensePartAmongTheTrainers) {
  const EmbeddingJob job = plan::toy_job(4, 2);
  const auto planner = plan::with_tables(job, "fusion+ps:placement=apart");
  try {
    planner->setup(plan::input_of(plan::model_behind_bags(job, 0), 7));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "all 4 trainers train the dense part beside embedding tables, and its strategy "
                 "makes 2 of them servers; take ps:placement=colocated");
  }
}

TEST(ShardedEmbeddings, RejectAnotherNumberOfRanks) {
  const EmbeddingJob job = plan::toy_job(2, 2);
  const auto planner = plan::with_tables(job, "fusion");
  try {
    planner->setup(plan::input_of(plan::model_behind_bags(job, 0), 4));
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "2 trainers, 2 servers and the master are 5 ranks, and there are 4");
  }
}

}  // namespace
}  // namespace paceline::strategies
