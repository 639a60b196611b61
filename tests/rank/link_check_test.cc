// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/link_check.h"

#include <gtest/gtest.h>

namespace paceline::rank {
namespace {

engines::LinkedOperation operation(std::int64_t index, std::int64_t modelled_ns,
                                   std::int64_t engine_ns, int members = 2) {
  return {.name = {.channel = "grad", .index = index, .members = members},
          .issued_ns = 0,
          .modelled_ns = modelled_ns,
          .engine_ns = engine_ns};
}

TEST(LinkCheck, TheLeastSlackIsTheCases) {
  const auto check = check_link({{operation(0, 100, 90), operation(1, 200, 110)},
                                 {operation(0, 100, 80), operation(1, 200, 90)}},
                                1);
  EXPECT_EQ(check, (records::LinkCheck{.operations = 2, .slack_ns = 10, .overdue_ns = 0}));
  EXPECT_TRUE(check.valid());
}

TEST(LinkCheck, HowFarTheStepsAreOffMakesItInvalid) {
  auto check = check_link({{operation(0, 100, 90), operation(1, 200, 250)},
                           {operation(0, 100, 90), operation(1, 200, 190)}},
                          1);
  EXPECT_EQ(check,
            (records::LinkCheck{.operations = 2, .late = 1, .slack_ns = -50, .overdue_ns = 50}));
  check.window_ns = 2'499;
  EXPECT_FALSE(check.valid());
  check.window_ns = 2'500;
  EXPECT_TRUE(check.valid()) << "a late operation, of 2 % of the time";
}

TEST(LinkCheck, ARecordWithoutOverdueTimeIsInvalidWhereAnOperationWasLate) {
  records::LinkCheck check{.operations = 2, .late = 1, .slack_ns = -50};
  EXPECT_FALSE(check.valid());
  EXPECT_EQ(check.overdue_share(), std::nullopt);
  check.late = 0;
  EXPECT_TRUE(check.valid());
}

TEST(LinkCheck, WhatIsOverdueAtOnceCountsOnce) {
  const auto check = check_link({{operation(0, 100, 150, 1), operation(1, 120, 160, 1),
                                  operation(2, 130, 140, 1), operation(3, 200, 210, 1)}},
                                1);
  EXPECT_EQ(check.late, 4);
  EXPECT_EQ(check.overdue_ns, 60 + 10);
}

TEST(LinkCheck, WhoComesEarlyWaitsForTheOthersNotForTheEngine) {
  // The first rank came 1000 before the second one.
  const auto check = check_link({{operation(0, 100, 1090)}, {operation(0, 1100, 1090)}}, 1);
  EXPECT_EQ(check, (records::LinkCheck{.operations = 1, .slack_ns = 10, .overdue_ns = 0}));
}

TEST(LinkCheck, WhatAMemberDidNotSeeIsNotChecked) {
  const auto check =
      check_link({{operation(0, 100, 900), operation(1, 100, 50)}, {operation(1, 100, 50)}}, 1);
  EXPECT_EQ(check, (records::LinkCheck{.operations = 1, .slack_ns = 50, .overdue_ns = 0}));
}

TEST(LinkCheck, SlackIsInTheTimeOfTheCase) {
  EXPECT_EQ(check_link({{operation(0, 100, 500, 1)}}, 4).slack_ns, -100);
}

TEST(LinkCheck, GoesToRankZeroAsText) {
  const std::vector<engines::LinkedOperation> sent{operation(3, 1100, 1090)};
  const auto got = linked_operations_from(to_text(sent, 1000));
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].name, sent[0].name);
  EXPECT_EQ(got[0].modelled_ns, 100);
  EXPECT_EQ(got[0].engine_ns, 90);
}

// 1000 B at 8 ns each and one latency of 50 us, or two of them.
TEST(LinkCheck, AnOperationIsHeldAgainstItsLinksTime) {
  records::CommRecord record;
  record.operation = "message";
  record.ranks = 2;
  record.wire_bytes = 1000;
  record.link = "1Gbit,50us";
  record.iteration_ns = {59'000, 58'100, 900'000};
  EXPECT_TRUE(matches_link_duration(record));
  record.iteration_ns = {59'200, 59'200, 58'000};
  EXPECT_FALSE(matches_link_duration(record)) << "2 % are 59160 ns";
  record.operation = "all-reduce";
  record.iteration_ns = {110'000};
  EXPECT_TRUE(matches_link_duration(record));
  record.iteration_ns = {111'000};
  EXPECT_FALSE(matches_link_duration(record));
}

TEST(LinkCheck, ALinkIsMadeOnlyWhereThereIsOne) {
  EXPECT_EQ(make_link({}), nullptr);
  cases::Case c;
  c.link = "1Gbit,50us";
  EXPECT_NE(make_link(c), nullptr);
}

}  // namespace
}  // namespace paceline::rank
