// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>

#include "paceline/plan/comm_plan.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// The collectives of one communicator that wait to be issued on this rank,
/// and the bytes of those under way.
///
/// kProgram: in program order.  kPriority: the communicator's first member
/// picks the ready one of smallest (priority, step, index) and the others
/// follow its picks, in its order.  Either way nothing that counts bytes is
/// issued while the bytes under way reach the credit.
class IssueQueue {
 public:
  using IsReady = std::function<bool(plan::OpRef)>;

  IssueQueue() = default;
  IssueQueue(const plan::Communicator& group, bool leads)
      : order_(group.order), leads_(leads), credit_bytes_(group.credit_bytes) {}

  /// A step was opened: `ref` comes behind what is queued.
  void push(plan::OpRef ref, std::int32_t priority, std::int64_t bytes);

  /// Removes and returns the op to issue now; it counts as under way.
  std::optional<plan::OpRef> pop(const IsReady& is_ready);

  /// An op of so many bytes has ended, or could not start.
  void end(std::int64_t bytes) { under_way_bytes_ -= bytes; }

  bool by_priority() const { return order_ == plan::Order::kPriority; }

  /// Whether this rank picks for the others.
  bool picks() const { return by_priority() && leads_; }

  /// Whether to ask for the first member's next pick now: one at a time, as
  /// many as there are ops.  It then counts as asked.
  bool ask();

  /// The first member's next pick has arrived.
  void follow(plan::OpRef pick);

 private:
  struct Waiting {
    plan::OpRef ref;
    std::int32_t priority = 0;
    std::int64_t bytes = 0;
  };
  std::deque<Waiting>::iterator next(const IsReady& is_ready);
  bool is_held(const Waiting& waiting) const {
    return waiting.bytes > 0 && under_way_bytes_ >= credit_bytes_;
  }

  plan::Order order_ = plan::Order::kProgram;
  bool leads_ = true;
  std::int64_t credit_bytes_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t under_way_bytes_ = 0;
  std::int64_t pushed_ = 0, heard_ = 0;  // ops and picks, over all steps
  bool asking_ = false;
  std::deque<Waiting> waiting_;
  std::deque<plan::OpRef> picks_;
};

}  // namespace paceline::execution
