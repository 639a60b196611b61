// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/plan/interpreter.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

// Gradients clipped by their norm, against mathematics written without a plan.

namespace paceline::strategies {
namespace {

constexpr double kNorm = 5;  // far below that of toy gradients

/// The parameters of all ranks after some steps; those that serve have none.
World trained(const std::string& text, Rank world, double norm, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(tiny_model(), world);
  input.clip_norm = norm;
  const PlanWorld plans(*planner, input, steps);
  ToyMachine machine(plans);
  interpret(plans, machine);
  World values = values_in(machine.memory, plans);
  values.resize(static_cast<std::size_t>(planner->training_ranks(input)));
  return values;
}

/// By what gradients whose sum over `divisor` ranks is given are divided.
double factor_of(const std::vector<Values>& sum, double divisor) {
  double squares = 0;
  for (const Values& values : sum) {
    for (const double value : values) {
      squares += value * value;
    }
  }
  return divisor * std::max(1.0, (std::sqrt(squares) / divisor + 1e-6) / kNorm);
}

std::vector<Values> gradients_of(const std::vector<Values>& values, Rank rank, Step step) {
  std::vector<Values> gradients;
  for (std::size_t p = 0; p < values.size(); ++p) {
    gradients.push_back(
        toy_gradient(rank, step, Backward{ParameterId{static_cast<std::int32_t>(p)}}, values[p]));
  }
  return gradients;
}

/// Momentum SGD on the whole batch of ranks `first` .. `first + ranks - 1`.
std::vector<Values> by_one_rank(std::vector<Values> values, Rank first, Rank ranks, Step steps) {
  std::vector<Values> momentum = values;
  for (Values& one : momentum) {
    std::ranges::fill(one, 0.0);
  }
  for (Step step = 0; step < steps; ++step) {
    std::vector<Values> sum = gradients_of(values, first, step);
    for (Rank rank = first + 1; rank < first + ranks; ++rank) {
      const auto more = gradients_of(values, rank, step);
      for (std::size_t p = 0; p < sum.size(); ++p) {
        for (std::size_t i = 0; i < sum[p].size(); ++i) {
          sum[p][i] += more[p][i];
        }
      }
    }
    const double factor = factor_of(sum, ranks);
    for (std::size_t p = 0; p < sum.size(); ++p) {
      for (std::size_t i = 0; i < sum[p].size(); ++i) {
        momentum[p][i] = momentum[p][i] * 0.5 + sum[p][i] / factor;
        values[p][i] -= 0.25 * momentum[p][i];
      }
    }
  }
  return values;
}

std::vector<Values> start() { return trained("none", 1, 0, 0).front(); }

// The first step is exact: sums of whole numbers and of their squares are, in any order.  Shards of
// zero-1 and zero-2 see the norm of all.
TEST(Clip, ExactStrategiesTrainLikeOneRankOnTheWholeBatch) {
  int seen = 0;
  for (const std::string& text : strategy_texts()) {
    const bool apart = text.find("apart") != std::string::npos;
    if (parse_strategy(text).guarantee() != Guarantee::kExact) {
      continue;
    }
    ++seen;
    for (const Rank world : {apart ? 3 : 2, apart ? 5 : 4}) {
      const World once = trained(text, world, kNorm, 1);
      const World often = trained(text, world, kNorm, 4);
      const auto ranks = static_cast<Rank>(once.size());
      for (std::size_t rank = 0; rank < once.size(); ++rank) {
        EXPECT_EQ(once[rank], by_one_rank(start(), 0, ranks, 1)) << text << " of " << world;
        EXPECT_LT(distance(often[rank], by_one_rank(start(), 0, ranks, 4)), 1e-9)
            << text << " of " << world;
      }
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(Clip, OfAHierarchyCountsEachShardOnce) {
  for (const char* rule : {"zero-1", "zero-2"}) {
    const World values = trained(std::string("fusion+hierarchical:local=2+") + rule, 8, kNorm, 1);
    for (const auto& rank : values) {
      EXPECT_EQ(rank, by_one_rank(start(), 0, 8, 1)) << rule;
    }
  }
}

// Where parameters cross, each rank clips its own gradients.
TEST(Clip, IsLocalWhereGradientsDoNotCross) {
  const World alone = trained("none", 4, kNorm, 3);
  const World local = trained("fusion+local-sgd:every=4", 4, kNorm, 3);
  const World once = trained("none", 4, kNorm, 1);
  const World averaged = trained("wfbp+neighbor-allreduce:topology=one-peer-exp+atc", 2, kNorm, 1);
  for (Rank rank = 0; rank < 4; ++rank) {
    const auto expected = by_one_rank(start(), rank, 1, 3);
    const auto at = static_cast<std::size_t>(rank);
    EXPECT_EQ(once[at], by_one_rank(start(), rank, 1, 1));
    EXPECT_LT(distance(alone[at], expected), 1e-12);
    EXPECT_EQ(alone[at], local[at]);
  }
  auto mean = by_one_rank(start(), 0, 1, 1);
  const auto other = by_one_rank(start(), 1, 1, 1);
  for (std::size_t p = 0; p < mean.size(); ++p) {
    for (std::size_t i = 0; i < mean[p].size(); ++i) {
      mean[p][i] = 0.5 * mean[p][i] + 0.5 * other[p][i];
    }
  }
  EXPECT_EQ(averaged[0], mean);
}

TEST(Clip, LeavesWhatIsShorterAsItIs) {
  for (const std::string& text : strategy_texts()) {
    if (parse_strategy(text).guarantee() == Guarantee::kExact) {
      EXPECT_EQ(trained(text, 3, 1e9, 3), trained(text, 3, 0, 3)) << text;
    }
  }
}

/// Momentum SGD on the mean of what each rank has clipped.
std::vector<Values> by_mean_of_clipped(std::vector<Values> values, Rank ranks, Step steps) {
  std::vector<Values> momentum = values;
  for (Values& one : momentum) {
    std::ranges::fill(one, 0.0);
  }
  for (Step step = 0; step < steps; ++step) {
    for (Values& one : momentum) {
      std::ranges::for_each(one, [](double& value) { value *= 0.5; });
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto mine = gradients_of(values, rank, step);
      const double factor = factor_of(mine, 1) * ranks;
      for (std::size_t p = 0; p < mine.size(); ++p) {
        for (std::size_t i = 0; i < mine[p].size(); ++i) {
          momentum[p][i] += mine[p][i] / factor;
        }
      }
    }
    for (std::size_t p = 0; p < values.size(); ++p) {
      for (std::size_t i = 0; i < values[p].size(); ++i) {
        values[p][i] -= 0.25 * momentum[p][i];
      }
    }
  }
  return values;
}

// Where everybody averages with everybody, both are SGD on the mean gradient.
TEST(Clip, ComesBeforeTrackersAndCorrections) {
  for (const std::string rule : {"gradient-tracking", "decentlam"}) {
    for (const std::string schedule : {"bsp", "wfbp", "dear"}) {
      const std::string text = schedule + "+neighbor-allreduce:topology=full+" + rule;
      const World clipped = trained(text, 4, kNorm, 4);
      for (const auto& rank : clipped) {
        EXPECT_LT(distance(rank, by_mean_of_clipped(start(), 4, 4)), 1e-9) << text;
      }
      EXPECT_GT(distance(clipped[0], trained(text, 4, 0, 4)[0]), 1) << text;
      EXPECT_EQ(trained(text, 4, 1e9, 3), trained(text, 4, 0, 3)) << text;
    }
  }
}

}  // namespace
}  // namespace paceline::strategies
