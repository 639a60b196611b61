// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/least_squares.h"
#include "strategies/strategy_texts.h"

// Update rules against mathematics that is written without a plan.

namespace paceline::strategies {
namespace {

constexpr Step kRuleSteps = 9;

/// All parameters after `steps` steps of momentum SGD on toy gradients.
World meaning_of(const std::string& text, Rank world, Step steps = kRuleSteps,
                 const OptimizerShape& optimizer = {}, const std::vector<Rank>& hosts = {},
                 int micro_batches = 1) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(tiny_model(), world);
  input.optimizer = optimizer;
  input.micro_batches = micro_batches;
  if (!hosts.empty()) {
    input.local_world = hosts;
  }
  const PlanWorld plans(*planner, input, steps);
  ToyMachine machine(plans);
  interpret(plans, machine);
  return values_in(machine.memory, plans);
}

World start_of(Rank world) { return meaning_of("none", world, 0); }

/// out[rank][p][i] = f(rank, p, i), of the shape of `like`.
template <class F>
World each(const World& like, const F& f) {
  World out = like;
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::size_t p = 0; p < out[r].size(); ++p) {
      for (std::size_t i = 0; i < out[r][p].size(); ++i) {
        out[r][p][i] = f(r, p, i);
      }
    }
  }
  return out;
}

World zeros(const World& like) {
  return each(like, [](auto, auto, auto) { return 0.0; });
}

World combined(double a, const World& x, double b, const World& y) {
  return each(x, [&](auto r, auto p, auto i) { return a * x[r][p][i] + b * y[r][p][i]; });
}

World gradients_at(const World& x, Step step) {
  World out = x;
  for (std::size_t r = 0; r < x.size(); ++r) {
    for (std::size_t p = 0; p < x[r].size(); ++p) {
      out[r][p] = toy_gradient(static_cast<Rank>(r), step,
                               Backward{ParameterId{static_cast<std::int32_t>(p)}}, x[r][p]);
    }
  }
  return out;
}

/// Local steps of momentum SGD, as toy_math has them.
class Sgd {
 public:
  explicit Sgd(const World& like) : momentum_(zeros(like)) {}

  World step(const World& x, const World& gradients) {
    momentum_ = combined(0.5, momentum_, 1, gradients);
    return combined(1, x, -0.25, momentum_);
  }

 private:
  World momentum_;
};

World mean(const World& x) {
  return each(x, [&](auto, auto p, auto i) {
    double sum = 0;
    for (const auto& rank : x) {
      sum += rank[p][i];
    }
    return sum / static_cast<double>(x.size());
  });
}

/// Averages with both neighbors of the ring.
World ring_mean(const World& x) {
  const std::size_t n = x.size();
  return each(x, [&](auto r, auto p, auto i) {
    const double w = n == 2 ? 0.5 : 1.0 / 3;
    double sum = w * x[r][p][i] + w * x[(r + n - 1) % n][p][i];
    return n == 2 ? sum : sum + w * x[(r + 1) % n][p][i];
  });
}

// In worlds of a power of two all means here are exact.
constexpr Rank kExactRanks = 4;

TEST(LocalSgd, OfEveryStepIsParameterAveraging) {
  for (const char* exchange : {"fusion+all-reduce", "bsp+rs-ag", "dear+neighbor-allreduce"}) {
    EXPECT_EQ(meaning_of(std::string(exchange) + "+local-sgd:every=1", 4),
              meaning_of(std::string(exchange) + "+atc", 4))
        << exchange;
  }
}

TEST(LocalSgd, AveragesEveryThirdStep) {
  World x = start_of(kExactRanks);
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    x = sgd.step(x, gradients_at(x, step));
    if (step % 3 == 2) {
      x = mean(x);
    }
  }
  EXPECT_EQ(meaning_of("wfbp+all-reduce+local-sgd:every=3", kExactRanks), x);
  EXPECT_EQ(meaning_of("dear+rs-ag+local-sgd:every=3", kExactRanks), x);
}

TEST(Pga, AveragesWithNeighborsAndEveryThirdStepWithAll) {
  for (const Rank world : {2, 4, 5}) {
    World x = start_of(world);
    Sgd sgd(x);
    for (Step step = 0; step < kRuleSteps; ++step) {
      x = sgd.step(x, gradients_at(x, step));
      x = step % 3 == 2 ? mean(x) : ring_mean(x);
    }
    EXPECT_LT(distance(meaning_of("fusion+neighbor-allreduce:topology=ring+pga:every=3", world), x),
              1e-12)
        << world;
  }
}

/// Whether all ranks hold the same.
bool equal(const World& x) {
  return std::ranges::all_of(x, [&](const auto& rank) { return rank == x[0]; });
}

/// Steps from one mean to the next; 0: the text names none.
Step interval_in(const std::string& text) {
  const auto at = text.find("every=");
  return at == std::string::npos ? 0 : std::stoi(text.substr(at + 6));
}

// Of all strategies of the tables: what is declared of every H-th step holds there, and whoever
// declares less of such a rule does not hold it.
TEST(Guarantee, OfEveryHthStepIsHeldByThoseThatDeclareIt) {
  int declared = 0, apart = 0;
  for (const std::string& text : strategy_texts()) {
    const Step every = interval_in(text);
    if (every == 0) {
      continue;
    }
    SCOPED_TRACE(text);
    // So many hosts that neighbors of one step are not all of them.
    const auto after = [&](Step steps) { return meaning_of(text, 8, steps, {}, {2, 2, 2, 2}); };
    const bool holds = equal(after(every)) && equal(after(2 * every));
    const Guarantee guarantee = parse_strategy(text).guarantee();
    EXPECT_EQ(holds, guarantee == Guarantee::kPeriodic);
    EXPECT_TRUE(holds || guarantee == Guarantee::kConsensus);
    ++(holds ? declared : apart);
  }
  EXPECT_GT(declared, 8);
  EXPECT_GT(apart, 3);
}

/// What DiLoCo's text says, with fragments of one parameter.
World diloco(Step every, double rate, double momentum) {
  World x = start_of(kExactRanks);
  World anchor = x, outer = zeros(x);
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    x = sgd.step(x, gradients_at(x, step));
    if ((step + 1) % every == 0) {
      const World moved = mean(combined(1, anchor, -1, x));
      outer = combined(momentum, outer, 1, moved);
      anchor = combined(1, anchor, -rate, combined(1, moved, momentum, outer));
      x = anchor;
    }
  }
  return x;
}

TEST(Diloco, TakesAnOuterStepOfNesterovMomentum) {
  EXPECT_LT(
      distance(meaning_of("fusion+diloco:every=3,outer-lr=0.5,outer-momentum=0.75", kExactRanks),
               diloco(3, 0.5, 0.75)),
      1e-12);
}

TEST(Diloco, OfRateOneWithoutMomentumIsLocalSgd) {
  EXPECT_EQ(meaning_of("fusion+diloco:every=3,outer-lr=1,outer-momentum=0", kExactRanks),
            meaning_of("fusion+local-sgd:every=3", kExactRanks));
}

// One bucket a tensor: the first half of them, in ready order, leaves two steps before the second
// half, and arrives a step after it has left.
TEST(Diloco, StreamsFragmentsWithADelay) {
  World x = start_of(kExactRanks);
  World anchor = x, outer = zeros(x), moved = zeros(x);
  Sgd sgd(x);
  const std::size_t parameters = x[0].size();
  const auto fragment_of = [&](std::size_t p) {
    return (parameters - 1 - p) * 2 / parameters;  // ready in reverse
  };
  for (Step step = 0; step < kRuleSteps; ++step) {
    x = sgd.step(x, gradients_at(x, step));
    const auto leaving = mean(combined(1, anchor, -1, x));
    for (std::size_t r = 0; r < x.size(); ++r) {
      for (std::size_t p = 0; p < parameters; ++p) {
        const Step leaves = fragment_of(p) == 0 ? 0 : 2;
        if (step % 4 == leaves) {
          moved[r][p] = leaving[r][p];
        }
        if (step % 4 != leaves + 1) {
          continue;
        }
        for (std::size_t i = 0; i < x[r][p].size(); ++i) {
          outer[r][p][i] = 0.5 * outer[r][p][i] + moved[r][p][i];
          anchor[r][p][i] -= 0.75 * (moved[r][p][i] + 0.5 * outer[r][p][i]);
          x[r][p][i] = 0.25 * x[r][p][i] + 0.75 * anchor[r][p][i];
        }
      }
    }
  }
  EXPECT_LT(distance(meaning_of("fusion:bucket-mb=0.000001+diloco:every=4,outer-lr=0.75,outer-"
                                "momentum=0.5,fragments=2,delay=1,mix=0.25",
                                kExactRanks),
                     x),
            1e-12);
}

TEST(SlowMo, TakesAStepOfSlowMomentum) {
  World x = start_of(kExactRanks);
  World anchor = x, slow = zeros(x);
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    x = sgd.step(x, gradients_at(x, step));
    if (step % 3 == 2) {
      x = mean(x);
      slow = combined(0.75, slow, 1 / 0.25, combined(1, anchor, -1, x));
      anchor = combined(1, anchor, -0.5 * 0.25, slow);
      x = anchor;
    }
  }
  EXPECT_LT(
      distance(meaning_of("fusion+slowmo:every=3,slow-lr=0.5,slow-momentum=0.75", kExactRanks), x),
      1e-12);
  EXPECT_LT(distance(meaning_of("fusion+slowmo:every=3,slow-lr=1,slow-momentum=0", kExactRanks),
                     meaning_of("fusion+local-sgd:every=3", kExactRanks)),
            1e-12);
}

TEST(GradientTracking, EqualsItsRecurrence) {
  World x = start_of(5);
  World tracker = zeros(x), before = zeros(x);
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    const World now = gradients_at(x, step);
    tracker = ring_mean(combined(1, tracker, 1, combined(1, now, -1, before)));
    before = now;
    x = ring_mean(sgd.step(x, tracker));
  }
  for (const char* schedule : {"bsp", "wfbp", "fusion", "bytescheduler"}) {
    EXPECT_LT(distance(meaning_of(std::string(schedule) +
                                      "+neighbor-allreduce:topology=ring+gradient-tracking",
                                  5),
                       x),
              1e-9)
        << schedule;
  }
}

TEST(ExactDiffusion, EqualsItsRecurrence) {
  World x = start_of(5);
  World adapted = x;
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    const World psi = sgd.step(x, gradients_at(x, step));
    const World phi = combined(1, psi, 1, combined(1, x, -1, adapted));
    x = combined(0.5, phi, 0.5, ring_mean(phi));
    adapted = psi;
  }
  EXPECT_LT(distance(meaning_of("fusion+neighbor-allreduce:topology=ring+exact-diffusion", 5), x),
            1e-9);
}

constexpr OptimizerShape kPlain{.name = "sgd", .state_buffers = 0};

/// All parameters after many steps of SGD with rate 1/4.
World settled(const std::string& text, Rank ranks, const OptimizerShape& optimizer) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(tiny_model(), ranks);
  input.optimizer = optimizer;
  const PlanWorld plans(*planner, input, 600);
  LeastSquares machine(plans);
  interpret(plans, machine);
  return values_in(machine.toys.memory, plans);
}

/// The largest distance of any rank from the optimum.
double distance_from_optimum(const std::string& text, Rank ranks,
                             const OptimizerShape& optimizer = kPlain) {
  double most = 0;
  for (const auto& rank : settled(text, ranks, optimizer)) {
    for (const Values& values : rank) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        most = std::max(most, std::fabs(values[i] - LeastSquares::optimum(ranks, i)));
      }
    }
  }
  return most;
}

// Where the ranks' losses differ, the plain average with neighbors settles beside the optimum; the
// corrected rules reach it.
TEST(Heterogeneous, OnlyCorrectedRulesReachTheOptimum) {
  const std::string ring = "fusion+neighbor-allreduce:topology=ring+";
  for (const Rank ranks : {4, 7}) {
    EXPECT_LT(distance_from_optimum("fusion", ranks), 1e-10);
    EXPECT_GT(distance_from_optimum(ring + "atc", ranks), 0.1);
    EXPECT_GT(distance_from_optimum(ring + "awc", ranks), 0.1);
    EXPECT_GT(distance_from_optimum("fusion+local-sgd:every=4", ranks), 0.1);
    EXPECT_LT(distance_from_optimum(ring + "gradient-tracking", ranks), 1e-10);
    EXPECT_LT(distance_from_optimum(ring + "exact-diffusion", ranks), 1e-10);
    EXPECT_LT(distance_from_optimum(
                  "fusion+neighbor-allreduce:topology=one-peer-exp+gradient-tracking", ranks),
              1e-10);
  }
}

TEST(DecentLam, EqualsItsRecurrence) {
  World x = start_of(5);
  Sgd sgd(x);
  for (Step step = 0; step < kRuleSteps; ++step) {
    const World y = ring_mean(combined(1, x, -0.25, gradients_at(x, step)));
    x = sgd.step(x, combined(4, x, -4, y));
  }
  for (const char* schedule : {"wfbp", "dear"}) {
    EXPECT_LT(
        distance(
            meaning_of(std::string(schedule) + "+neighbor-allreduce:topology=ring+decentlam", 5),
            x),
        1e-9)
        << schedule;
  }
}

// Its bias is that of averages without momentum, which momentum makes larger.
TEST(DecentLam, SettlesWithMomentumWherePlainAveragesDo) {
  const std::string ring = "fusion+neighbor-allreduce:topology=ring+";
  const OptimizerShape momentum{};
  for (const Rank ranks : {4, 7}) {
    EXPECT_LT(distance(settled(ring + "decentlam", ranks, momentum),
                       settled(ring + "atc", ranks, kPlain)),
              1e-9);
    EXPECT_GT(distance_from_optimum(ring + "atc", ranks, momentum),
              1.2 * distance_from_optimum(ring + "decentlam", ranks, momentum));
  }
}

// Gradients, learning rate and momentum are sums of powers of two here.
TEST(Zero, EqualsDataParallelBitForBit) {
  for (const char* schedule : {"bsp", "wfbp", "fusion", "dear"}) {
    const std::string name = schedule;
    for (const std::string rule : {"+zero-1", "+zero-2"}) {
      EXPECT_EQ(meaning_of(name + "+rs-ag" + rule, 4), meaning_of(name + "+all-reduce", 4)) << name;
      EXPECT_EQ(meaning_of(name + "+rs-ag" + rule, 3, 4, adamw()),
                meaning_of(name + "+rs-ag", 3, 4, adamw()))
          << name;
    }
  }
  for (const std::string rule : {"+zero-1", "+zero-2"}) {
    EXPECT_EQ(meaning_of("fusion+hierarchical:local=2" + rule, 4),
              meaning_of("fusion+all-reduce", 4));
    EXPECT_EQ(meaning_of("fusion+rs-ag" + rule, 1), meaning_of("fusion+all-reduce", 1));
  }
}

std::int64_t memory_of(const std::string& text, Rank world, const OptimizerShape& optimizer) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(toy_model({{256}, {256}}), world);
  input.optimizer = optimizer;
  const auto setup = planner->setup(input);
  return cost(setup, planner->plan(input, setup, 0), 0).memory_bytes;
}

TEST(Zero, AccumulatesAsDataParallelDoesBitForBit) {
  for (const std::string exchange : {"+rs-ag", "+hierarchical:local=2"}) {
    for (const std::string schedule : {"wfbp", "fusion", "dear"}) {
      for (const std::string rule : {"+zero-1", "+zero-2"}) {
        EXPECT_EQ(meaning_of(schedule + exchange + rule, 4, kRuleSteps, {}, {}, 3),
                  meaning_of("fusion+all-reduce", 4, kRuleSteps, {}, {}, 3))
            << schedule << exchange << rule;
      }
    }
  }
}

TEST(Zero, HoldsTheStateOfItsShardsAlone) {
  EXPECT_EQ(memory_of("bsp+rs-ag", 4, {}), 2048 + 8);
  EXPECT_EQ(memory_of("bsp+rs-ag+zero-1", 4, {}), 2048 / 4 + 8);
  EXPECT_EQ(memory_of("bsp+rs-ag", 4, adamw()), 2 * 2048 + 8 + 4);
  EXPECT_EQ(memory_of("bsp+rs-ag+zero-1", 4, adamw()), 2 * 2048 / 4 + 8 + 4);
  EXPECT_EQ(memory_of("bsp+hierarchical:local=2+zero-1", 4, {}), 2048 / 2 + 8);
}

// Six tensors of 64 elements, each a bucket: gradients of two at a time.
TEST(Zero, TwoHoldsTheGradientsOfTwoBuckets) {
  const auto planner = make_planner(parse_strategy("wfbp+rs-ag+zero-2"));
  const PlanInput input = input_of(toy_model({{64}, {64}, {64}, {64}, {64}, {64}}), 4);
  const auto setup = planner->setup(input);
  EXPECT_EQ(whole(setup, buffer_named(setup, kValues)).count, 6 * 64);
  EXPECT_EQ(whole(setup, buffer_named(setup, kGradients)).count, 2 * 64);
  EXPECT_EQ(whole(setup, buffer_named(setup, "gradient_shards")).count, 6 * 64 / 4);
  EXPECT_EQ(whole(setup, buffer_named(setup, "momentum")).count, 6 * 64 / 4);
}

}  // namespace
}  // namespace paceline::strategies
