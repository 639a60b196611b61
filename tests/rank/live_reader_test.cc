// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/live_reader.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/rank/external.h"
#include "rank/command_case.h"

namespace paceline::rank {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

cases::Case two_steps() {
  cases::Case c = command_of_two_ranks();
  c.model = "command";
  return c;
}

std::string status_of(const std::string& line) {
  LiveReader reader(two_steps(), 0);
  try {
    reader.take(line, kSecond);
    reader.finish();
  } catch (const ExternalProgramError& failure) {
    return failure.status();
  }
  return "ok";
}

TEST(LiveReader, MakesARecordOfTheWindow) {
  LiveReader reader(two_steps(), 1);
  for (int step = 0; step < 4; ++step) {
    EXPECT_EQ(reader.done(), step);
    reader.take(R"({"event": "step", "step_ns": 1)" + std::to_string(step) + "}", kSecond);
  }
  reader.take(R"({"event": "end", "loss": 0.5, "wire": {"measured_bytes_per_step": 8,)"
              R"( "planned_bytes_per_step": null, "bytes_by_pattern": {"all-reduce": 8},)"
              R"( "calls_per_step": 2}})",
              kSecond);
  const records::RunRecord part = reader.finish();
  ASSERT_EQ(part.ranks.size(), 1U);
  EXPECT_EQ(part.ranks[0].rank, 1);
  EXPECT_EQ(part.ranks[0].step_ns, (std::vector<std::int64_t>{11, 12}));
  EXPECT_EQ(part.ranks[0].window_ns, 23);
  EXPECT_EQ(part.wire, (records::WireBytes{.measured_per_step = 8,
                                           .planned_per_step = std::nullopt,
                                           .by_pattern = {{"all-reduce", 8}},
                                           .calls_per_step = 2}));
  EXPECT_EQ(part.adapter.at("loss"), "0.5");
  ASSERT_EQ(part.warnings.size(), 1U);
  EXPECT_EQ(part.warnings[0].code, "steps-unused");
}

TEST(LiveReader, TellsAFailureWithItsStatus) {
  EXPECT_EQ(status_of("hello"), "ok") << "another rank may tell the steps";
  EXPECT_EQ(status_of(R"({"event": "step"})"), "bad-output");
  EXPECT_EQ(status_of(R"({"event": "error", "status": "unsupported", "message": "no"})"),
            "unsupported");
  EXPECT_EQ(status_of(R"({"event": "error", "message": "no"})"), "exit");
  EXPECT_EQ(status_of(R"({"event": "error", "message": "CUDA out of memory"})"), "out-of-memory");
}

TEST(LiveReader, RejectsWhatIsNoValueOfARecord) {
  LiveReader reader(two_steps(), 0);
  for (int step = 0; step < 3; ++step) {
    reader.take(R"({"event": "step", "step_ns": 7})", kSecond);
  }
  reader.take(R"({"event": "end", "in_turn": {"paired_step_ns": ["a"], "pair_of_step": [0],)"
              R"( "compute_only_step_ns": [3]}})",
              kSecond);
  EXPECT_THROW(reader.finish(), ExternalProgramError);
}

TEST(AllRanks, StepsAreOfOneRankOrOfAll) {
  cases::Case c = two_steps();
  c.ranks = 3;
  const auto outcome = [&c](std::size_t ranks) {
    records::RunRecord whole;
    whole.configuration = c;
    whole.ranks.resize(ranks);
    check_external_record(whole);
    return whole.status + ": " + whole.error.value_or("none");
  };
  EXPECT_EQ(outcome(1), ": none");
  EXPECT_EQ(outcome(2), "wrong-count: steps came of 2 of 3 ranks");
  EXPECT_EQ(outcome(3), ": none");
  EXPECT_EQ(outcome(0), "no-samples: it wrote no step (docs/adapters.md)");
  c.step_regex = "took";
  EXPECT_EQ(outcome(0), "no-samples: no line matches --step-regex 'took'");
}

}  // namespace
}  // namespace paceline::rank
