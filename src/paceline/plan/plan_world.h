// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "paceline/base/error.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/plan/matching.h"
#include "paceline/plan/plan_input.h"

namespace paceline::plan {

/// An error in plans that cannot be run, which names the ranks and ops.  The program exits with
/// code 2.
class PlanError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The variants of the first `steps` steps.
std::vector<Variant> variants_of_steps(const Planner& planner, const PlanInput& input, Step steps);

/// The plans of all ranks for the first steps. Each collective and each message is matched with the
/// ops of its other ranks (plan/matching.h). The constructor checks everything that can be checked
/// without running the plans.
class PlanWorld {
 public:
  /// One op of one step, in the list of all ops of a rank.
  struct Item {
    Step step = 0;
    OpIndex index = 0;
    const Op* op = nullptr;
    std::size_t collective = 0;           // if `op` is a Collective: index in collectives()
    std::vector<std::size_t> sends{};     // if `op` is an Exchange: indices in messages()
    std::vector<std::size_t> receives{};  // if `op` is an Exchange: indices of received messages in
                                          // messages()
  };
  /// A collective with one item per member of the communicator, in the order of the members.
  struct MatchedCollective {
    CommunicatorId on{};
    Rank first = 0;  // the first member
    std::vector<std::size_t> items;
  };
  /// A message with the items that send and receive it.
  struct MatchedMessage {
    Rank from = 0, to = 0;
    std::size_t send_item = 0, receive_item = 0;
  };
  struct ItemRef {
    Rank rank = 0;
    std::size_t item = 0;

    friend auto operator<=>(const ItemRef&, const ItemRef&) = default;
  };

  /// Makes steps 0 .. steps-1 of the plans of input.world ranks, each from `input` with the rank's
  /// own number.  Throws PlanError for plans that do not match.
  PlanWorld(const Planner& planner, const PlanInput& input, Step steps)
      : PlanWorld(planner, input, variants_of_steps(planner, input, steps)) {}

  /// Makes one step for each of `variants`, in this order.
  PlanWorld(const Planner& planner, const PlanInput& input, const std::vector<Variant>& variants);
  PlanWorld(const PlanWorld&) = delete;  // items point into their plans
  PlanWorld& operator=(const PlanWorld&) = delete;

  Rank ranks() const { return static_cast<Rank>(rank_plans_.size()); }
  const PlanInput& input(Rank rank) const { return rank_plan_of(rank).input; }
  const Setup& setup(Rank rank) const { return rank_plan_of(rank).setup; }
  /// The ops of all steps of a rank, in program order.
  const std::vector<Item>& items(Rank rank) const { return rank_plan_of(rank).items; }
  const std::vector<MatchedCollective>& collectives() const { return collectives_; }
  const std::vector<MatchedMessage>& messages() const { return messages_; }
  /// The communicator with this id as the setup of `rank` states it.
  const Communicator& communicator(Rank rank, CommunicatorId id) const {
    return rank_plan_of(rank).setup.communicators[index_of(id)];
  }
  const Communicator& communicator(const MatchedCollective& collective) const {
    return communicator(collective.first, collective.on);
  }

  /// Returns the ops that must be issued before the collective or exchange at `place` can complete:
  /// of a collective, the op of each member, including `place` itself; of an exchange, the ops at
  /// the other ends of its messages.
  std::vector<ItemRef> partners(const ItemRef& place) const;

  /// For each item, the items of the same rank that it waits for or excludes.
  struct ItemDependencies {
    std::vector<std::vector<std::size_t>> waits_for, excludes;
  };
  ItemDependencies order(Rank rank) const;

  /// Describes an op, as in "rank 1, step 0, op 12: all-reduce, ..."
  std::string describe(const ItemRef& place) const;

 private:
  struct RankPlan {
    PlanInput input;
    Setup setup;
    std::map<Variant, CommPlan> plans;
    std::vector<const CommPlan*> steps;
    std::vector<Item> items;
    Endpoints ends;
  };

  const RankPlan& rank_plan_of(Rank rank) const {
    return rank_plans_[static_cast<std::size_t>(rank)];
  }
  void check_setups() const;
  void check_ops(Rank rank) const;
  void check_parameters(Rank rank) const;
  void check_slice(const ItemRef& place, const Slice& slice) const;
  void check_member(const ItemRef& place, CommunicatorId on) const;
  void check_members(const Communicator& communicator, std::size_t on) const;
  void match_collectives();
  void match_group(const Communicator& group, CommunicatorId on);
  void match_messages();
  void match_messages_between(Rank from, Rank to, CommunicatorId on);
  void check_agreement(const ItemRef& first, const ItemRef& other) const;
  [[noreturn]] void reject(const ItemRef& place, const std::string& why) const;

  std::vector<RankPlan> rank_plans_;  // by rank
  std::vector<MatchedCollective> collectives_;
  std::vector<MatchedMessage> messages_;
};

}  // namespace paceline::plan
