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

/// The collectives and exchanges of one communicator that wait to be issued on this rank, and the
/// bytes of those in flight.
///
/// They are issued by the rule of plan/issue_rule.h, which knows ops by their numbers.  Here ops
/// are known by step and index, and picks as the rule knows them: the members' indices of a
/// collective may differ.
class IssueQueue {
 public:
  using IsReady = std::function<bool(plan::OpRef)>;
  using Pick = plan::IssueRule::Number;  // among collectives

  IssueQueue(const plan::Communicator& group, bool leads)
      : rule_(group.order, group.credit_bytes, leads) {}

  /// A step was opened: `ref` comes behind what is queued.
  void push(plan::OpRef ref, bool collective, std::int32_t priority, std::int64_t bytes);

  /// The op to issue now.  Collectives only are picked for the others.
  std::optional<plan::OpRef> next(const IsReady& is_ready);

  /// Issues and returns the op that next() has returned last: its bytes are in flight.
  plan::OpRef issue();

  /// An op of so many bytes has ended, or could not start.
  void end(std::int64_t bytes) { rule_.end(bytes); }

  bool reorders() const { return rule_.reorders(); }

  /// Whether this rank picks for the others.
  bool picks() const { return rule_.picks(); }

  /// The pick that the collective is which issue() has returned last.
  Pick last_pick() const { return last_pick_; }

  /// Whether to ask for the first member's next pick now: one at a time, as many as there are ops.
  /// It then counts as requested.
  bool request_pick();

  /// The first member's next pick has arrived.
  void follow(Pick pick);

 private:
  struct Waiting {
    plan::OpRef ref;
    bool ready = false;  // as rule_ knows it
  };
  const Waiting& at(plan::IssueRule::Number number) const {
    return waiting_[static_cast<std::size_t>(number - rule_.first())];
  }
  void find_ready(const IsReady& is_ready);

  plan::IssueRule rule_;
  std::deque<Waiting> waiting_;  // by number in rule_, from rule_.first() on
  Pick last_pick_ = 0;
  std::int64_t requested_ = 0;
  bool requesting_ = false;
};

}  // namespace paceline::execution
