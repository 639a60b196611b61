// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "execution/random_job.h"
#include "execution/scheduled_rank.h"

// The simulator runs random plans at random costs.  The runtime's scheduler is told what has ended
// there, and when; it must issue what the simulator issues, at the same moments.  So must the issue
// rule as it is written down here:
// both executors share plan::IssueRule.

namespace paceline::execution {
namespace {

using plan::IssueOrder;
using plan::OpRef;
using simulator::ItemId;
using testing::RandomJob;
using testing::ScheduledRank;
using testing::Seen;

constexpr plan::Step kSteps = 4;
constexpr std::uint32_t kJobs = 100;

/// What begins and ends in the simulator at one time.
struct Moment {
  std::vector<ItemId> begun, ended;
};

std::map<plan::Picoseconds, Moment> timeline(const RandomJob& random, const simulator::Job& job) {
  simulator::Simulator simulator(job);
  simulator.run(random.costs);
  std::map<plan::Picoseconds, Moment> moments;
  for (ItemId id = 0; id < simulator.items().size(); ++id) {
    const auto& [begin, end] = simulator.items()[id];
    moments[begin].begun.push_back(id);
    moments[end].ended.push_back(id);
    if (simulator::communicates(job.items[id])) {
      moments[begin + random.costs.software.issue];  // the rank is free again
    }
  }
  return moments;
}

/// What the runtime is told to be the setup and the plan, where it is lied to.
using Alter = std::function<void(plan::Setup&, plan::CommPlan&)>;

std::string text(const std::optional<OpRef>& ref) {
  return ref ? fmt::format("step {}, op {}", ref->step, ref->op) : "nothing";
}

/// Where the runtime's issues or the rule's first differ from the simulator's; nothing where they
/// do not.
class Comparison {
 public:
  Comparison(const RandomJob& random, const Alter& alter)
      : random_(random),
        planner_(random.planner()),
        job_(simulator::compile(planner_, random.input, {.steps = kSteps, .fold = false})) {
    plan::PlanInput input = random.input;
    for (input.rank = 0; input.rank < input.world; ++input.rank) {
      plan::Setup setup = planner_.setup(input);
      plan::CommPlan plan = planner_.plan(input, setup, 0);
      if (alter) {
        alter(setup, plan);
      }
      ranks_.emplace_back(input.model, input.rank, std::move(setup), std::move(plan));
    }
  }

  std::optional<std::string> first_difference(Seen& seen) {
    for (const auto& [now, moment] : timeline(random_, job_)) {
      const auto begun = pass_on(moment);
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        if (const auto difference = issue(r, now, begun[r], seen)) {
          return fmt::format("{} ps, rank {}: {}", now, r, *difference);
        }
      }
    }
    return std::nullopt;
  }

 private:
  struct Begun {
    std::optional<OpRef> issued, kernel;
  };

  /// Tells the ranks what has ended; returns what they must begin.
  std::vector<Begun> pass_on(const Moment& moment) {
    std::vector<Begun> begun(ranks_.size());
    for (const ItemId id : moment.begun) {
      const simulator::Item& item = job_.items[id];
      if (item.op == 0) {  // the first forward
        ranks_[item.actor].open(item.step);
      } else if (simulator::communicates(item)) {
        begun[item.actor].issued = OpRef{item.step, item.op};
      } else if (!simulator::is_model_work(item)) {
        begun[item.actor].kernel = OpRef{item.step, item.op};
      }
    }
    for (const ItemId id : moment.ended) {
      const simulator::Item& item = job_.items[id];
      ranks_[item.actor].end({item.step, item.op});
    }
    return begun;
  }

  std::optional<std::string> issue(std::size_t r, plan::Picoseconds now, const Begun& begun,
                                   Seen& seen) {
    ScheduledRank& rank = ranks_[r];
    if (const auto kernel = rank.take_kernel(); kernel != begun.kernel) {
      return "runs the kernel " + text(kernel) + ", not " + text(begun.kernel);
    }
    const bool free = now >= rank.issues_until;
    const auto rule = free ? rank.first_by_the_rule(seen) : std::nullopt;
    const auto issued = free ? rank.take_communication(seen) : std::nullopt;
    if (issued != begun.issued || rule != begun.issued) {
      return fmt::format("the simulator issues {}, the runtime {}, the rule {}", text(begun.issued),
                         text(issued), text(rule));
    }
    if (issued) {
      rank.issues_until = now + random_.costs.software.issue;
      if (const auto* group = rank.picked_for(*issued)) {
        for (std::size_t m = 1; m < group->members.size(); ++m) {
          ranks_[static_cast<std::size_t>(group->members[m])].follow(rank.on(*issued),
                                                                     rank.pick_of(*issued));
        }
      }
    }
    return std::nullopt;
  }

  const RandomJob& random_;
  const plan::HandPlanner planner_;
  const simulator::Job job_;
  std::deque<ScheduledRank> ranks_;
};

TEST(IssueOrder, OfTheRuntimeIsThatOfTheSimulatorAndOfTheRule) {
  Seen seen;
  for (std::uint32_t seed = 0; seed < kJobs; ++seed) {
    const RandomJob job(seed);
    ASSERT_EQ(Comparison(job, {}).first_difference(seen), std::nullopt) << "seed " << seed;
  }
  EXPECT_GT(seen.overtaken, 100) << "or the test says little";
  EXPECT_GT(seen.held, 100) << "or the test says little";
}

/// In how many of the jobs the runtime differs.
std::uint32_t differences(const Alter& alter) {
  Seen seen;
  std::uint32_t count = 0;
  for (std::uint32_t seed = 0; seed < kJobs; ++seed) {
    const RandomJob job(seed);
    count += Comparison(job, alter).first_difference(seen) ? 1U : 0U;
  }
  return count;
}

TEST(IssueOrder, OfARuntimeWithoutCreditPriorityOrOrderDiffers) {
  const auto of_groups = [](const auto& change) {
    return [change](plan::Setup& setup, plan::CommPlan&) {
      std::ranges::for_each(setup.communicators, change);
    };
  };
  EXPECT_GT(differences(of_groups([](plan::Communicator& group) {
              group.credit_bytes = std::numeric_limits<std::int64_t>::max();
            })),
            kJobs / 10);
  EXPECT_GT(
      differences(of_groups([](plan::Communicator& group) { group.order = IssueOrder::kProgram; })),
      kJobs / 10);
  EXPECT_GT(differences([](plan::Setup&, plan::CommPlan& plan) {
              for (plan::Op& op : plan.ops) {
                op.priority = plan::communicator_of(op).has_value() ? 0 : op.priority;
              }
            }),
            kJobs / 10);
}

}  // namespace
}  // namespace paceline::execution
