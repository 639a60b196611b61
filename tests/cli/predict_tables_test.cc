// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/records/store.h"

// `paceline predict` of jobs with embedding tables.

namespace paceline {
namespace {

using Predict = Program;

TEST_F(Predict, SimulatesServersOfEmbeddingTables) {
  const std::string job = "predict hybrid " + kCluster + " --device-rate 3000 --records r.jsonl ";
  ASSERT_EQ(run(job + "--trainers 3").exit_code, 0);
  ASSERT_EQ(run(job + "--trainers 3 --embedding-dim 4096").exit_code, 0);
  ASSERT_EQ(run(job + "--trainers 3 --as-original").exit_code, 0);
  for (const char* more : {"", " --as-original"}) {
    ASSERT_EQ(run(job + "--trainers 3 --embeddings 1000000" + more).exit_code, 0);
  }
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 5U);
  EXPECT_EQ(records[0].ranks.size(), 3U);
  EXPECT_EQ(records[0].configuration.ranks, 6);
  EXPECT_EQ(records[0].configuration.servers, 2);
  EXPECT_TRUE(records[0].configuration.strategy.starts_with("ddp:"));
  const auto exposed = [&](std::size_t i) {
    const records::RankSamples& rank = records[i].ranks.front();
    return rank.step_ns.front() - rank.compute_only_step_ns.front();
  };
  EXPECT_GT(exposed(0), 0);
  EXPECT_GT(exposed(1), exposed(0));  // wider rows cross
  EXPECT_GT(exposed(2), exposed(0));  // one answer is awaited after another
  EXPECT_GT(records[4].ranks.front().step_ns.front(),
            records[3].ranks.front().step_ns.front());  // all rows are updated
  expect_rejected("predict resnet50 " + kCluster + " --servers 3",
                  "paceline: --servers: resnet50 has no embedding tables");
  expect_rejected(job + "--ranks 4",
                  "paceline: --ranks: --trainers 2 and --servers 2 make 5 ranks; "
                  "leave it out");
  expect_rejected(job + "--batch-size 64",
                  "paceline: --batch-size 64: a step of hybrid has as many bags as 20 to 50 ids "
                  "make; leave it out, or take dlrm");
  expect_rejected("profile dlrm",
                  "paceline: MODEL: dlrm has embedding tables, which a profile does not describe; "
                  "`paceline predict dlrm --device-rate N` goes without one\n");
}

TEST_F(Predict, ChecksTheHostsMemoryForTables) {
  const auto cluster = [this](const std::string& memory) {
    write("c.toml", "[[hosts]]\nname = \"n\"\ncount = 2\nslots = 4\nmemory = \"" + memory +
                        "\"\n[[links]]\nrate = \"10Gbit\"\n");
  };
  const std::string job =
      "predict hybrid --cluster c.toml --device-rate 3000 --trainers 3 --servers 3 --embeddings "
      "390625 ";
  cluster("4GB");
  EXPECT_EQ(run(job).exit_code, 0);
  cluster("50MB");
  expect_rejected(job, "paceline: the tables do not fit: the job takes ");
}

// No two jobs that differ have one key.
TEST_F(Predict, TellsJobsWithTablesApart) {
  const std::string job =
      "predict hybrid " + kCluster + " --device-rate 3000 --engine gloo --records r.jsonl";
  const std::vector<std::string> differences{"",
                                             " --pooling mean",
                                             " --zipf 1.1",
                                             " --as-original",
                                             " --staleness 2",
                                             " --row-optimizer adagrad",
                                             " --row-dtype bf16",
                                             " --placement row-hash",
                                             " --embedding-dim 32"};
  std::set<std::string> keys;
  for (const std::string& difference : differences) {
    ASSERT_EQ(run(job + difference).exit_code, 0) << difference;
    keys.insert(records::read_records(folder_ / "r.jsonl").records.back().configuration.key());
  }
  EXPECT_EQ(keys.size(), differences.size());
}

// Of ranges of ids the first server is asked for most, and all wait for it.
TEST_F(Predict, PricesServersThatAreAskedUnequally) {
  const std::string job =
      "predict hybrid " + kCluster +
      " --device-rate 3000 --servers 4 --embedding-dim 4096 --strategy fusion --records r.jsonl ";
  for (const char* zipf : {"0", "1.2"}) {
    for (const char* placement : {"row-hash", "row-range"}) {
      ASSERT_EQ(run(job + "--zipf " + zipf + " --placement " + placement).exit_code, 0);
    }
  }
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 4U);
  const auto step = [&](std::size_t i) { return records[i].ranks.front().step_ns.front(); };
  EXPECT_EQ(step(1), step(0));
  EXPECT_GT(step(3), step(2));
}

TEST_F(Predict, SimulatesTablesOnTrainers) {
  const std::string job =
      "predict hybrid " + kCluster + " --device-rate 3000 --records r.jsonl --servers 0 ";
  ASSERT_EQ(run(job + "--trainers 3").exit_code, 0);
  ASSERT_EQ(run(job + "--trainers 3 --embedding-dim 4096").exit_code, 0);
  ASSERT_EQ(run(job + "--trainers 1").exit_code, 0);
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0].ranks.size(), 3U);
  EXPECT_EQ(records[0].configuration.ranks, 3);
  EXPECT_EQ(records[0].configuration.servers, 0);
  const auto exposed = [&](std::size_t i) {
    const records::RankSamples& rank = records[i].ranks.front();
    return rank.step_ns.front() - rank.compute_only_step_ns.front();
  };
  EXPECT_GT(exposed(1), exposed(0));  // wider rows cross
  EXPECT_EQ(exposed(2), 0);           // none crosses
  expect_rejected(
      job + "--staleness 1",
      "paceline: embedding tables: trainers that hold the tables exchange rows in every "
      "step, and no lookup misses an update; leave staleness out, or take servers");
}

TEST_F(Predict, SimulatesDlrm) {
  const std::string job = "predict dlrm " + kCluster + " --device-rate 3000 --records r.jsonl ";
  ASSERT_EQ(run(job).exit_code, 0);
  ASSERT_EQ(run(job + "--batch-size 256").exit_code, 0);
  const auto records = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].configuration.batch_size, 128);  // of run
  EXPECT_EQ(records[1].configuration.batch_size, 256);
  EXPECT_GT(*records[1].wire.planned_per_step, *records[0].wire.planned_per_step);
}

}  // namespace
}  // namespace paceline
