// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>

#include "paceline/execution/device.h"
#include "paceline/execution/issue_queue.h"
#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// Where an Issuer reports, from any of its threads.
class IssueListener {
 public:
  virtual ~IssueListener() = default;
  /// A collective or an exchange has ended; `error` is null where it succeeded.
  virtual void op_ended(plan::OpRef ref, const std::exception_ptr& error) = 0;
  /// A collective or an exchange stands in a stream of the device, in front of
  /// `event`, which tells its end.
  virtual void op_enqueued(plan::OpRef ref, EventPtr event) = 0;
  /// The pick that receive_pick() asked for has arrived, or cannot.
  virtual void pick_arrived(std::size_t on, IssueQueue::Pick pick,
                            const std::exception_ptr& error) = 0;
};

/// Starts communication on an engine.  `on` is a CommunicatorId as an index.
class Issuer {
 public:
  virtual ~Issuer() = default;

  /// A step begins; called for every step, before start() of its ops, perhaps while another thread
  /// starts ops of earlier steps.
  virtual void open(plan::Step /*step*/, const plan::CommPlan& /*plan*/) {}

  /// Starts the op; throws where it cannot start.  The listener is called when the op ends, perhaps
  /// before this returns and on this thread; on a device, when it is enqueued, behind `before`.
  /// One thread at a time calls it, in the order of issue of each communicator, and holds no lock.
  virtual void start(plan::OpRef ref, const plan::Op& op, const Events& before) = 0;

  /// Sends the collective that this rank, the first member, has picked to the others.  Called as
  /// start() is.
  virtual void send_pick(std::size_t on, IssueQueue::Pick pick) = 0;
  /// Asks for the first member's next pick.  Called as start() is.
  virtual void receive_pick(std::size_t on) = 0;
};

}  // namespace paceline::execution
