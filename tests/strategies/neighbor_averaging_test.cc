// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/plan/interpreter.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"

// Averages of neighbors against mathematics that is written without a plan.

namespace paceline::strategies {
namespace {

constexpr Step kAveragedSteps = 5;

/// Who mixes with whom, written from the definitions of the graphs: the weight of oneself, then
/// (rank, weight) in the order of addition.
struct Row {
  double self = 1;
  std::vector<std::pair<Rank, double>> others;
};

Row row_of(const std::string& graph, Rank nodes, Rank node, Step step) {
  std::vector<Rank> distances;
  if (graph == "ring") {
    distances = nodes == 2 ? std::vector<Rank>{1} : std::vector<Rank>{1, nodes - 1};
  } else {
    for (Rank distance = 1; distance < nodes; distance *= 2) {
      distances.push_back(distance);
    }
    if (graph == "one-peer-exp") {
      distances = {distances[static_cast<std::size_t>(step) % distances.size()]};
    }
  }
  Row row;
  row.self = 1.0 / static_cast<double>(distances.size() + 1);
  for (const Rank distance : distances) {
    row.others.emplace_back((node - distance + nodes) % nodes, row.self);
  }
  return row;
}

/// Averages over hosts of `local` ranks, then over the graph of hosts.
World mixed(const World& x, const std::string& graph, Rank local, Step step) {
  const auto ranks = static_cast<Rank>(x.size());
  const Rank hosts = ranks / local;
  if (hosts == 1 && local == 1) {
    return x;
  }
  World sums(static_cast<std::size_t>(hosts), x[0]);
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto& sum = sums[static_cast<std::size_t>(rank / local)];
    const auto& mine = x[static_cast<std::size_t>(rank)];
    for (std::size_t p = 0; p < mine.size(); ++p) {
      for (std::size_t i = 0; i < mine[p].size(); ++i) {
        sum[p][i] = rank % local == 0 ? mine[p][i] : sum[p][i] + mine[p][i];
      }
    }
  }
  World result = x;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const Rank host = rank / local;
    const Row row = hosts == 1 ? Row{} : row_of(graph, hosts, host, step);
    auto& mine = result[static_cast<std::size_t>(rank)];
    for (std::size_t p = 0; p < mine.size(); ++p) {
      for (std::size_t i = 0; i < mine[p].size(); ++i) {
        mine[p][i] = row.self / local * sums[static_cast<std::size_t>(host)][p][i];
        for (const auto& [other, weight] : row.others) {
          mine[p][i] += weight / local * sums[static_cast<std::size_t>(other)][p][i];
        }
      }
    }
  }
  return result;
}

/// Momentum SGD on every rank, with mixing after or beside it.
World trained(World x, const std::string& graph, Rank local, bool adapt_first) {
  World momentum = x;
  for (auto& rank : momentum) {
    for (Values& values : rank) {
      std::ranges::fill(values, 0.0);
    }
  }
  for (Step step = 0; step < kAveragedSteps; ++step) {
    World mean = adapt_first ? x : mixed(x, graph, local, step);
    for (std::size_t rank = 0; rank < x.size(); ++rank) {
      for (std::size_t p = 0; p < x[rank].size(); ++p) {
        const Values gradient =
            toy_gradient(static_cast<Rank>(rank), step,
                         Backward{ParameterId{static_cast<std::int32_t>(p)}}, x[rank][p]);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          momentum[rank][p][i] = momentum[rank][p][i] * 0.5 + gradient[i];
          mean[rank][p][i] -= 0.25 * momentum[rank][p][i];
        }
      }
    }
    x = adapt_first ? mixed(mean, graph, local, step) : mean;
  }
  return x;
}

struct Neighbors {
  const char* text;
  const char* graph;
  Rank local;
  bool adapt_first;
};

class NeighborAveraging : public ::testing::TestWithParam<Neighbors> {};

// Bit for bit: sums are taken in the same order.
TEST_P(NeighborAveraging, EqualsTheMatrixRecurrenceInWorldsTo16) {
  const auto& [text, graph, local, adapt_first] = GetParam();
  const auto planner = make_planner(parse_strategy(text));
  for (Rank world = 2 * local; world <= 16; world += local) {
    const PlanWorld plans(*planner, input_of(tiny_model(), world), kAveragedSteps);
    ToyMachine machine(plans);
    const World start = values_in(machine.memory, plans);
    interpret(plans, machine);
    EXPECT_EQ(values_in(machine.memory, plans), trained(start, graph, local, adapt_first))
        << text << " of " << world;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NeighborAveraging,
    ::testing::Values(
        Neighbors{"fusion+neighbor-allreduce:topology=one-peer-exp+atc", "one-peer-exp", 1, true},
        Neighbors{"wfbp+neighbor-allreduce:topology=exp+atc", "exp", 1, true},
        Neighbors{"bsp+neighbor-allreduce:topology=ring+atc", "ring", 1, true},
        Neighbors{"dear+neighbor-allreduce+atc", "one-peer-exp", 1, true},
        Neighbors{"bytescheduler+neighbor-allreduce:topology=ring+atc", "ring", 1, true},
        Neighbors{"bsp+neighbor-allreduce+awc", "one-peer-exp", 1, false},
        Neighbors{"fusion+neighbor-allreduce:topology=exp+awc:window=backward", "exp", 1, false},
        Neighbors{"fusion+hierarchical-neighbor-allreduce:local=2+atc", "one-peer-exp", 2, true},
        Neighbors{"dear+hierarchical-neighbor-allreduce:topology=ring,local=4", "ring", 4, true},
        Neighbors{"wfbp+hierarchical-neighbor-allreduce:style=leader,local=2", "one-peer-exp", 2,
                  true},
        Neighbors{"bsp+hierarchical-neighbor-allreduce:style=leader,topology=exp,local=3+awc",
                  "exp", 3, false},
        Neighbors{"fusion+hierarchical-neighbor-allreduce:local=4+awc", "one-peer-exp", 4, false}));

}  // namespace
}  // namespace paceline::strategies
