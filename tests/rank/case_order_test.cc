// SPDX-License-Identifier: Apache-2.0
#include "paceline/rank/case_order.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace paceline::rank {
namespace {

// Eight cases; those with 1 and 2 ranks are discarded.
cases::Experiment eight_cases() {
  cases::Experiment experiment{.name = "eight", .cases = {}, .runs = 3};
  for (int ranks = 1; ranks <= 8; ++ranks) {
    cases::Case c;
    c.ranks = ranks;
    c.discard = ranks <= 2;
    experiment.cases.push_back(c);
  }
  return experiment;
}

std::vector<int> ranks_of(const std::vector<cases::Case>& cases) {
  std::vector<int> ranks;
  for (const cases::Case& c : cases) {
    ranks.push_back(c.ranks);
  }
  return ranks;
}

TEST(CaseOrder, LeavesOutWhatIsCompletedOfThisRepetitionButNotDiscardedCases) {
  const auto experiment = eight_cases();
  CompletedCases completed;
  for (const int done : {1, 3, 8}) {
    completed.insert({experiment.cases[done - 1].key(), 1});
  }
  EXPECT_EQ(ranks_of(cases_to_do(experiment, completed, 1)), (std::vector<int>{1, 2, 4, 5, 6, 7}));
  EXPECT_EQ(ranks_of(cases_to_do(experiment, completed, 2)),
            (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(CaseOrder, WhatCannotRunIsToldOnceForEachReason) {
  auto experiment = eight_cases();
  cases::Case& absent = experiment.cases.back();
  absent.not_run = "is not installed";
  const CompletedCases completed{{absent.key() + absent.not_run, 1}};
  EXPECT_EQ(cases_to_do(experiment, completed, 1).size(), 7U);
  absent.not_run = "has no compiled form";
  EXPECT_EQ(cases_to_do(experiment, completed, 1).size(), 8U);
  absent.not_run = "";
  EXPECT_EQ(cases_to_do(experiment, completed, 1).size(), 8U);
}

TEST(CaseOrder, TrainsTheCasesOfAllLaterRepetitionsThatCanRun) {
  auto experiment = eight_cases();
  experiment.cases[4].not_run = "no such network";
  experiment.cases[5].command = "train";  // whose network is not known
  experiment.cases[6].framework = "jax";
  CompletedCases completed;
  for (const cases::Case& c : experiment.cases) {
    completed.insert({c.key(), 1});
  }
  // Repetition 1 has its discarded cases left, repetition 2 all but one.
  EXPECT_EQ(ranks_of(cases_to_train(experiment, completed, 1)),
            (std::vector<int>{1, 2, 1, 2, 3, 4, 7, 8}));
  EXPECT_TRUE(cases_to_train(experiment, completed, 3).empty());
}

TEST(CaseOrder, NetworksOfAnAdapterAloneAreNotLookedAt) {
  cases::Experiment experiment;
  for (const char* model : {"lenet", "my-net", "my_module:make"}) {
    experiment.cases.emplace_back().model = model;
    experiment.cases.back().framework = "./mine.py";
  }
  const auto trained = cases_to_train(experiment, {}, 0);
  ASSERT_EQ(trained.size(), 1U);
  EXPECT_EQ(trained[0].model, "lenet");
}

TEST(CaseOrder, ChangesFromRepetitionToRepetitionBehindTheDiscardedCases) {
  const std::vector<cases::Case> cases = eight_cases().cases;
  const std::vector<int> first = ranks_of(shuffled_for_run(cases, 0));
  EXPECT_EQ(first, ranks_of(cases));
  const std::vector<int> second = ranks_of(shuffled_for_run(cases, 1));
  const std::vector<int> third = ranks_of(shuffled_for_run(cases, 2));
  EXPECT_EQ(second, ranks_of(shuffled_for_run(cases, 1)));  // as on another rank
  EXPECT_NE(second, first);
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  for (const auto& order : {second, third}) {
    EXPECT_EQ(order[0], 1);
    EXPECT_EQ(order[1], 2);
    EXPECT_TRUE(std::ranges::is_permutation(order, first));
  }
}

}  // namespace
}  // namespace paceline::rank
