// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>

#include "paceline/execution/device.h"
#include "paceline/execution/issue_queue.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// The object to which an Issuer reports, from any of its threads.
class IssueListener {
 public:
  virtual ~IssueListener() = default;
  /// Reports that a collective or an exchange has ended; `error` is null if it succeeded.
  virtual void op_ended(plan::OpRef ref, const std::exception_ptr& error) = 0;
  /// Reports that a collective or an exchange is enqueued in a stream of the device; `event`
  /// follows it and marks its end.
  virtual void op_enqueued(plan::OpRef ref, EventPtr event) = 0;
  /// Reports that the pick requested by receive_pick() has arrived, or with an `error` that it
  /// cannot arrive.
  virtual void pick_arrived(std::size_t on, IssueQueue::Pick pick,
                            const std::exception_ptr& error) = 0;
};

/// Starts communication on an engine.  `on` is a CommunicatorId as an index.
class Issuer {
 public:
  virtual ~Issuer() = default;

  /// Reports that a step begins.  Called for every step before start() of its ops, perhaps while
  /// another thread starts ops of earlier steps.
  virtual void open(plan::Step /*step*/, const plan::CommPlan& /*plan*/) {}

  /// Starts the op; throws if it cannot start.  On the host, calls the listener when the op ends,
  /// perhaps on this thread before this function returns; on a device, when the op is enqueued,
  /// after the events `before`.  One thread at a time calls this function, in the order of issue of
  /// each communicator, and holds no lock.
  virtual void start(plan::OpRef ref, const plan::Op& op, const Events& before) = 0;

  /// Sends the collective that this rank, the first member, has picked to the other members.
  /// Called under the same conditions as start().
  virtual void send_pick(std::size_t on, IssueQueue::Pick pick) = 0;
  /// Requests the first member's next pick.  Called under the same conditions as start().
  virtual void receive_pick(std::size_t on) = 0;
};

}  // namespace paceline::execution
