// SPDX-License-Identifier: Apache-2.0
// Runs beside parameter servers, and the messages that they take.
#include <string>

#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/base/stream.h"
#include "paceline/records/store.h"

namespace paceline {
namespace {

// Statistics cross in a step too; a server has none, and waits for the ranks that measure steps
// without communication.
TEST_F(Program, AveragesStatisticsBesideServers) {
  const Outcome outcome =
      run("run --model resnet18 --image-size 32 --batch-size 4 --device cpu --ranks 3 --threads 1 "
          "--warmup 1 --steps 3 --timeout 8 --strategy ps:placement=apart,servers=1 "
          "--average-buffers 2 --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(Program, RejectsMessagesThatNeedTooManyThreads) {
  const Outcome outcome =
      run("run --model resnet18 --device cpu --ranks 2 --engine gloo --steps 1 --strategy "
          "ps:partition-mb=0.003");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("messages in a step, each of which needs a thread on this engine; at "
                             "most 8192: take larger partitions."),
            std::string::npos)
      << outcome.err;
}

// Of these ranks the server alone has too many.
TEST_F(Program, RecordsACaseThatOneRankRejectsUnderOtherLaunchers) {
  const Outcome outcome =
      run("list formats >stdout; export WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=" +
          std::to_string(free_port()) + "; rank() { RANK=$1 '" + PACELINE_PROGRAM +
          "' run --model mlp --device cpu --ranks 3 --threads 1 --batch-size 4 --warmup 1 --steps "
          "2 --timeout 10 --strategy ps:placement=apart,servers=1,partition-mb=0.0015 --strategy "
          "bsp --records r.jsonl; }; rank 1 & rank 2 & rank 0");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_NE(outcome.err.find("paceline: Rank 2 would have "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("\nthat case is recorded as failed\n"), std::string::npos)
      << outcome.err;
  const auto all = records::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].error->starts_with("Rank 2 would have ")) << *all[0].error;
  EXPECT_EQ(all[1].error, std::nullopt);
}

// Servers hold no parameters, and some of them a part.
TEST_F(Program, SaysHowFarTrainersAreFromTheirMeanBesideServers) {
  for (const char* job :
       {"hybrid --trainers 2 --servers 1 --strategy none",
        "mlp --batch-size 4 --ranks 3 --strategy ps:placement=apart,servers=1+diloco:every=2",
        "mlp --batch-size 4 --ranks 4 --strategy ps:placement=apart,servers=2+local-sgd:every=2"}) {
    const Outcome outcome = run(std::string("run --model ") + job +
                                " --device cpu --warmup 0 --steps 3 --records r.jsonl");
    ASSERT_EQ(outcome.exit_code, 0) << job << ": " << outcome.err;
    const auto all = records::read_records(folder_ / "r.jsonl").records;
    EXPECT_GT(all.back().consensus_distance.value_or(0), 0) << job;
  }
}

}  // namespace
}  // namespace paceline
