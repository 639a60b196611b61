// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/verify.h"

#include <gtest/gtest.h>

#include "paceline/strategies/strategy.h"
#include "plan/hand_plans.h"
#include "plan/toy_model.h"

namespace paceline::strategies {
namespace {

/// Two buffers of eight beside a one-tensor model; one communicator.
Setup two_buffers(const PlanInput& input) {
  SetupBuilder builder(input, {input.model.ready_order});
  builder.add_buffer({.name = "x", .elements = 8});
  builder.add_buffer({.name = "y", .elements = 8});
  builder.add_world_communicator("all");
  return std::move(builder).finish();
}

constexpr CommunicatorId kAll{0};

Slice x_of(const Program& program) {
  return whole(program.setup(), buffer_named(program.setup(), "x"));
}
Slice y_of(const Program& program) {
  return whole(program.setup(), buffer_named(program.setup(), "y"));
}

/// What verify says of a plan, or "fine".
std::string verdict(Rank world, const HandPlanner::Write& write,
                    const HandPlanner::MakeSetup& setup = two_buffers) {
  const HandPlanner planner(setup, write);
  try {
    verify(planner, input_of(toy_model({{4}}), world), 2);
  } catch (const PlanError& error) {
    return error.what();
  }
  return "fine";
}

void expect_says(const std::string& verdict, const std::vector<std::string>& parts) {
  std::size_t from = 0;
  for (const std::string& part : parts) {
    const std::size_t found = verdict.find(part, from);
    EXPECT_NE(found, std::string::npos) << "'" << part << "' in: " << verdict;
    from = found == std::string::npos ? from : found + part.size();
  }
}

// One communicator by priority, one op at a time.
Setup by_priority(const PlanInput& input) {
  Setup setup = two_buffers(input);
  setup.communicators[0].order = IssueOrder::kPriority;
  setup.communicators[0].credit_bytes = 1;
  return setup;
}

TEST(Verify, FollowsTheLeaderWhereTheOrderIsByPriority) {
  // Both are ready at once; y is more urgent, and goes first everywhere.
  const auto urgent_last = [](Program& program, Variant) {
    program.compute();
    program.at(program.all_reduce(x_of(program), kAll)).priority = 1;
    program.at(program.all_reduce(y_of(program), kAll)).priority = 0;
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  EXPECT_EQ(verdict(3, urgent_last, by_priority), "fine");
}

/// Under one number each pair of ranks has a group of its own.
Setup pairs_by_priority(const PlanInput& input) {
  Setup setup = by_priority(input);
  setup.communicators[0].name = "pair" + std::to_string(input.rank / 2);
  setup.communicators[0].members = Members::spaced(input.rank / 2 * 2, 2);
  return setup;
}

TEST(Verify, FollowsTheLeaderOfEachGroup) {
  const auto urgent_last = [](Program& program, Variant) {
    program.compute();
    program.at(program.all_reduce(x_of(program), kAll)).priority = 1;
    program.at(program.all_reduce(y_of(program), kAll)).priority = 0;
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  EXPECT_EQ(verdict(4, urgent_last, pairs_by_priority), "fine");
}

TEST(Verify, RejectsACollectiveThatEveryMemberIssuesAsItIsReady) {
  const auto collective = [](Program& program, Variant) {
    program.compute();
    program.all_reduce(x_of(program), kAll);
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  const auto as_ready = [](const PlanInput& input) {
    auto setup = two_buffers(input);
    setup.communicators[0].order = IssueOrder::kAsReady;
    return setup;
  };
  expect_says(verdict(2, collective, as_ready), {"rank 0", "all-reduce", "only messages"});
}

// Each rank sends before it receives, so over NCCL both would wait.
TEST(Verify, FindsRanksThatWaitWhereEachPerformsOneOperationAtATime) {
  const auto sends_first = [](Program& program, Variant) {
    const Rank other = 1 - program.input().rank;
    program.compute();
    program.exchange(kAll, {{other, x_of(program)}}, {});
    program.exchange(kAll, {}, {{other, y_of(program)}});
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  const auto together = [](Program& program, Variant) {
    const Rank other = 1 - program.input().rank;
    program.compute();
    program.exchange(kAll, {{other, x_of(program)}}, {{other, y_of(program)}});
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  EXPECT_EQ(verdict(2, sends_first), "fine");
  const auto in_one_order = [](const HandPlanner::Write& write) {
    const HandPlanner planner(two_buffers, write);
    try {
      verify(planner, input_of(toy_model({{4}}), 2), 2, true);
    } catch (const PlanError& error) {
      return std::string(error.what());
    }
    return std::string("fine");
  };
  EXPECT_EQ(in_one_order(together), "fine");
  expect_says(in_one_order(sends_first), {"one operation at a time", "rank 0, step 0",
                                          "waits for rank 1, step 0", "waits for rank 0, step 0"});
}

TEST(Verify, MembersSeeOneGroup) {
  const auto alone = [](Program& program, Variant) {
    program.compute();
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  const auto other_on_rank_1 = [](const PlanInput& input) {
    plan::Setup setup = pairs_by_priority(input);
    if (input.rank == 1) {
      setup.communicators[0].members = {1};
    }
    return setup;
  };
  EXPECT_EQ(verdict(2, alone, other_on_rank_1),
            "rank 1, a member of communicator 'pair0', sees other members of 'pair0'");
  const auto outside = [](const PlanInput& input) {
    plan::Setup setup = pairs_by_priority(input);
    setup.communicators[0].members = {0, 1, 2};
    return setup;
  };
  EXPECT_EQ(verdict(2, alone, outside), "communicator 'pair0' has a member outside the world of 2");
}

// The leader picks y first, which on rank 1 waits for x: rank 1 cannot follow, though in program
// order all is well.
TEST(Verify, FindsAMemberThatCannotFollowTheLeader) {
  const auto crossed = [](Program& program, Variant) {
    program.compute();
    program.at(program.all_reduce(x_of(program), kAll)).priority = 1;
    if (program.input().rank == 1) {
      program.kernel("copy", {{x_of(program)}}, {{y_of(program)}}, {1});
    }
    program.at(program.all_reduce(y_of(program), kAll)).priority = 0;
    program.update(buckets_of(program.setup(), {{ParameterId{0}}}).front(), 1);
  };
  EXPECT_EQ(verdict(2, crossed), "fine");
  expect_says(verdict(2, crossed, by_priority), {"ops wait for each other", "rank 1", "waits for"});
}

TEST(Verify, PassesEveryStrategyInEveryWorld) {
  for (const char* text :
       {"none", "bsp", "wfbp", "fusion", "fusion:bucket-mb=0", "ddp", "ddp:views=yes,static=yes",
        "dear", "bytescheduler:partition-mb=0.00005,credit-mb=0.0001",
        "bytescheduler:partition-mb=0.00005,credit-mb=0,order=priority",
        "bytescheduler:partition-mb=0.00005,credit-mb=0,queue=module",
        "bytescheduler:order=priority,credit-mb=0+rs-ag",
        "bytescheduler:order=priority+hierarchical:local=1",
        "bytescheduler:order=priority,credit-mb=0+ps"}) {
    for (const Rank world : {1, 2, 3, 4, 7}) {
      const auto planner = make_planner(parse_strategy(text));
      EXPECT_NO_THROW(verify(*planner, input_of(small_model(), world)));
    }
  }
}

TEST(Verify, ReportsCrossedReceivesAsAChain) {
  const std::string text = verdict(2, [](Program& program, Variant) {
    const Rank peer = 1 - program.input().rank;
    program.exchange(kAll, {}, {{peer, x_of(program)}});
    program.exchange(kAll, {{peer, y_of(program)}}, {});
  });
  expect_says(text, {"blocks", "rank 0, step 0, op 0: exchange, 32 bytes x < rank 1",
                     "waits for rank 1, step 0, op 0: exchange, 32 bytes x < rank 0",
                     "waits for rank 0, step 0, op 0"});
}

// In order the send of x deposits and goes on.  Overlapped, the all-reduce may not overwrite x
// before x is sent, and rank 1 receives only after it.
TEST(Verify, ReportsASendThatOverlappedWaitsForItsOwnReceive) {
  const std::string text = verdict(2, [](Program& program, Variant) {
    const bool sends = program.input().rank == 0;
    if (sends) {
      program.exchange(kAll, {{1, x_of(program)}}, {});
    }
    program.all_reduce(x_of(program), kAll);
    if (!sends) {
      program.exchange(kAll, {}, {{0, x_of(program)}});
    }
  });
  expect_says(text, {"ops wait for each other", "exchange", "waits for", "waits for"});
  EXPECT_NE(text.find("all-reduce"), std::string::npos) << text;
}

TEST(Verify, ReportsADeadlockThatCreditMakes) {
  const auto write = [](Program& program, Variant) {
    const Slice x = x_of(program), y = y_of(program);
    switch (program.input().rank) {
      case 0:
        program.exchange(kAll, {{1, x}}, {});
        program.exchange(kAll, {{2, x}}, {});
        break;
      case 1: {
        const OpIndex first = program.exchange(kAll, {}, {{2, x}});
        program.after(program.exchange(kAll, {}, {{0, y}}), first);
        break;
      }
      default: {
        const OpIndex first = program.exchange(kAll, {}, {{0, x}});
        program.after(program.exchange(kAll, {{1, y}}, {}), first);
      }
    }
  };
  EXPECT_EQ(verdict(3, write), "fine");
  const std::string text = verdict(3, write, [](const PlanInput& input) {
    auto setup = two_buffers(input);
    setup.communicators[0].credit_bytes = 1;
    return setup;
  });
  expect_says(text, {"ops wait for each other", "rank", "waits for"});
}

TEST(Verify, RejectsWhatMembersDoNotAgreeOn) {
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        Slice slice = x_of(program);
                        slice.count -= program.input().rank;
                        program.all_reduce(slice, kAll);
                      }),
              {"rank 0, step 0, op 0", "another kind, size, type or root"});
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        if (program.input().rank == 0) {
                          program.all_reduce(x_of(program), kAll);
                        }
                      }),
              {"'all'", "rank 1 has only 0 collectives"});
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        const Rank peer = 1 - program.input().rank;
                        Slice mine = x_of(program);
                        mine.count -= program.input().rank;
                        program.exchange(kAll, {{peer, mine}}, {{peer, y_of(program)}});
                      }),
              {"another size or type"});
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        if (program.input().rank == 0) {
                          program.exchange(kAll, {{1, x_of(program)}}, {});
                        }
                      }),
              {"rank 0 sends 2 messages to rank 1, which receives 0"});
}

TEST(Verify, RejectsSlicesOrdersAndSizesThatCannotBe) {
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        Slice slice = x_of(program);
                        slice.count += 1;
                        program.all_reduce(slice, kAll);
                      }),
              {"elements 0 to 9 lie outside buffer x"});
  expect_says(verdict(2, [](Program& program,
                            Variant) { program.all_gather(x_of(program), y_of(program), kAll); }),
              {"all-gather", "8 elements in, 8 out"});
  expect_says(verdict(2,
                      [](Program& program, Variant) {
                        const OpIndex op = program.all_reduce(x_of(program), kAll);
                        program.at(op).after = {op};
                      }),
              {"`after` names op 0"});
}

TEST(Verify, RejectsParametersThatAreNotReached) {
  expect_says(verdict(1, [](Program& program, Variant) { program.compute(); }),
              {"parameter 'layer0.p0' is never updated"});
}

}  // namespace
}  // namespace paceline::strategies
