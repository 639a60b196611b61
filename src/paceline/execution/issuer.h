// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>

#include "paceline/plan/frontier.h"

namespace paceline::execution {

/// Where an Issuer reports, from any of its threads.
class IssueListener {
 public:
  virtual ~IssueListener() = default;
  /// A collective or an exchange has ended; `error` is null where it succeeded.
  virtual void op_ended(plan::OpRef ref, const std::exception_ptr& error) = 0;
  /// The pick that receive_pick() asked for has arrived, or cannot.
  virtual void pick_arrived(std::size_t on,
                            plan::OpRef pick,
                            const std::exception_ptr& error) = 0;
};

/// Starts communication on an engine.  `on` is a CommunicatorId as an index.
class Issuer {
 public:
  /// Makes the end of a started op known.
  using Watch = std::function<void()>;

  virtual ~Issuer() = default;

  /// A step begins; called for every step, before start() of its ops.
  virtual void open(plan::Step /*step*/, const plan::CommPlan& /*plan*/) {}

  /// Starts the op and returns at once; throws where it cannot start.  Called
  /// with the caller's lock held, in the order of issue of each communicator.
  /// The listener hears of the op's end only after the returned function was
  /// called, and then perhaps before that function returns, on its thread.
  virtual Watch start(plan::OpRef ref, const plan::Op& op) = 0;

  /// Whether ops run in the order of a device's queue: then an op counts as
  /// complete once the function that start() returned was called, which orders
  /// later work behind the op on the device, and the listener is told nothing.
  virtual bool is_asynchronous() const { return false; }

  /// Sends the op that this rank, the first member, has picked to the others.
  virtual void send_pick(std::size_t on, plan::OpRef pick) = 0;
  /// Asks for the first member's next pick.
  virtual void receive_pick(std::size_t on) = 0;
};

}  // namespace paceline::execution
