// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "paceline/plan/frontier.h"
#include "paceline/plan/issue_rule.h"

namespace paceline::execution {

/// The collectives and exchanges of one communicator that this rank has not issued yet, and the
/// number of bytes in flight.
///
/// Ops are issued by the rule of plan/issue_rule.h, which identifies ops by numbers; this class
/// identifies them by step and index. A pick is the leader's choice of the collective to issue
/// next. It is a number among collectives, as in the rule, because a collective's index may differ
/// between members.
class IssueQueue {
 public:
  using IsReady = std::function<bool(plan::OpRef)>;
  using Pick = plan::IssueRule::Number;  // number of a collective in the rule

  IssueQueue(const plan::Communicator& group, bool is_leader)
      : rule_(group.order, group.credit_bytes, is_leader) {}

  /// Appends `ref`, an op of a step that was just opened, to the queue.
  void push(plan::OpRef ref, bool collective, std::int32_t priority, std::int64_t bytes);

  /// Returns the op to issue now.  If this rank picks for the others, it picks only collectives.
  std::optional<plan::OpRef> next(const IsReady& is_ready);

  /// Issues and returns the op that next() returned last; its bytes are in flight from now on.
  plan::OpRef issue();

  /// Reports that an op of `bytes` has ended, or could not start.
  void end(std::int64_t bytes) { rule_.end(bytes); }

  bool reorders() const { return rule_.reorders(); }

  /// Whether this rank is the leader, which picks the next collective for the other members.
  bool picks() const { return rule_.picks(); }

  /// The number of the collective that issue() returned last, as it is sent to the other members.
  Pick last_pick() const { return last_pick_; }

  /// Whether to request the first member's next pick now.  At most one request is open at a time,
  /// and there are as many requests as collectives.  If true, the pick counts as requested.
  bool request_pick();

  /// Reports that the leader's next pick has arrived at this rank.
  void follow(Pick pick);

 private:
  struct Waiting {
    plan::OpRef ref;
    bool ready = false;  // whether rule_ knows that it is ready
  };
  const Waiting& at(plan::IssueRule::Number number) const {
    return waiting_[static_cast<std::size_t>(number - rule_.first())];
  }
  void find_ready(const IsReady& is_ready);

  plan::IssueRule rule_;
  std::deque<Waiting> waiting_;  // indexed by (number in rule_) - rule_.first()
  Pick last_pick_ = 0;
  std::int64_t requested_ = 0;
  bool requesting_ = false;
};

}  // namespace paceline::execution
