// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/least_squares.h"

// neighbor-allreduce with codecs, against CHOCO-SGD written without a plan.

namespace paceline::strategies {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Of each rank and parameter the values, changed one by one.
template <class F>
void each(World& world, const F& f) {
  for (std::size_t r = 0; r < world.size(); ++r) {
    for (std::size_t p = 0; p < world[r].size(); ++p) {
      for (std::size_t i = 0; i < world[r][p].size(); ++i) {
        f(world[r][p][i], r, p, i);
      }
    }
  }
}

double distance(World a, const World& b) {
  double most = 0;
  each(a, [&](double& value, auto r, auto p, auto i) {
    most = std::max(most, std::fabs(value - b[r][p][i]));
  });
  return most;
}

/// The largest magnitudes, of equals the first.
Values largest(const Values& x, double density) {
  const auto count = static_cast<double>(x.size());
  const auto k =
      std::max<std::size_t>(1, static_cast<std::size_t>(density * count));
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::fabs(x[a]) > std::fabs(x[b]);
  });
  Values kept(x.size(), 0.0);
  for (std::size_t i = 0; i < k; ++i) {
    kept[order[i]] = x[order[i]];
  }
  return kept;
}

/// Momentum SGD on toy gradients, and a ring of at least three ranks.
World trained(World x, Step steps, double gamma, double density) {
  World copies = x, pulls = x, momentum = x, codes = x;
  const auto zero = [](double& value, auto, auto, auto) { value = 0; };
  each(pulls, zero);
  each(momentum, zero);
  const std::size_t n = x.size();
  const double weight = 1.0 / 3;
  for (Step step = 0; step < steps; ++step) {
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t p = 0; p < x[r].size(); ++p) {
        const Values gradient =
            toy_gradient(static_cast<Rank>(r),
                         step,
                         Backward{ParameterId{static_cast<std::int32_t>(p)}},
                         x[r][p]);
        Values change = gradient;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          momentum[r][p][i] = momentum[r][p][i] * 0.5 + gradient[i];
          x[r][p][i] -= 0.25 * momentum[r][p][i];
          change[i] = x[r][p][i] - copies[r][p][i];
        }
        codes[r][p] = largest(change, density);
      }
    }
    each(x, [&](double& value, auto r, auto p, auto i) {
      copies[r][p][i] += codes[r][p][i];
      double& pull = pulls[r][p][i];
      pull += (weight - 1) * codes[r][p][i];
      pull += weight * codes[(r + n - 1) % n][p][i];
      pull += weight * codes[(r + 1) % n][p][i];
      value += gamma * pull;
    });
  }
  return x;
}

// Bit for bit: sums are taken in the same order.
TEST(Choco, EqualsItsRecurrence) {
  for (const Rank world : {3, 5, 8}) {
    const auto planner = make_planner(
        parse_strategy("wfbp+neighbor-allreduce:topology=ring,gamma=0.5+topk:"
                       "density=0.25"));
    const PlanWorld plans(*planner, input_of(tiny_model(), world), 9);
    ToyMachine machine(plans);
    const World start = values_in(machine.memory, plans);
    interpret(plans, machine);
    EXPECT_EQ(values_in(machine.memory, plans), trained(start, 9, 0.5, 0.25))
        << world;
  }
}

/// All parameters after many steps of plain SGD on least squares, from a start
/// that differs from rank to rank.
World settled(const std::string& text, Rank ranks, double scale, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(tiny_model(), ranks);
  input.optimizer = {.name = "sgd", .state_buffers = 0};
  const PlanWorld plans(*planner, input, steps);
  LeastSquares machine(plans, scale);
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (const Placement& where : plans.setup(rank).parameters) {
      Values values = machine.toys.memory.read(rank, where.value);
      for (double& value : values) {
        value += 3 * rank;
      }
      machine.toys.memory.write(rank, where.value, values);
    }
  }
  interpret(plans, machine);
  return values_in(machine.toys.memory, plans);
}

/// A codec, gamma as written, and what it is.  Not random-k, of which the toy
/// takes the same places in every step.
struct Coded {
  const char* codec;
  const char* option;
  double gamma;
};

const std::vector<Coded>& coded() {
  static const std::vector<Coded> all{{"topk:density=0.2", "", 0.2},
                                      {"topk:density=0.2", ",gamma=0.3", 0.3},
                                      {"ef-sign", ",gamma=0.3", 0.3},
                                      {"qsgd", ",gamma=0.75", 0.75},
                                      {"bf16", ",gamma=0.5", 0.5}};
  return all;
}

std::string text_of(const Coded& one) {
  return std::string("fusion+neighbor-allreduce:topology=ring") + one.option +
         "+" + one.codec;
}

// Nothing is learned: ranks agree on the mean of their starts, whatever a code
// leaves out.
TEST(Choco, ReachesTheMeanOfTheStarts) {
  for (const Coded& one : coded()) {
    for (const Rank ranks : {2, 5, 8}) {
      World expected = settled("none", ranks, 0, 0);
      each(expected, [&](double& value, auto r, auto, auto) {
        value += 3 * ((ranks - 1) / 2.0 - static_cast<double>(r));
      });
      EXPECT_LT(distance(settled(text_of(one), ranks, 0, 2000), expected),
                1e-10)
          << text_of(one) << " of " << ranks;
    }
  }
}

/// Where SGD with rate 1/4 settles whose averages are I + gamma (W - I), W of
/// the ring, and cross whole.
World uncompressed(Rank ranks, double gamma) {
  World x = settled("none", ranks, 0, 0);
  const auto n = static_cast<std::size_t>(ranks);
  for (int step = 0; step < 2000; ++step) {
    each(x, [&](double& value, auto r, auto, auto i) {
      const auto rank = static_cast<Rank>(r);
      value -= 0.25 * LeastSquares::curvature(rank) *
               (value - LeastSquares::center(rank, i));
    });
    const World y = x;
    each(x, [&](double& value, auto r, auto p, auto i) {
      value +=
          gamma / 3 *
          (y[(r + 1) % n][p][i] + y[(r + n - 1) % n][p][i] - 2 * y[r][p][i]);
    });
  }
  return x;
}

// Codes of changes that vanish leave nothing out in the end.
TEST(Choco, SettlesWhereAveragesThatCrossWholeDo) {
  for (const Coded& one : coded()) {
    for (const Rank ranks : {4, 7}) {
      EXPECT_LT(distance(settled(text_of(one), ranks, 1, 2000),
                         uncompressed(ranks, one.gamma)),
                1e-9)
          << text_of(one) << " of " << ranks;
    }
  }
}

class ChocoWorld : public ::testing::TestWithParam<Rank> {};

// Buckets of 128, 128 and 256 values; a form for each neighbor of the ring.
TEST_P(ChocoWorld, SendsTheClosedForm) {
  const Rank world = GetParam();
  const PlanInput input = input_of(toy_model({{256}, {128}, {128}}), world);
  const std::int64_t degree = std::min(world - 1, 2);
  const auto sent = [&](const std::string& text) {
    const auto planner = make_planner(parse_strategy(text));
    const auto setup = planner->setup(input);
    return cost(setup, planner->plan(input, setup, 0), 0).wire_bytes;
  };
  const std::string ring = "wfbp+neighbor-allreduce:topology=ring+";
  EXPECT_EQ(sent(ring + "topk:density=0.1"), degree * 8 * (12 + 12 + 25));
  EXPECT_EQ(sent(ring + "random-k:density=0.1"), degree * 4 * (12 + 12 + 25));
  EXPECT_EQ(sent(ring + "ef-sign"), degree * (512 / 8 + 3 * 4));
  EXPECT_EQ(sent(ring + "qsgd"), degree * (512 + 4 * 4));
  EXPECT_EQ(sent(ring + "bf16+awc"), degree * 2 * 512);
  EXPECT_EQ(sent("wfbp+neighbor-allreduce:topology=full+ef-sign"),
            (world - 1) * (512 / 8 + 3 * 4));
}
INSTANTIATE_TEST_SUITE_P(UpTo16, ChocoWorld, ::testing::Range(1, 17));

TEST(Choco, IsRefusedWithTheRuleThatForbidsIt) {
  const auto refused = [](const std::string& text, const std::string& why) {
    std::string message;
    try {
      const auto planner = make_planner(parse_strategy(text));
      planner->setup(input_of(tiny_model(), 5));
    } catch (const UsageError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(why), std::string::npos)
        << text << ": '" << message << "'";
  };
  const std::string ring = "neighbor-allreduce:topology=ring+";
  for (const char* codec : {"sign", "fp16", "gtopk", "powersgd"}) {
    refused(ring + codec, "take bf16, ef-sign, topk, random-k, qsgd");
  }
  refused(ring + "topk+gradient-tracking", "sends the parameters themselves");
  refused(ring + "topk+exact-diffusion", "sends the parameters themselves");
  refused("push-sum+topk", "neighbor-allreduce with the update rule atc");
  refused("win-put+topk", "neighbor-allreduce with the update rule atc");
  refused("neighbor-allreduce+topk", "repeat after 3 steps");
  refused("neighbor-allreduce:topology=exp+topk", "needs symmetric weights");
  refused("neighbor-allreduce:topology=star+random-k",
          "rank 1 has 1 neighbors where rank 0 has 4");
  refused("neighbor-allreduce:topology=ring,gamma=0.5", "names no codec");
}

}  // namespace
}  // namespace paceline::strategies
