// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topology.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/strategies/topology_analysis.h"
#include "strategies/every_topology.h"

namespace paceline::strategies {
namespace {

std::unique_ptr<const Topology> made(std::string_view text, Rank ranks, Rank local = 1) {
  return TopologyChoice(text).on({ranks, local});
}

double distance_after(std::string_view text, Rank ranks, Rank local, Step steps) {
  return distance_to_mean(product_of(*made(text, ranks, local), ranks, steps));
}

std::vector<Rank> sends(std::string_view text, Rank ranks, Rank local, Rank rank, Step steps) {
  std::vector<Rank> to;
  const auto topology = made(text, ranks, local);
  for (Step step = 0; step < steps; ++step) {
    to.push_back(topology->mixing(rank, step).to.front());
  }
  return to;
}

std::string error_of(std::string_view text, Rank ranks, Rank local = 1) {
  try {
    (void)made(text, ranks, local);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Topology, RowsAndColumnsSumToOneAndSendersMatchReceivers) {
  for_every_topology([](const Topology& graph, Rank ranks) {
    std::vector<std::size_t> most(static_cast<std::size_t>(ranks), 0);
    for (Step step = 0; step < graph.period(); ++step) {
      const Matrix w = matrix_of(graph, ranks, step);
      EXPECT_EQ(imbalance_text_of(w), "") << "step " << step;
      for (Rank to = 0; to < ranks; ++to) {
        const MixingRow mixing = graph.mixing(to, step);
        auto& largest = most[static_cast<std::size_t>(to)];
        largest = std::max(largest, mixing.from.size());
        for (Rank from = 0; from < ranks; ++from) {
          const auto receivers = graph.mixing(from, step).to;
          EXPECT_EQ(std::ranges::count(receivers, to),
                    std::ranges::count(mixing.from, from, &Neighbor::rank))
              << from << " to " << to << " in step " << step;
        }
        EXPECT_EQ(graph.mixing(to, step + graph.period()).to, mixing.to);
      }
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(graph.degree(rank), most[static_cast<std::size_t>(rank)]);
    }
  });
}

// The block of a graph says which nodes may be rotated.
TEST(Topology, IsTheSameAfterARotationByItsBlock) {
  for_every_topology([](const Topology& graph, Rank ranks) {
    const Rank by = graph.block();
    for (Rank rank = 0; by > 0 && rank < ranks; ++rank) {
      auto moved = graph.mixing(rank, 1).to;
      for (Rank& to : moved) {
        to = (to + by) % ranks;
      }
      EXPECT_EQ(graph.mixing((rank + by) % ranks, 1).to, moved);
    }
  });
}

TEST(Topology, ExponentialSendsToThePowersAhead) {
  const MixingRow mixing = made("exp", 12)->mixing(3, 0);
  EXPECT_EQ(mixing.to, (std::vector<Rank>{4, 5, 7, 11}));
  EXPECT_EQ(mixing.self, 0.2);
  EXPECT_EQ(mixing.from[3].rank, 7) << "8 behind, around the end";
  EXPECT_EQ(made("exp:3", 244)->mixing(0, 0).to, (std::vector<Rank>{1, 3, 9, 27, 81, 243}));
  EXPECT_EQ(made("symmetric-exp", 12)->mixing(0, 0).to, (std::vector<Rank>{1, 4, 8, 11}));
}

// 1 - 2 / (2 + floor(log2(n - 1))) for even n.
TEST(Topology, SecondEigenvaluesAreThePublishedOnes) {
  const auto second = [](std::string_view text, Rank ranks) {
    return second_eigenvalue(matrix_of(*made(text, ranks), ranks, 0));
  };
  EXPECT_NEAR(second("exp", 8), 0.5, 1e-9);
  EXPECT_NEAR(second("exp", 16), 0.6, 1e-9);
  EXPECT_NEAR(second("exp", 32), 2.0 / 3, 1e-9);
  EXPECT_NEAR(second("exp", 64), 5.0 / 7, 1e-9);
  EXPECT_NEAR(second("exp", 128), 0.75, 1e-9);
  EXPECT_NEAR(second("ring", 8), 0.805, 5e-4);
  EXPECT_NEAR(second("ring", 16), 0.949, 5e-4);
  EXPECT_NEAR(second("ring", 32), 0.987, 5e-4);
  EXPECT_NEAR(second("ring", 64), 0.997, 5e-4);
  EXPECT_NEAR(second("full", 8), 0, 1e-9);
}

TEST(Topology, OnePeerAveragesExactlyAfterLogTwoSteps) {
  for (const Rank ranks : {2, 4, 8, 16, 32}) {
    const auto graph = made("one-peer-exp", ranks);
    EXPECT_EQ(distance_after("one-peer-exp", ranks, 1, graph->period()), 0);
    EXPECT_EQ(steps_to_consensus(*graph, ranks, 64), graph->period());
  }
  EXPECT_EQ(distance_after("one-peer-exp", 128, 1, 7), 0);
  // Ying et al. 2021: not where the ranks are no power of two.
  EXPECT_NEAR(distance_after("one-peer-exp", 12, 1, 12), 0.013, 0.001);
  EXPECT_FALSE(steps_to_consensus(*made("one-peer-exp", 12), 12, 64));
  // Halves never make fifths; rounding comes to nothing after 78 steps.
  EXPECT_FALSE(steps_to_consensus(*made("random-matching", 5), 5, 128));
  EXPECT_EQ(made("one-peer-exp", 9)->period(), 4);
}

TEST(Topology, InnerOuterIsThatOfBlueFog) {
  EXPECT_EQ(sends("inner-outer-exp", 16, 4, 0, 4), (std::vector<Rank>{4, 3, 1, 2}));
  EXPECT_EQ(sends("inner-outer-exp", 16, 4, 1, 4), (std::vector<Rank>{2, 9, 3, 0}));
  EXPECT_NEAR(distance_after("inner-outer-exp", 16, 4, 4), 1.118, 0.001);
  EXPECT_NEAR(distance_after("inner-outer-exp", 16, 4, 16), 0.160, 0.001);
  EXPECT_NEAR(distance_after("inner-outer-exp", 16, 4, 64), 0.0001, 0.0001);
  EXPECT_NEAR(distance_after("inner-outer-exp", 128, 8, 4), 3.50, 0.005);
  EXPECT_NEAR(distance_after("inner-outer-exp", 128, 8, 16), 1.46, 0.005);
  EXPECT_NEAR(distance_after("inner-outer-exp", 128, 8, 64), 0.128, 0.001);
  // To the next host, or to the next rank that stays.
  EXPECT_EQ(sends("inner-outer-ring", 12, 4, 0, 4), (std::vector<Rank>{4, 2, 1, 1}));
  for (const auto& [ranks, local] : std::vector<std::pair<Rank, Rank>>{{8, 2}, {10, 4}, {4, 4}}) {
    EXPECT_NE(error_of("inner-outer-exp", ranks, local), "");
    EXPECT_NE(error_of("inner-outer-ring", ranks, local), "");
  }
}

TEST(Topology, CrossesMachinesAsOftenAsBlueFogsGraphs) {
  const auto crossing = [](const Topology& graph, Rank ranks, Rank local) {
    std::vector<int> messages;
    for (Step step = 0; step < 4; ++step) {
      messages.push_back(traffic_of(graph, {ranks, local}, step).between_hosts);
    }
    return messages;
  };
  EXPECT_EQ(crossing(*made("one-peer-exp", 16), 16, 4), (std::vector<int>{4, 8, 16, 16}));
  EXPECT_EQ(crossing(*made("inner-outer-exp", 16, 4), 16, 4), (std::vector<int>{4, 4, 4, 4}));
  EXPECT_EQ(crossing(*made("one-peer-exp", 128), 128, 8), (std::vector<int>{16, 32, 64, 128}));
  EXPECT_EQ(crossing(*made("inner-outer-exp", 128, 8), 128, 8), (std::vector<int>{16, 16, 16, 16}));
}

TEST(Topology, StarAndMeshHaveTheWeightsOfTheirDefinitions) {
  const auto star = made("star:2", 4);
  EXPECT_EQ(star->mixing(2, 0).self, 0.25);
  EXPECT_EQ(star->mixing(2, 0).to, (std::vector<Rank>{0, 1, 3}));
  EXPECT_EQ(star->mixing(3, 0).self, 0.75);
  EXPECT_NE(error_of("star:4", 4), "");
  // 2 x 3: corners have two neighbors, the middles three.
  const auto mesh = made("mesh", 6);
  EXPECT_EQ(mesh->mixing(0, 0).to, (std::vector<Rank>{1, 3}));
  EXPECT_EQ(mesh->mixing(0, 0).from[0].weight, 0.25) << "1 has three";
  EXPECT_NEAR(mesh->mixing(0, 0).from[1].weight, 1.0 / 3, 1e-15);
  EXPECT_NEAR(mesh->mixing(0, 0).self, 1 - 0.25 - 1.0 / 3, 1e-15);
  EXPECT_EQ(made("mesh", 7)->mixing(3, 0).to, (std::vector<Rank>{2, 4}))
      << "a prime number of nodes is a line";
  EXPECT_EQ(made("mesh:3x2", 6)->mixing(0, 0).to, (std::vector<Rank>{1, 2}));
  EXPECT_NE(error_of("mesh:3x2", 8), "");
}

// Takezawa et al. 2023: at most 2 log_{k+1}(n) + 2 steps.
TEST(Topology, BaseGraphsAverageExactlyForAnyNumberOfNodes) {
  for (const Rank base : {2, 3, 4, 5}) {
    for (Rank ranks = 2; ranks <= 40; ++ranks) {
      const auto graph = made(fmt::format("base:{}", base), ranks);
      const Step period = graph->period();
      EXPECT_LE(static_cast<double>(period), 2 * std::log(ranks) / std::log(base) + 2)
          << base << " of " << ranks;
      EXPECT_LE(largest_degree(*graph, ranks), static_cast<std::size_t>(base - 1));
      EXPECT_LT(distance_to_mean(product_of(*graph, ranks, period)), 1e-12)
          << base << " of " << ranks;
      EXPECT_EQ(steps_to_consensus(*graph, ranks, period), period) << base << " of " << ranks;
    }
  }
  EXPECT_EQ(made("base", 16)->period(), 4) << "a hypercube";
  EXPECT_EQ(made("base", 6)->period(), 4) << "two groups of three";
  EXPECT_EQ(made("base:3", 6)->period(), 2) << "3 x 2";
  EXPECT_EQ(made("base", 5)->period(), 5);
}

TEST(Topology, RandomMatchingsPairAllButOne) {
  for (const Rank ranks : {2, 5, 8}) {
    const auto graph = made("random-matching", ranks);
    int alone = 0;
    for (Rank rank = 0; rank < ranks; ++rank) {
      const MixingRow mixing = graph->mixing(rank, 3);
      alone += mixing.to.empty() ? 1 : 0;
      for (const Rank to : mixing.to) {
        EXPECT_EQ(graph->mixing(to, 3).to, (std::vector<Rank>{rank}));
      }
    }
    EXPECT_EQ(alone, ranks % 2);
  }
  EXPECT_NE(sends("random-matching", 16, 1, 0, 8), sends("random-matching:1", 16, 1, 0, 8));
}

TEST(Topology, HostsOfRanksAverageAsHierarchicalDoes) {
  const auto graph = rank_topology_of(made("one-peer-exp", 4), 2);
  const Matrix w = matrix_of(*graph, 8, 0);
  EXPECT_EQ(w.row(2), (Eigen::RowVectorXd{{0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0}}));
  EXPECT_EQ(steps_to_consensus(*graph, 8, 16), 2);
  EXPECT_EQ(traffic_of(*graph, {8, 2}, 0).between_hosts, 8);
}

TEST(Topology, ReadsEdgesAndSaysWhatIsUneven) {
  const EdgeFile even("# a line\n0 1 0.25\n1 0 0.25\n\n1 2 0.5 # last\n2 1 0.5");
  const auto line = made(even.text(), 3);
  EXPECT_EQ(line->imbalance_text(), "");
  EXPECT_EQ(line->mixing(1, 0).self, 0.25);
  const EdgeFile directed("0 1\n1 2\n2 0\n0 2\n");
  EXPECT_EQ(made(directed.text(), 3)->mixing(2, 0).self, 1.0 / 3);
  EXPECT_EQ(made(directed.text(), 3)->imbalance_text(),
            "column 0 (what is taken of rank 0) sums to 1.33333333333");
  const EdgeFile heavy("0 1 0.5\n1 0 0.5\n0 0 0.25\n");
  EXPECT_EQ(made(heavy.text(), 2)->imbalance_text(), "row 0 (what rank 0 takes) sums to 0.75");
  EXPECT_NE(error_of(even.text(), 2).find("line 5: an edge of rank 2; here are 2 ranks"),
            std::string::npos);
}

// A row that sums to 1 but for rounding gives the rest to its own weight, and keeps its symmetry;
// columns have to sum to 1 then.
TEST(Topology, TakesUpTheRoundingOfOwnWeights) {
  const EdgeFile rounded(
      "0 0 0.33333333\n0 1 0.33333333\n0 2 0.33333333\n"
      "1 0 0.33333333\n1 1 0.33333333\n1 2 0.33333333\n"
      "2 0 0.33333333\n2 1 0.33333333\n2 2 0.33333333\n");
  const auto graph = made(rounded.text(), 3);
  EXPECT_EQ(graph->imbalance_text(), "");
  EXPECT_EQ(graph->mixing(0, 0).self, 1 - 0.33333333 - 0.33333333);
  EXPECT_LT(distance_to_mean(product_of(*graph, 3, 64)), 1e-14);
  const EdgeFile column("0 1 0.3\n1 2 0.3\n2 0 0.30000001\n0 0 0.69999999\n1 1 0.7\n2 2 0.7\n");
  EXPECT_EQ(made(column.text(), 3)->imbalance_text(),
            "column 0 (what is taken of rank 0) sums to 0.99999999");
  const EdgeFile above("0 1 0.5\n1 0 0.5\n2 1 0.50000001\n1 2 0.5\n");
  EXPECT_NE(error_of(above.text(), 3).find("sum to 1.00000001"), std::string::npos);
}

TEST(Topology, SaysWhereValuesOnlyGoRound) {
  const EdgeFile swap("0 1 1\n1 0 1\n");
  EXPECT_NE(made(swap.text(), 2)->recurrence_text().find("a multiple of 2 steps"),
            std::string::npos);
  const EdgeFile wheel("0 1 1\n1 2 1\n2 0 1\n");
  EXPECT_NE(made(wheel.text(), 3)->recurrence_text().find("a multiple of 3 steps"),
            std::string::npos);
  // Ways of 2 and of 3 steps: everybody meets.
  const EdgeFile both("0 1 1\n1 2 1\n2 0 0.5\n1 0 0.5\n");
  EXPECT_EQ(made(both.text(), 3)->recurrence_text(), "");
  const EdgeFile own("0 1 1\n1 2 1\n2 0 0.5\n0 0 0.5\n");
  EXPECT_EQ(made(own.text(), 3)->recurrence_text(), "");
  for_every_topology(
      [](const Topology& graph, Rank ranks) { EXPECT_EQ(graph.recurrence_text(), "") << ranks; });
}

// numpy: the eigenvalues of [[1, 2, 2, 2], [1, 2, 0, 0], [1, 0, 2, 0],
// [1, 0, 0, 2]] / 4 are 1, 1/2, 1/2 and -1/4, and those of the star's own weights 1, 3/4, 3/4 and
// 0.
TEST(Topology, PushSumHasWeightsOfItsOwn) {
  const Matrix own = matrix_of(*made("star", 4), 4, 0);
  EXPECT_NEAR(second_eigenvalue(own), 0.75, 1e-9);
  const auto shares = with_push_sum_weights(made("star", 4));
  const Matrix w = matrix_of(*shares, 4, 0);
  EXPECT_EQ(w.row(0), (Eigen::RowVectorXd{{0.25, 0.5, 0.5, 0.5}}));
  EXPECT_EQ(w.row(1), (Eigen::RowVectorXd{{0.25, 0.5, 0, 0}}));
  EXPECT_NEAR(second_eigenvalue(w), 0.5, 1e-9);
  Matrix product = product_of(*shares, 4, 64);
  EXPECT_GT(distance_to_mean(product), 0.1);
  for (auto row : product.rowwise()) {
    row /= row.sum();  // values over weights
  }
  EXPECT_LT(distance_to_mean(product), 1e-12);
}

TEST(Topology, RejectsEdgesThatDoNotConnectAllRanks) {
  const EdgeFile both("0 1\n1 0\n2 3\n3 2\n");
  EXPECT_NE(error_of(both.text(), 4).find("nothing of rank 0 reaches rank 2"), std::string::npos);
  const EdgeFile one_way("0 1 0.5\n");
  EXPECT_NE(error_of(one_way.text(), 2).find("nothing of rank 1 reaches rank 0"),
            std::string::npos);
  const EdgeFile without_weight("0 1 0\n1 0 0.5\n");
  EXPECT_NE(error_of(without_weight.text(), 2).find("nothing of rank 0 reaches rank 1"),
            std::string::npos);
}

TEST(Topology, RejectsFilesThatAreNoEdges) {
  for (const char* text : {"", "0\n", "0 1 x\n", "0 1 0.5 0\n", "-1 0\n", "0 99999\n", "0 1\n0 1\n",
                           "0 1\n1 0 0.5\n", "1 1\n", "0 1 -0.1\n1 0 0.5\n", "0 1 1.5\n1 0 1.5\n",
                           "0 1 0.6\n2 1 0.6\n1 0 0.1\n1 2 0.1\n", "0 1 inf\n"}) {
    const EdgeFile file(text);
    EXPECT_NE(error_of(file.text(), 4), "") << text;
  }
  EXPECT_NE(error_of("edges:/nowhere/edges.txt", 4), "");
}

TEST(Topology, RejectsNamesAndParametersThatAreNone) {
  for (const char* text : {"torus", "", "exp:1", "exp:two", "exp:", "full:2", "ring:up", "mesh:2x",
                           "base:1", "base:65", "random-matching:-1", "edges"}) {
    EXPECT_NE(error_of(text, 8), "") << text;
  }
  EXPECT_EQ(error_of("mesh:2", 8), "topology 'mesh:2': wants ROWSxCOLUMNS, as in mesh:2x4");
  EXPECT_EQ(TopologyChoice("exp:2").text(), "exp");
  EXPECT_EQ(TopologyChoice("exp:3").text(), "exp:3");
  EXPECT_EQ(TopologyChoice("full").text(), "full");
}

}  // namespace
}  // namespace paceline::strategies
