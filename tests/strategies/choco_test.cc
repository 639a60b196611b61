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
#include "paceline/strategies/topology.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/least_squares.h"

// Averages with neighbors by codecs, against CHOCO-SGD written without a plan.

namespace paceline::strategies {
namespace {

using MixingRows = std::vector<std::vector<double>>;

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

/// The largest magnitudes, of equals the first.
Values largest(const Values& x, double density) {
  const auto count = static_cast<double>(x.size());
  const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(density * count));
  std::vector<std::size_t> order(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return std::fabs(x[a]) > std::fabs(x[b]); });
  Values kept(x.size(), 0.0);
  for (std::size_t i = 0; i < k; ++i) {
    kept[order[i]] = x[order[i]];
  }
  return kept;
}

/// Momentum SGD on toy gradients, averages over `graph`.
World trained(World x, Step steps, double gamma, double density, const Topology& graph) {
  World momentum = x, codes = x;
  const auto zero = [](double& value, auto, auto, auto) { value = 0; };
  each(momentum, zero);
  const std::vector<World> copies_at_first(static_cast<std::size_t>(graph.period()), x);
  std::vector<World> copies = copies_at_first, pulls = copies_at_first;
  for (World& pull : pulls) {
    each(pull, zero);
  }
  for (Step step = 0; step < steps; ++step) {
    World& copy = copies[static_cast<std::size_t>(step % graph.period())];
    World& pull = pulls[static_cast<std::size_t>(step % graph.period())];
    for (std::size_t r = 0; r < x.size(); ++r) {
      for (std::size_t p = 0; p < x[r].size(); ++p) {
        const Values gradient =
            toy_gradient(static_cast<Rank>(r), step,
                         Backward{ParameterId{static_cast<std::int32_t>(p)}}, x[r][p]);
        Values change = gradient;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          momentum[r][p][i] = momentum[r][p][i] * 0.5 + gradient[i];
          x[r][p][i] -= 0.25 * momentum[r][p][i];
          change[i] = x[r][p][i] - copy[r][p][i];
        }
        codes[r][p] = largest(change, density);
      }
    }
    each(x, [&](double& value, auto r, auto p, auto i) {
      const MixingRow row = graph.mixing(static_cast<Rank>(r), step);
      if (row.from.empty()) {
        return;  // alone in this step
      }
      copy[r][p][i] += codes[r][p][i];
      double& sum = pull[r][p][i];
      sum += (row.self - 1) * codes[r][p][i];
      for (const Neighbor& from : row.from) {
        sum += from.weight * codes[static_cast<std::size_t>(from.rank)][p][i];
      }
      value += gamma * sum;
    });
  }
  return x;
}

// Bit for bit: sums are taken in the same order.
TEST(Choco, EqualsItsRecurrence) {
  for (const std::string graph :
       {"ring", "ring:left", "exp", "one-peer-exp", "base", "random-matching"}) {
    for (const Rank world : {3, 5, 8}) {
      const auto planner = make_planner(parse_strategy("wfbp+neighbor-allreduce:topology=" + graph +
                                                       ",gamma=0.5+topk:density=0.25"));
      const PlanWorld plans(*planner, input_of(tiny_model(), world), 9);
      ToyMachine machine(plans);
      const World start = values_in(machine.memory, plans);
      interpret(plans, machine);
      EXPECT_EQ(values_in(machine.memory, plans),
                trained(start, 9, 0.5, 0.25, *TopologyChoice(graph).on({world, world})))
          << graph << " of " << world;
    }
  }
}

/// All parameters after many steps of plain SGD on least squares, from a start that differs from
/// rank to rank.
World settled(const std::string& text, Rank ranks, double scale, Step steps) {
  const auto planner = make_planner(parse_strategy(text));
  PlanInput input = input_of(tiny_model(), ranks);
  input.optimizer = {.name = "sgd", .state_buffers = 0};
  const PlanWorld plans(*planner, input, steps);
  LeastSquares machine(plans, scale);
  machine.toys.draws_anew = true;
  for (Rank rank = 0; rank < ranks; ++rank) {
    for (const ParameterPlacement& where : plans.setup(rank).parameters) {
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

/// A codec, gamma as written, and what it is.
struct Coded {
  const char* codec;
  const char* option;
  double gamma;
};

const std::vector<Coded>& coded() {
  static const std::vector<Coded> all{
      {"topk:density=0.2", "", 0.2},   {"topk:density=0.2", ",gamma=0.3", 0.3},
      {"ef-sign", ",gamma=0.3", 0.3},  {"qsgd", ",gamma=0.75", 0.75},
      {"bf16", ",gamma=0.5", 0.5},     {"random-k:density=0.9", ",gamma=0.2", 0.2},
      {"powersgd:rank=1", "", 1.0 / 3}};
  return all;
}

std::string text_of(const Coded& one, const std::string& graph) {
  return "fusion+neighbor-allreduce:topology=" + graph + one.option + "+" + one.codec;
}

/// A codec, and the graph that its averages are taken over.
struct CodedOn {
  Coded coded;
  std::string graph;
};

/// Symmetric, directed, and directed with other neighbors in each step.
std::vector<std::string> graphs_for(const Coded& one) {
  return one.codec == std::string("ef-sign")
             ? std::vector<std::string>{"ring", "base"}
             : std::vector<std::string>{"ring", "exp", "one-peer-exp"};
}

/// The same for push-sum, which has weights that are not symmetric; no codec that draws places goes
/// where ranks have more neighbors than others.
std::vector<std::string> push_sum_graphs_for(const Coded& one) {
  const std::string codec = one.codec;
  if (codec == "ef-sign") {
    return {};
  }
  if (codec.starts_with("random-k")) {
    return {"exp", "one-peer-exp"};
  }
  return {"star", "exp", "one-peer-exp"};
}

using GraphsFor = std::vector<std::string> (*)(const Coded&);

/// Every codec on each of its graphs.
std::vector<CodedOn> all_pairs(GraphsFor graphs_of) {
  std::vector<CodedOn> all;
  for (const Coded& one : coded()) {
    for (const std::string& graph : graphs_of(one)) {
      all.push_back({one, graph});
    }
  }
  return all;
}

/// Every codec on one of its graphs, the next codec on the next of them.
std::vector<CodedOn> some_pairs(GraphsFor graphs_of) {
  std::vector<CodedOn> some;
  for (const Coded& one : coded()) {
    const auto graphs = graphs_of(one);
    if (!graphs.empty()) {
      some.push_back({one, graphs[some.size() % graphs.size()]});
    }
  }
  return some;
}

class ChocoOn : public ::testing::TestWithParam<CodedOn> {};
class ChocoByPushSum : public ChocoOn {};
INSTANTIATE_TEST_SUITE_P(Some, ChocoOn, ::testing::ValuesIn(some_pairs(graphs_for)));
INSTANTIATE_TEST_SUITE_P(Nightly, ChocoOn, ::testing::ValuesIn(all_pairs(graphs_for)));
INSTANTIATE_TEST_SUITE_P(Some, ChocoByPushSum,
                         ::testing::ValuesIn(some_pairs(push_sum_graphs_for)));
INSTANTIATE_TEST_SUITE_P(Nightly, ChocoByPushSum,
                         ::testing::ValuesIn(all_pairs(push_sum_graphs_for)));

/// The mean of the starts of settled().
World mean_of_starts(Rank ranks) {
  World mean = settled("none", ranks, 0, 0);
  each(mean, [&](double& value, auto r, auto, auto) {
    value += 3 * ((ranks - 1) / 2.0 - static_cast<double>(r));
  });
  return mean;
}

// Nothing is learned: ranks agree on the mean of their starts, whatever a code leaves out.
TEST_P(ChocoOn, ReachesTheMeanOfTheStarts) {
  const std::string text = text_of(GetParam().coded, GetParam().graph);
  for (const Rank ranks : {2, 5}) {
    EXPECT_LT(distance(settled(text, ranks, 0, 900), mean_of_starts(ranks)), 1e-10)
        << text << " of " << ranks;
  }
}

/// Where SGD with rate 1/4 settles whose averages are I + gamma (W - I) and cross whole, ranks
/// being in hosts of `local` that take their mean first.
World uncompressed(Rank ranks, double gamma, const std::string& name, Step steps, Rank local = 1) {
  World x = settled("none", ranks, 0, 0);
  const Rank hosts = ranks / local;
  const auto graph = TopologyChoice(name).on({hosts, hosts});
  for (Step step = 0; step < steps; ++step) {
    each(x, [&](double& value, auto r, auto, auto i) {
      const auto rank = static_cast<Rank>(r);
      value -= 0.25 * LeastSquares::curvature(rank) * (value - LeastSquares::center(rank, i));
    });
    const World y = x;
    const auto mean = [&](Rank host, auto p, auto i) {
      double sum = 0;
      for (Rank place = 0; place < local; ++place) {
        const Rank rank = host * local + place;
        sum += y[static_cast<std::size_t>(rank)][p][i];
      }
      return sum / local;
    };
    each(x, [&](double& value, auto r, auto p, auto i) {
      const Rank host = static_cast<Rank>(r) / local;
      const double own = mean(host, p, i);
      value = own;
      for (const Neighbor& from : graph->mixing(host, step).from) {
        value += gamma * from.weight * (mean(from.rank, p, i) - own);
      }
    });
  }
  return x;
}

// Codes of changes that vanish leave nothing out in the end.
TEST_P(ChocoOn, SettlesWhereAveragesThatCrossWholeDo) {
  const auto& [one, graph] = GetParam();
  EXPECT_LT(
      distance(settled(text_of(one, graph), 5, 1, 1200), uncompressed(5, one.gamma, graph, 1200)),
      1e-9)
      << text_of(one, graph);
}

TEST_P(ChocoOn, SettlesWhereHostsThatExchangeWholeSharesDo) {
  const auto& [one, graph] = GetParam();
  const std::string text = "fusion+hierarchical-neighbor-allreduce:local=2,topology=" + graph +
                           one.option + "+" + one.codec;
  if (one.codec == std::string("powersgd:rank=1")) {  // shares cut tensors
    EXPECT_THROW(settled(text, 8, 1, 1), UsageError);
    return;
  }
  EXPECT_LT(distance(settled(text, 8, 1, 1000), uncompressed(8, one.gamma, graph, 1000, 2)), 1e-9)
      << text;
}

// Weights are shared out evenly over graphs whose rows then do not sum to 1.
TEST_P(ChocoByPushSum, ReachesTheMean) {
  const auto& [one, graph] = GetParam();
  const std::string text = "fusion+push-sum:topology=" + graph + one.option + "+" + one.codec;
  for (const Rank ranks : {3, 6}) {
    EXPECT_LT(distance(settled(text, ranks, 0, 700), mean_of_starts(ranks)), 1e-10)
        << text << " of " << ranks;
  }
}

class ChocoWorld : public ::testing::TestWithParam<Rank> {};

// Buckets of 128, 128 and 256 values; a form for each neighbor of the ring.
TEST_P(ChocoWorld, SendsTheClosedForm) {
  const Rank world = GetParam();
  PlanInput input = input_of(toy_model({{256}, {128}, {128}}), world);
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
  EXPECT_EQ(sent("wfbp+neighbor-allreduce:topology=full+ef-sign"), (world - 1) * (512 / 8 + 3 * 4));
  EXPECT_EQ(sent("wfbp+neighbor-allreduce:topology=one-peer-exp+qsgd"),
            std::min(world - 1, 1) * (512 + 4 * 4));
  EXPECT_EQ(sent("wfbp+push-sum:topology=ring+qsgd"), degree * (512 + 4 * 4 + 4));
  EXPECT_EQ(sent(ring + "powersgd"), degree * 4 * 512);
  input.model.parameters[0].sizes = {16, 16};
  input.model.parameters[2].sizes = {4, 2, 16};
  EXPECT_EQ(sent(ring + "powersgd:rank=2"), degree * 4 * (2 * (16 + 16) + 128 + 2 * (4 + 32)));
}
INSTANTIATE_TEST_SUITE_P(UpTo16, ChocoWorld, ::testing::Range(1, 17));

// Of 16 and of 4 directions powersgd keeps 2; random-k takes half its share.
TEST(Choco, TakesTheStepThatTheCodecBears) {
  PlanInput input = input_of(toy_model({{256}, {128}, {128}}), 2);
  input.model.parameters[0].sizes = {16, 16};
  input.model.parameters[2].sizes = {4, 2, 16};
  const auto steps_of = [&](const std::string& codec) {
    const auto planner =
        make_planner(parse_strategy("wfbp+neighbor-allreduce:topology=ring+" + codec));
    const auto setup = planner->setup(input);
    std::vector<double> steps;
    for (const Op& op : planner->plan(input, setup, 0).ops) {
      const auto* kernel = std::get_if<Kernel>(&op.work);
      if (kernel != nullptr && kernel->name == "linear" && kernel->numbers.front() == 1 &&
          kernel->writes[0].slice.buffer == setup.parameters[0].value.buffer) {
        steps.push_back(kernel->numbers[1]);
      }
    }
    return steps;
  };
  EXPECT_EQ(steps_of("powersgd:rank=2"), std::vector<double>(3, 2.0 / 16));
  EXPECT_EQ(steps_of("topk:density=0.25"), std::vector<double>(3, 0.25));
  EXPECT_EQ(steps_of("random-k:density=0.25"), std::vector<double>(3, 0.125));
}

TEST(Choco, IsRejectedWithTheRuleThatForbidsIt) {
  const auto rejected = [](const std::string& text, const std::string& why) {
    std::string message;
    try {
      const auto planner = make_planner(parse_strategy(text));
      planner->setup(input_of(tiny_model(), 5));
    } catch (const UsageError& error) {
      message = error.what();
    }
    EXPECT_NE(message.find(why), std::string::npos) << text << ": '" << message << "'";
    return message;
  };
  const std::string ring = "neighbor-allreduce:topology=ring+";
  for (const char* codec : {"sign", "fp16", "gtopk"}) {
    rejected(ring + codec, "take bf16, ef-sign, topk, random-k, qsgd, powersgd");
  }
  rejected(ring + "topk+gradient-tracking", "sends the parameters themselves");
  rejected(ring + "topk+exact-diffusion", "sends the parameters themselves");
  rejected("win-put+topk", "averages while codes are under way");
  rejected("neighbor-allreduce+ef-sign", "needs symmetric weights");
  rejected("push-sum+ef-sign", "needs symmetric weights");
  rejected("neighbor-allreduce:topology=random-matching+random-k", "neighbors where rank 0 has");
  rejected("neighbor-allreduce:topology=star+random-k",
           "rank 1 has 1 neighbors where rank 0 has 4");
  rejected("neighbor-allreduce:topology=ring,gamma=0.5", "names no codec");
  rejected("push-sum:gamma=0.5", "names no codec");
  rejected("hierarchical-neighbor-allreduce:gamma=0.5", "names no codec");
  EXPECT_TRUE(rejected("hierarchical-neighbor-allreduce:gamma=0.5+powersgd",
                       "whole tensors, which the shares of 'hierarchical-neighbor-allreduce'")
                  .ends_with("another codec of bf16, ef-sign, topk, random-k, qsgd"));
  rejected("hierarchical-neighbor-allreduce:style=leader+topk", "take style=shards");
}

}  // namespace
}  // namespace paceline::strategies
