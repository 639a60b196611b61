// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/access.h"
#include "paceline/plan/cost.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_model.h"
#include "strategies/strategy_texts.h"

// Planner::symmetry says under which moves of ranks plans stay as they are. Here ranks are moved,
// and the plans compared.

namespace paceline::strategies {
namespace {

/// The blocks, in a ring, `by` further.
Rank moved_on(const Symmetry& symmetry, Rank rank, Rank by) {
  const Rank place = rank - symmetry.first;
  return place < 0 || place >= symmetry.count
             ? rank
             : symmetry.first + (place + by * symmetry.block) % symmetry.count;
}

/// The first two blocks in each other's place.
Rank exchanged(const Symmetry& symmetry, Rank rank) {
  const Rank place = rank - symmetry.first;
  if (place < 0 || place >= 2 * symmetry.block || 2 * symmetry.block > symmetry.count) {
    return rank;
  }
  return symmetry.first + (place + symmetry.block) % (2 * symmetry.block);
}

/// The last two places that are movable, exchanged in every block.
Rank places_exchanged(const Symmetry& symmetry, Rank rank) {
  const Rank from = (rank - symmetry.first) % symmetry.block;
  const bool moves = rank >= symmetry.first && rank < symmetry.first + symmetry.count &&
                     symmetry.movable > 1 && from >= symmetry.block - 2;
  return moves ? rank - from + 2 * symmetry.block - 3 - from : rank;
}

template <class Move>
std::set<Rank> moved(const Members& members, const Move& move) {
  std::set<Rank> ranks;
  for (const Rank rank : members) {
    ranks.insert(move(rank));
  }
  return ranks;
}

std::set<Rank> set_of(const Members& members) {
  return moved(members, [](Rank rank) { return rank; });
}

/// By peer: how much crosses, in the order of the list.
template <class Move>
std::map<Rank, std::vector<Elements>> moved(const std::vector<Message>& messages,
                                            const Move& move) {
  std::map<Rank, std::vector<Elements>> found;
  for (const Message& message : messages) {
    found[move(message.peer)].push_back(message.slice.count);
  }
  return found;
}

/// What kernels cost by: their name, the elements that they read and write, and the parameters of
/// which they write.
std::tuple<std::string_view, Elements, Elements, int> work_of(const Kernel& kernel,
                                                              const Setup& setup) {
  Elements read = 0, written = 0;
  int tensors = 0;
  for (const plan::Access& access : kernel.reads) {
    read += access.slice.count;
  }
  for (const plan::Access& access : kernel.writes) {
    written += access.slice.count;
    for (const plan::ParameterPlacement& placement : setup.parameters) {
      tensors += plan::overlap(placement.value, access.slice) ? 1 : 0;
    }
  }
  return {kernel.name, read, written, tensors};
}

/// The plan of a rank and that of where it moves, op by op.
template <class Move>
void expect_moved(const Planner& planner, PlanInput input, const Move& move) {
  const auto still = [](Rank rank) { return rank; };
  PlanInput other = input;
  other.rank = move(input.rank);
  const Setup mine = planner.setup(input), theirs = planner.setup(other);
  for (const Step step : {0, 1, 2}) {
    const Variant variant = planner.variant(input, step);
    const CommPlan a = planner.plan(input, mine, variant);
    const CommPlan b = planner.plan(other, theirs, variant);
    ASSERT_EQ(a.ops.size(), b.ops.size());
    for (std::size_t i = 0; i < a.ops.size(); ++i) {
      ASSERT_EQ(a.ops[i].work.index(), b.ops[i].work.index());
      EXPECT_EQ(a.ops[i].priority, b.ops[i].priority);
      EXPECT_EQ(payload_bytes(mine, a.ops[i]), payload_bytes(theirs, b.ops[i]));
      EXPECT_EQ(credit_bytes_of(mine, a.ops[i]), credit_bytes_of(theirs, b.ops[i]));
      EXPECT_EQ(communicator_of(a.ops[i]), communicator_of(b.ops[i]));
      if (const auto on = communicator_of(a.ops[i])) {
        EXPECT_EQ(moved(mine.communicators[index_of(*on)].members, move),
                  set_of(theirs.communicators[index_of(*on)].members));
      }
      if (const auto* from = std::get_if<Exchange>(&a.ops[i].work)) {
        const auto& to = std::get<Exchange>(b.ops[i].work);
        EXPECT_EQ(moved(from->sends, move), moved(to.sends, still));
        EXPECT_EQ(moved(from->receives, move), moved(to.receives, still));
      }
      if (const auto* from = std::get_if<Kernel>(&a.ops[i].work)) {
        EXPECT_EQ(work_of(*from, mine), work_of(std::get<Kernel>(b.ops[i].work), theirs));
      }
      if (const auto* from = std::get_if<Collective>(&a.ops[i].work)) {
        const auto& to = std::get<Collective>(b.ops[i].work);
        EXPECT_EQ(from->pattern, to.pattern);
        if (from->pattern == Pattern::kBroadcast) {
          EXPECT_EQ(move(from->root), to.root);
        }
      }
    }
  }
}

/// Every move of the symmetry, for all ranks of `input`.
void expect_moved(const Planner& planner, PlanInput input, const Symmetry& symmetry) {
  for (input.rank = 0; input.rank < input.world; ++input.rank) {
    for (const Rank by : {1, 2}) {
      expect_moved(planner, input, [&](Rank rank) { return moved_on(symmetry, rank, by); });
    }
    if (symmetry.in_any_order) {
      expect_moved(planner, input, [&](Rank rank) { return exchanged(symmetry, rank); });
    }
    expect_moved(planner, input, [&](Rank rank) { return places_exchanged(symmetry, rank); });
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

class Symmetries : public testing::TestWithParam<std::string> {};

TEST_P(Symmetries, KeepPlans) {
  const auto planner = make_planner(parse_strategy(GetParam()));
  for (const Rank world : {2, 4, 6, 8, 12, 16}) {
    for (const Rank local : {2, world}) {
      SCOPED_TRACE(testing::Message() << world << " ranks, " << local << " on a host");
      PlanInput input = input_of(tiny_model(), world);
      input.local_world = {};
      input.local_world.add(world / local, local);
      Symmetry symmetry;
      try {
        planner->setup(input);
        symmetry = planner->symmetry(input);
      } catch (const UsageError&) {
        continue;  // no such world
      }
      ASSERT_EQ(symmetry.count % symmetry.block, 0);
      ASSERT_LE(symmetry.first + symmetry.count, world);
      expect_moved(*planner, input, symmetry);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Symmetries, testing::ValuesIn(strategy_texts()));

INSTANTIATE_TEST_SUITE_P(
    Options, Symmetries,
    testing::Values<std::string>("wfbp", "dear", "none", "ddp", "wfbp+hierarchical:local=2",
                                 "wfbp+hierarchical:local=4", "wfbp+ps", "wfbp+ps:servers=1",
                                 "wfbp+ps:servers=3,local=2", "wfbp+ps:placement=apart,servers=2",
                                 "wfbp+ps:placement=apart,servers=2,local=2,assign=hash",
                                 "wfbp+neighbor-allreduce:topology=ring",
                                 "wfbp+neighbor-allreduce:topology=exp", "wfbp+neighbor-allreduce",
                                 "wfbp+neighbor-allreduce:topology=inner-outer-exp,local=4",
                                 "wfbp+hierarchical-neighbor-allreduce:local=2",
                                 "wfbp+hierarchical-neighbor-allreduce:topology=exp,local=2",
                                 "wfbp+hierarchical-neighbor-allreduce:style=leader,local=2"));

// What moves at all: else nothing above is compared.
TEST(SymmetryOf, SaysWhatIsAlike) {
  const auto of = [](const char* text, Rank world) {
    const Symmetry all =
        make_planner(parse_strategy(text))->symmetry(input_of(tiny_model(), world));
    return std::vector<Rank>{all.first, all.count, all.block, all.movable,
                             all.in_any_order ? 1 : 0};
  };
  EXPECT_EQ(of("fusion", 6), (std::vector<Rank>{0, 6, 1, 1, 1}));
  EXPECT_EQ(of("fusion+hierarchical:local=3", 6), (std::vector<Rank>{0, 6, 3, 3, 1}));
  EXPECT_EQ(of("fusion+neighbor-allreduce", 6), (std::vector<Rank>{0, 6, 1, 1, 0}));
  EXPECT_EQ(of("fusion+hierarchical-neighbor-allreduce:local=3", 6),
            (std::vector<Rank>{0, 6, 3, 3, 0}));
  EXPECT_EQ(of("fusion+hierarchical-neighbor-allreduce:style=leader,local=3", 6),
            (std::vector<Rank>{0, 6, 3, 2, 0}));
  EXPECT_EQ(of("fusion+rs-ag+zero-1", 6), (std::vector<Rank>{0, 0, 1, 1, 0}));
  EXPECT_EQ(of("fusion+hierarchical:local=3+zero-2", 6), (std::vector<Rank>{0, 6, 3, 1, 1}));
  EXPECT_EQ(of("fusion+hierarchical-neighbor-allreduce:local=3+topk", 6),
            (std::vector<Rank>{0, 6, 3, 1, 0}));
  EXPECT_EQ(of("fusion+ps", 6), (std::vector<Rank>{6, 0, 1, 1, 1}));
  EXPECT_EQ(of("fusion+ps:servers=1,local=2", 6), (std::vector<Rank>{2, 4, 2, 1, 1}));
  EXPECT_EQ(of("fusion+ps:placement=apart,servers=2", 6), (std::vector<Rank>{0, 4, 1, 1, 1}));
}

}  // namespace
}  // namespace paceline::strategies
