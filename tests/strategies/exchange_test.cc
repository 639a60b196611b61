// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "paceline/base/error.h"
#include "paceline/plan/interpreter.h"
#include "paceline/plan/program.h"
#include "paceline/plan/verify.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/strategy.h"
#include "plan/toy_machine.h"
#include "plan/toy_model.h"

// What exchanges promise of every world up to 16, and what they reject.

namespace paceline::strategies {
namespace {

/// Bits that bf16 keeps, as the toy's cast does.
double rounded(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

TEST(Half, RoundsWhatIsSentAndTheSum) {
  for (const char* text : {"bsp+all-reduce+bf16", "dear+rs-ag+fp16"}) {
    const auto planner = make_planner(parse_strategy(text));
    const PlanWorld plans(*planner, input_of(tiny_model(), 4), 1);
    ToyMachine machine(plans);
    const World start = values_in(machine.memory, plans);
    interpret(plans, machine);
    const World end = values_in(machine.memory, plans);
    for (std::size_t p = 0; p < start[0].size(); ++p) {
      const Backward work{ParameterId{static_cast<std::int32_t>(p)}};
      for (std::size_t i = 0; i < start[0][p].size(); ++i) {
        double sum = 0;
        for (Rank rank = 0; rank < 4; ++rank) {
          sum += rounded(toy_gradient(rank, 0, work, start[0][p])[i]);
        }
        EXPECT_EQ(end[3][p][i], start[3][p][i] - 0.25 * rounded(sum) / 4);
      }
    }
  }
}

/// Every exchange with what its options change, as they are in that world.
std::vector<std::string> texts_for(Rank world) {
  std::vector<std::string> texts{"bsp",
                                 "wfbp",
                                 "mg-wfbp",
                                 "optimal-merge",
                                 "dear",
                                 "bytescheduler",
                                 "bytescheduler:order=priority,credit-mb=0",
                                 "dear+all-reduce+bf16",
                                 "fusion+rs-ag",
                                 "bytescheduler+rs-ag",
                                 "wfbp+ps",
                                 "dear+ps:servers=1",
                                 "wfbp+ps:assign=hash,partition-mb=0.0001",
                                 "bytescheduler:order=priority,credit-mb=0+ps",
                                 "bytescheduler+ps:placement=apart,servers=1",
                                 "fusion+hierarchical",
                                 "fusion+neighbor-allreduce",
                                 "wfbp+neighbor-allreduce:topology=exp+awc",
                                 "dear+neighbor-allreduce:topology=ring"};
  for (Rank local = 1; local < world; ++local) {
    if (world % local == 0) {
      for (const char* text : {"dear+hierarchical:local={}", "fusion+ps:local={}",
                               "bytescheduler+ps:local={},servers=1",
                               "fusion+hierarchical-neighbor-allreduce:local={}",
                               "wfbp+hierarchical-neighbor-allreduce:"
                               "style=leader,local={}+awc"}) {
        texts.push_back(fmt::format(fmt::runtime(text), local));
      }
    }
  }
  if (world % 2 == 0) {
    texts.emplace_back("fusion+ps:placement=apart");
  }
  return texts;
}

class WorldsTo16 : public ::testing::TestWithParam<Rank> {};

TEST_P(WorldsTo16, CanRunEveryExchange) {
  for (const std::string& text : texts_for(GetParam())) {
    const auto planner = make_planner(parse_strategy(text));
    EXPECT_NO_THROW(verify(*planner, input_of(tiny_model(), GetParam()), 3)) << text;
  }
}

// Each gradient is reduced once, in pieces that do not overlap.
TEST_P(WorldsTo16, EveryParameterIsInExactlyOneOperation) {
  for (const char* text : {"mg-wfbp", "mg-wfbp:small-elements=8192", "optimal-merge",
                           "bytescheduler:partition-mb=0.0001", "dear", "dear+all-reduce",
                           "wfbp+ps:partition-mb=0.0001"}) {
    const auto planner = make_planner(parse_strategy(text));
    const PlanInput input = input_of(toy_model({{90, 20}, {120}, {30, 60}}), GetParam());
    const plan::Setup setup = planner->setup(input);
    const CommPlan plan = planner->plan(input, setup, 0);
    const BufferId gradients = buffer_named(setup, kGradients);
    std::vector<int> left(static_cast<std::size_t>(setup.buffers[index_of(gradients)].elements));
    const auto count = [&](const Slice& slice) {
      ASSERT_EQ(slice.buffer, gradients);
      for (Elements i = 0; i < slice.count; ++i) {
        ++left[static_cast<std::size_t>(slice.begin + i)];
      }
    };
    for (const Op& op : plan.ops) {
      const auto* collective = std::get_if<Collective>(&op.work);
      const auto* exchange = std::get_if<Exchange>(&op.work);
      const auto* kernel = std::get_if<Kernel>(&op.work);
      if (collective != nullptr && collective->pattern != Pattern::kAllGather) {
        count(collective->in);
      } else if (exchange != nullptr && exchange->receives.empty() && exchange->sends.size() == 1) {
        // A worker's push, or, between two ranks, the server's answer: the latter is of what its
        // own sum wrote.
        const bool answers = std::ranges::any_of(plan.ops, [&](const Op& other) {
          const auto* sum = std::get_if<Kernel>(&other.work);
          return sum != nullptr && sum->name == "linear" &&
                 sum->writes[0].slice == exchange->sends[0].slice;
        });
        if (!answers) {
          count(exchange->sends[0].slice);
        }
      } else if (kernel != nullptr && kernel->name == "linear") {
        count(kernel->writes[0].slice);
      }
    }
    for (const ParameterPlacement& where : setup.parameters) {
      for (Elements i = 0; i < where.gradient.count; ++i) {
        EXPECT_EQ(left[static_cast<std::size_t>(where.gradient.begin + i)], GetParam() == 1 ? 0 : 1)
            << text;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Ranks, WorldsTo16, ::testing::Range(2, 17));

TEST(ParameterServer, HashesTheKeysOfSortedNames) {
  // Buckets in ready order layer2.p0, layer1.p0, layer0.p0: places 2, 1, 0 by name, so keys 131072,
  // 65536 (+ 0 or 1 for its two partitions) and 0.
  const auto djb2 = [](const std::string& key) {
    std::uint64_t h = 5381;
    for (const char c : key) {
      h = h * 33 + static_cast<std::uint64_t>(c);
    }
    return h;
  };
  const PlanInput input = input_of(toy_model({{16}, {32}, {16}}), 4);
  const auto planner = make_planner(
      parse_strategy("wfbp+ps:assign=hash,servers=1,placement=apart,partition-mb=0.00007"));
  const auto two = make_planner(
      parse_strategy("wfbp+ps:assign=hash,servers=2,placement=apart,partition-mb=0.00007"));
  const auto owners = [&](const Planner& with) {
    std::vector<Rank> to;
    for (const Op& op : with.plan(input, with.setup(input), 0).ops) {
      const auto* exchange = std::get_if<Exchange>(&op.work);
      if (exchange != nullptr && !exchange->sends.empty()) {
        to.push_back(exchange->sends[0].peer);
      }
    }
    return to;
  };
  EXPECT_EQ(owners(*planner), (std::vector<Rank>{3, 3, 3, 3}));
  using Keys = std::array<const char*, 4>;
  const auto expected = [&](const Keys& keys) {
    std::vector<Rank> servers;
    for (const char* key : keys) {
      servers.push_back(2 + static_cast<Rank>(djb2(key) % 2));
    }
    return servers;
  };
  const std::vector<Rank> first = expected(Keys{"131072", "65536", "65537", "0"});
  EXPECT_EQ(owners(*two), first);
  EXPECT_NE(first[1], first[2]) << "the last digit alone differs";
}

TEST(ParameterServer, RejectsRolesThatCannotBeFilled) {
  const auto rejects = [](const char* text, Rank world) {
    const auto planner = make_planner(parse_strategy(text));
    EXPECT_THROW((void)planner->setup(input_of(tiny_model(), world)), UsageError) << text;
  };
  rejects("ps:servers=3", 2);
  rejects("ps:placement=apart,servers=2", 2);
  rejects("ps:placement=apart", 3);
}

// Each could hold back what the other waits for.
TEST(Neighbors, RejectACreditWhereRanksChooseTheirOrder) {
  for (const char* text :
       {"bytescheduler:order=priority+neighbor-allreduce",
        "bytescheduler:order=priority+hierarchical-neighbor-allreduce:local=2"}) {
    const auto planner = make_planner(parse_strategy(text));
    const PlanInput input = input_of(tiny_model(), 4);
    const paceline::plan::Setup own = planner->setup(input);
    EXPECT_THROW((void)planner->plan(input, own, 0), UsageError) << text;
  }
}

TEST(Hierarchical, RejectsUnequalHosts) {
  PlanInput input = input_of(tiny_model(), 5);
  input.local_world = {3, 2};
  EXPECT_THROW((void)make_planner(parse_strategy("hierarchical"))->setup(input), UsageError);
  EXPECT_THROW((void)make_planner(parse_strategy("hierarchical:local=2"))->setup(input),
               UsageError);
  input = input_of(tiny_model(), 6);
  input.local_world = {3, 3};
  EXPECT_NO_THROW((void)make_planner(parse_strategy("hierarchical"))->setup(input));
}

std::unique_ptr<const Planner> planner_for(const char* text) {
  return make_planner(parse_strategy(text));
}

TEST(Neighbors, DoNotMindUnequalHostsUnlessTheirGraphDoes) {
  PlanInput input = input_of(tiny_model(), 6);
  input.local_world = {4, 2};
  EXPECT_NO_THROW((void)planner_for("neighbor-allreduce")->setup(input));
  try {
    (void)planner_for("neighbor-allreduce:topology=inner-outer-exp")->setup(input);
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "topology=inner-outer-exp wants two or more hosts of the same number of ranks, at "
                 "least 3; here are 6 ranks, not equally many a host");
  }
}

TEST(OneHostAlone, IsSeenInStrategiesThatExchangeBetweenHosts) {
  const auto alone = [](const char* text, const plan::RanksPerHost& hosts) {
    PlanInput input = input_of(tiny_model(), 4);
    input.local_world = hosts;
    return reduces_on_one_host_only(parse_strategy(text), input);
  };
  for (const char* text :
       {"hierarchical", "hierarchical-neighbor-allreduce", "hierarchical:local=4", "ps:local=0"}) {
    EXPECT_TRUE(alone(text, {})) << text;
    EXPECT_TRUE(alone(text, {4})) << text;
  }
  for (const char* text : {"hierarchical", "hierarchical-neighbor-allreduce", "ps:local=0"}) {
    EXPECT_FALSE(alone(text, {2, 2})) << text;
  }
  for (const char* text : {"fusion", "none", "ps", "hierarchical:local=2", "neighbor-allreduce",
                           "neighbor-allreduce:gamma=0.5+topk"}) {
    EXPECT_FALSE(alone(text, {4})) << text;
  }
  // Two workers on one host push to servers that are none of its ranks.
  for (const plan::RanksPerHost& hosts : {plan::RanksPerHost{}, plan::RanksPerHost{2, 2}}) {
    EXPECT_FALSE(alone("ps:local=0,placement=apart,servers=2", hosts));
  }
}

TEST(LocalSize, StandsWhereRanksAreTakenAsHostsHaveThem) {
  const auto with_two = [](const char* text) {
    return text_with_local_size(parse_strategy(text), 2);
  };
  EXPECT_EQ(with_two("hierarchical"), "fusion:bucket-mb=25+hierarchical:local=2");
  EXPECT_EQ(with_two("hierarchical:local=4"), "fusion:bucket-mb=25+hierarchical:local=4");
  EXPECT_EQ(with_two("fusion"), "fusion:bucket-mb=25");
  EXPECT_EQ(with_two("none"), "none");
}

}  // namespace
}  // namespace paceline::strategies
