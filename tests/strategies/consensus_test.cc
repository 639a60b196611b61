// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/strategy.h"
#include "paceline/strategies/topology_analysis.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"
#include "strategies/every_topology.h"

// Plans that average and do not learn: what they leave in the memory of the ranks against products
// of the mixing matrices.

namespace paceline::strategies {
namespace {

constexpr Step kMostSteps = 6;

/// Ranks with values of their own, and a learning rate of zero.
World averaged_by(const std::string& strategy, Rank ranks, Step steps) {
  const auto planner = make_planner(parse_strategy(strategy));
  const PlanWorld plans(*planner, input_of(toy_model({{1}}), ranks), steps);
  ToyMachine machine(plans);
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Setup& setup = plans.setup(rank);
    machine.memory.write(rank, whole(setup, buffer_named(setup, kLearningRate)), {0});
    for (const ParameterPlacement& where : setup.parameters) {
      machine.memory.write(rank, where.value, Values(1, static_cast<double>(rank * rank)));
    }
  }
  interpret(plans, machine);
  return values_in(machine.memory, plans);
}

void expect_product(const World& values, const Matrix& product) {
  Eigen::VectorXd starts(product.rows());
  std::iota(starts.begin(), starts.end(), 0.0);
  const Eigen::VectorXd all = product * starts.cwiseAbs2();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double wanted = all[static_cast<Eigen::Index>(i)];
    EXPECT_NEAR(values[i][0][0], wanted, 1e-12 * std::max(1.0, wanted)) << "rank " << i;
  }
}

TEST(Consensus, OfNeighborsIsTheProductOfTheMatrices) {
  for (const Rank ranks : topology_worlds()) {
    const EdgeFile edges(line_of_edges(ranks));
    for (const auto& [text, local] : topologies_of(ranks, edges.text())) {
      SCOPED_TRACE(fmt::format("{} of {}", text, ranks));
      const auto graph = TopologyChoice(text).on({ranks, local});
      const Step steps = std::min(graph->period() + 1, kMostSteps);
      expect_product(
          averaged_by(fmt::format("neighbor-allreduce:topology={},local={}", text, local), ranks,
                      steps),
          product_of(*graph, ranks, steps));
    }
  }
}

// Also where the steps between two exchanges share a factor with the period.
TEST(Consensus, OfLocalStepsIsTheProductOfTheMatrices) {
  constexpr Rank kRanks = 6;
  const EdgeFile edges(line_of_edges(kRanks));
  for (const auto& [text, local] : topologies_of(kRanks, edges.text())) {
    const auto graph = TopologyChoice(text).on({kRanks, local});
    const Step exchanges = std::min(graph->period() + 1, kMostSteps);
    for (const Step every : {2, 3}) {
      SCOPED_TRACE(fmt::format("{}, every {} steps", text, every));
      expect_product(
          averaged_by(fmt::format("neighbor-allreduce:topology={},local={}+local-sgd:every={}",
                                  text, local, every),
                      kRanks, exchanges * every),
          product_of(*graph, kRanks, exchanges));
    }
  }
}

TEST(Consensus, OfHostsIsThatOfTheirMeans) {
  for (const Rank hosts : {2, 3, 4, 6}) {
    const EdgeFile edges(line_of_edges(hosts));
    for (const auto& [text, local] : topologies_of(hosts, edges.text())) {
      if (local > 1) {
        continue;  // of ranks on hosts
      }
      for (const char* style : {"shards", "leader"}) {
        SCOPED_TRACE(fmt::format("{} of {} hosts, {}", text, hosts, style));
        const auto graph = rank_topology_of(TopologyChoice(text).on({hosts, 1}), 2);
        expect_product(
            averaged_by(fmt::format("hierarchical-neighbor-allreduce:topology={},local=2,style={}",
                                    text, style),
                        2 * hosts, 4),
            product_of(*graph, 2 * hosts, 4));
      }
    }
  }
}

TEST(Consensus, OfOnePeerIsExactAtPowersOfTwo) {
  for (const Rank ranks : {2, 4, 8, 16, 32}) {
    const auto steps = static_cast<Step>(std::log2(ranks));
    const World values = averaged_by("neighbor-allreduce", ranks, steps);
    double sum = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      sum += rank * rank;
    }
    for (const auto& rank : values) {
      EXPECT_EQ(rank[0][0], sum / ranks) << ranks << " ranks: halves are exact";
    }
  }
}

/// What rank i holds of x_j after so many steps of sharing out in equal parts, and of the weights:
/// columns sum to 1, rows need not.
struct Shared {
  std::vector<double> values, weights;
};
Shared shared_out(const Topology& graph, Rank ranks, Step steps) {
  const auto size = static_cast<std::size_t>(ranks);
  Shared now{std::vector<double>(size), std::vector<double>(size, 1.0)};
  for (std::size_t i = 0; i < size; ++i) {
    now.values[i] = static_cast<double>(i * i);
  }
  for (Step step = 0; step < steps; ++step) {
    Shared next{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
    for (std::size_t from = 0; from < size; ++from) {
      auto to = graph.mixing(static_cast<Rank>(from), step).to;
      to.push_back(static_cast<Rank>(from));
      for (const Rank other : to) {
        const auto i = static_cast<std::size_t>(other);
        const auto parts = static_cast<double>(to.size());
        next.values[i] += now.values[from] / parts;
        next.weights[i] += now.weights[from] / parts;
      }
    }
    now = std::move(next);
  }
  return now;
}

TEST(Consensus, OfPushSumIsTheSharedValueOverTheSharedWeight) {
  for (const Rank ranks : topology_worlds()) {
    const EdgeFile edges(line_of_edges(ranks));
    for (const auto& [text, local] : topologies_of(ranks, edges.text())) {
      SCOPED_TRACE(fmt::format("{} of {}", text, ranks));
      const auto graph = TopologyChoice(text).on({ranks, local});
      const Step steps = std::min(graph->period() + 1, kMostSteps);
      const World values =
          averaged_by(fmt::format("push-sum:topology={},local={}", text, local), ranks, steps);
      const Shared wanted = shared_out(*graph, ranks, steps);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double quotient = wanted.values[i] / wanted.weights[i];
        EXPECT_NEAR(values[i][0][0], quotient, 1e-12 * std::max(1.0, quotient));
      }
    }
  }
}

// Where plain averages end elsewhere: rank 0 sends to two, the others to one.
TEST(Consensus, OfPushSumOnADirectedGraphIsTheMean) {
  const EdgeFile directed("0 1\n1 2\n2 0\n0 2\n");
  const World values = averaged_by("push-sum:topology=" + directed.text(), 3, 60);
  for (const auto& rank : values) {
    EXPECT_NEAR(rank[0][0], 5.0 / 3, 1e-12) << "of 0, 1 and 4";
  }
  const auto graph = TopologyChoice(directed.text()).on({3, 1});
  EXPECT_GT(distance_to_mean(product_of(*graph, 3, 60)), 0.1);
}

TEST(Consensus, OfAllRanksIsExactInOneStep) {
  for (const char* strategy : {"parameter-allreduce+atc", "parameter-allreduce+awc",
                               "all-reduce+atc", "neighbor-allreduce:topology=full"}) {
    for (const auto& rank : averaged_by(strategy, 4, 1)) {
      EXPECT_EQ(rank[0][0], 3.5) << strategy << ": of 0, 1, 4 and 9";
    }
  }
}

TEST(Consensus, RejectsAMatrixThatDoesNotAverage) {
  const EdgeFile directed("0 1\n1 2\n2 0\n0 2\n");
  for (const char* exchange :
       {"neighbor-allreduce", "hierarchical-neighbor-allreduce", "win-put"}) {
    try {
      (void)averaged_by(fmt::format("{}:topology={},local=1", exchange, directed.text()), 3, 1);
      ADD_FAILURE() << exchange;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("'{}' averages, so all rows and columns of the mixing matrix have to "
                            "sum to 1; column 0 (what is taken of rank 0) sums to 1.33333333333",
                            exchange));
    }
  }
}

}  // namespace
}  // namespace paceline::strategies
