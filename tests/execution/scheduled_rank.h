// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "paceline/execution/scheduler.h"
#include "paceline/plan/cost.h"

namespace paceline::testing {

/// What happened on the way, over all ranks.
struct Seen {
  int overtaken = 0;  // ops, by one behind it on its communicator
  int held = 0;       // ops, by the credit
};

/// A rank of the runtime: its scheduler, and what the issue rule must know of it where the rule is
/// written down once more.
class ScheduledRank {
 public:
  ScheduledRank(const plan::ModelShape& model, plan::Rank rank, plan::Setup setup,
                plan::CommPlan plan)
      : rank_(rank),
        setup_(std::move(setup)),
        plan_(std::make_shared<const plan::CommPlan>(std::move(plan))),
        scheduler_(model, setup_, rank),
        groups_(setup_.communicators.size()) {}

  void open(plan::Step step) {
    scheduler_.open(step, plan_);
    for (std::size_t i = 0; i < plan_->ops.size(); ++i) {
      if (plan::communicator_of(plan_->ops[i])) {
        const plan::OpRef ref{step, static_cast<plan::OpIndex>(i)};
        waiting_.push_back(ref);
        if (is_collective(ref)) {
          picks_.emplace(ref, groups_[on(ref)].collectives++);
        }
      }
    }
  }

  void end(plan::OpRef ref) {
    if (plan::communicator_of(op(ref))) {
      groups_[on(ref)].in_flight -= bytes(ref);
    } else if (kernel_ == ref) {
      kernel_.reset();
    }
    scheduler_.complete(ref);
  }

  /// One kernel runs at a time.
  std::optional<plan::OpRef> take_kernel() {
    if (kernel_) {
      return std::nullopt;
    }
    kernel_ = scheduler_.take_kernel();
    return kernel_;
  }

  /// Of the ops that may be issued, the first by (priority, step, index).
  std::optional<plan::OpRef> first_by_the_rule(Seen& seen) const {
    std::optional<std::pair<std::int32_t, plan::OpRef>> first;
    std::set<std::size_t> passed;  // communicators with an op before
    for (const plan::OpRef ref : waiting_) {
      const Group& group = groups_[on(ref)];
      const plan::Communicator& communicator = setup_.communicators[on(ref)];
      const bool heads = passed.insert(on(ref)).second;
      const bool in_turn =
          communicator.order == plan::IssueOrder::kProgram
              ? heads
              : !follows(ref) || (!group.picks.empty() && group.picks.front() == pick_of(ref));
      if (!in_turn || !scheduler_.frontier().is_ready(ref)) {
        continue;
      }
      const std::pair urgency(op(ref).priority, ref);
      if (bytes(ref) > 0 && group.in_flight >= communicator.credit_bytes) {
        ++seen.held;
      } else if (!first || urgency < *first) {
        first = urgency;
      }
    }
    return first ? std::optional(first->second) : std::nullopt;
  }

  std::optional<plan::OpRef> take_communication(Seen& seen) {
    const auto ref = scheduler_.take_communication(0);
    if (ref) {
      const auto found = std::ranges::find(waiting_, *ref);
      seen.overtaken +=
          std::any_of(waiting_.begin(), found, [&](plan::OpRef it) { return on(it) == on(*ref); });
      waiting_.erase(found);
      groups_[on(*ref)].in_flight += bytes(*ref);
      if (follows(*ref)) {
        groups_[on(*ref)].picks.pop_front();
      }
    }
    return ref;
  }

  /// The communicator of which the op is a pick for the other members.
  const plan::Communicator* picked_for(plan::OpRef ref) const {
    return is_collective(ref) && scheduler_.queue_of(ref).picks() ? &setup_.communicators[on(ref)]
                                                                  : nullptr;
  }
  void follow(std::size_t group, execution::IssueQueue::Pick pick) {
    groups_[group].picks.push_back(pick);
    scheduler_.queues()[group].follow(pick);
  }

  std::size_t on(plan::OpRef ref) const { return plan::index_of(*plan::communicator_of(op(ref))); }

  /// The number of a collective among those of its communicator.
  execution::IssueQueue::Pick pick_of(plan::OpRef ref) const { return picks_.at(ref); }

  plan::Picoseconds issues_until = 0;

 private:
  struct Group {
    std::int64_t in_flight = 0;
    execution::IssueQueue::Pick collectives = 0;
    std::deque<execution::IssueQueue::Pick> picks;  // not issued here
  };

  const plan::Op& op(plan::OpRef ref) const { return plan_->ops[static_cast<std::size_t>(ref.op)]; }
  std::int64_t bytes(plan::OpRef ref) const { return plan::credit_bytes_of(setup_, op(ref)); }
  bool is_collective(plan::OpRef ref) const {
    return std::holds_alternative<plan::Collective>(op(ref).work);
  }
  bool follows(plan::OpRef ref) const {
    const plan::Communicator& group = setup_.communicators[on(ref)];
    return group.order == plan::IssueOrder::kPriority && is_collective(ref) &&
           group.members.front() != rank_;
  }

  plan::Rank rank_;
  plan::Setup setup_;
  std::shared_ptr<const plan::CommPlan> plan_;
  execution::Scheduler scheduler_;
  std::vector<Group> groups_;  // by CommunicatorId
  std::map<plan::OpRef, execution::IssueQueue::Pick> picks_;
  std::vector<plan::OpRef> waiting_;  // not issued, in program order
  std::optional<plan::OpRef> kernel_;
};

}  // namespace paceline::testing
