// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

#include "paceline/plan/comm_plan.h"

namespace paceline::plan {

/// The next op on one communicator of a rank that may be issued now. A rank compares the candidates
/// of all its communicators and issues the smallest one first. `place` is the op's position in the
/// program.
template <typename Place>
struct IssueCandidate {
  std::int32_t priority = 0;
  Place place{};
  std::size_t queue = 0;  // index of the communicator's queue

  friend auto operator<=>(const IssueCandidate&, const IssueCandidate&) = default;
};

/// Whether a rank issues the ops of all communicators in program order, because its engine needs
/// one order (EngineTraits::one_issue_order).  False if a communicator has IssueOrder::kPriority,
/// whose leader chooses that order itself.
template <class Communicators>
bool issues_in_program_order(const Communicators& communicators, bool one_issue_order) {
  return one_issue_order && std::ranges::none_of(communicators, [](const auto& communicator) {
           return communicator.order == IssueOrder::kPriority;
         });
}

/// Throws UsageError if the leader of a communicator with IssueOrder::kPriority cannot choose the
/// one order that `engine` needs: it does not know the order of another communicator, and it orders
/// collectives only.
void require_one_order(const Planner& planner, const PlanInput& input, const Setup& setup,
                       std::string_view engine);

/// The issue rule: it decides which op of a communicator a rank issues next.
///
/// The runtime, the simulator, `verify` and the planner of `bytescheduler` all ask this class, one
/// instance for each communicator of each rank.
///
/// An op can be issued once it is ready, which the caller reports, and while the bytes in flight on
/// the communicator are below the credit.  The credit never holds back an op of 0 bytes.
///
/// - IssueOrder::kProgram: ops are issued in program order.
/// - IssueOrder::kPriority: the leader, which is the first member, picks its
///   ready op of smallest (priority, program order).  The other members issue
///   collectives in the order of the leader's picks.  Exchanges are matched by
///   tag, so every member picks its own exchanges.
/// - IssueOrder::kAsReady: every member picks its own ops in that way; only
///   exchanges are allowed there (`verify`).
///
/// An op is identified by its number: its position in program order among the rank's ops on the
/// communicator, over all steps.  A pick is identified by the number of the collective among the
/// collectives of the communicator, which is equal on all members (plan/matching.h).
class IssueRule {
 public:
  using Number = std::int64_t;

  /// `is_leader` says whether the rank is the communicator's first member.
  IssueRule(IssueOrder order, std::int64_t credit_bytes, bool is_leader)
      : order_(order), credit_bytes_(credit_bytes), is_leader_(is_leader) {}

  /// Appends the next op in program order and returns its number.  `bytes` count against the
  /// credit.
  Number add(bool collective, std::int32_t priority, std::int64_t bytes);

  /// Reports that everything the op waits for on its rank is complete.
  void ready(Number op);

  /// The op to issue now; nullopt if no op may be issued.
  std::optional<Number> next() const;

  /// Reports that the op returned by next() is issued, so its bytes are in flight.
  void issue(Number op);

  /// Reports that an op of `bytes` bytes is complete or could not be started.
  void end(std::int64_t bytes) { in_flight_bytes_ -= bytes; }

  /// The first op that is not issued yet; if all added ops are issued, the next op to be added.
  Number first() const { return first_; }

  /// Whether ops may be issued in an order other than program order.
  bool reorders() const { return order_ != IssueOrder::kProgram; }

  /// Whether this rank is a leader, which picks the next collective for the other members.
  bool picks() const { return order_ == IssueOrder::kPriority && is_leader_; }

  /// Whether the rank issues collectives in the order of the leader's picks.
  bool follows() const { return order_ == IssueOrder::kPriority && !is_leader_; }

  /// Returns the op's number among the communicator's collectives.  The op must not have been
  /// issued.
  Number collective_number(Number op) const;

  /// Reports the leader's next pick, by its number among collectives, to a member that is not the
  /// leader.
  void follow(Number collective);

  /// The number of collectives added to this communicator since the start.
  Number collectives() const { return collectives_; }

  /// Whether `op` must wait because the bytes in flight have used up the communicator's credit.
  bool is_held_by_credit(Number op) const { return is_held_by_credit(at(op)); }

  /// The op that must be issued before `op`, which is not issued: the first op in program order, or
  /// the leader's pick.  nullopt if the order allows `op`, or if the leader's pick is missing.
  std::optional<Number> op_required_before(Number op) const;

 private:
  struct Entry {
    std::int32_t priority = 0;
    bool collective = false, ready = false, issued = false;
    std::int64_t bytes = 0;
    Number collective_number = 0;
  };
  using Choice = std::pair<std::int32_t, Number>;  // priority and number of an op
  using Choices = std::priority_queue<Choice, std::vector<Choice>, std::greater<>>;

  const Entry& at(Number op) const { return entries_[static_cast<std::size_t>(op - first_)]; }
  Entry& at(Number op) { return entries_[static_cast<std::size_t>(op - first_)]; }
  bool credit_is_spent() const { return in_flight_bytes_ >= credit_bytes_; }
  bool is_held_by_credit(const Entry& entry) const { return entry.bytes > 0 && credit_is_spent(); }
  bool can_be_issued(const Entry& entry) const { return entry.ready && !is_held_by_credit(entry); }
  /// Whether this rank chooses itself when to issue the op, without a leader's pick.
  bool is_own_pick(const Entry& entry) const {
    return order_ == IssueOrder::kAsReady ||
           (order_ == IssueOrder::kPriority && (is_leader_ || !entry.collective));
  }
  /// The op of the first pick that is not issued; nullopt if there is no pick or its op is not
  /// added yet.
  std::optional<Number> picked_op() const;
  Choices& choices_of(const Entry& entry) {
    return entry.bytes > 0 ? choices_with_bytes_ : choices_without_bytes_;
  }

  IssueOrder order_;
  std::int64_t credit_bytes_;
  bool is_leader_;
  std::int64_t in_flight_bytes_ = 0;
  std::deque<Entry> entries_;                           // the ops from number first_ on
  Number first_ = 0;                                    // the first op that is not issued
  Choices choices_with_bytes_, choices_without_bytes_;  // ready ops that the rank picks itself
  Number collectives_ = 0;                              // number of collectives among all added ops
  // On a member that follows: its collectives from number first_collective_ on, and the picks that
  // it has not issued, by number.
  std::deque<Number> followed_collectives_;
  Number first_collective_ = 0;
  std::deque<Number> picks_;
};

}  // namespace paceline::plan
