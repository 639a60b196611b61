// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/program.h"
#include "paceline/record/store.h"

namespace paceline {
namespace {

using Predict = Program;

const std::string kCluster =
    "--cluster " PACELINE_SOURCE_DIR "/clusters/8x4-2080ti-10gbe.toml";

TEST_F(Predict, WritesARecordAndATrace) {
  const Outcome outcome =
      run("predict resnet50 " + kCluster +
          " --strategy bsp --ranks 8 --trace t.json --records r.jsonl");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("(predicted)"), std::string::npos);
  EXPECT_NE(outcome.err.find("exposed communication"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder_ / "t.json"));
  const auto records = record::read_records(folder_ / "r.jsonl").records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].source, record::Source::kPredicted);
  EXPECT_EQ(records[0].ranks.size(), 8u);
}

TEST_F(Predict, RefusesInOneSentence) {
  expect_refused("predict resnet50 " + kCluster + " --ranks 33",
                 "paceline: a world of 33 ranks does not fit on cluster");
  expect_refused("predict resnet50 --cluster none.toml", "paceline: ");
  expect_refused("predict resnet50 " + kCluster + " --strategy nosuch",
                 "paceline: unknown ");
}

TEST_F(Predict, AdviseEndsWithACommand) {
  const Outcome outcome =
      run("advise resnet50 " + kCluster + " --ranks 4 --bucket-mb 25");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("paceline run"), std::string::npos);
  EXPECT_NE(outcome.out.find("\n * "), std::string::npos);
}

}  // namespace
}  // namespace paceline
