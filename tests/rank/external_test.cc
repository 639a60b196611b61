// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/external.h"

#include <string>

#include <gtest/gtest.h>

#include "rank/command_case.h"

namespace paceline::rank {
namespace {

TEST(AllRanks, StepsAreOfOneRankOrOfAll) {
  cases::Case c = command_of_two_ranks();
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
