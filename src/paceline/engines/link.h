// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "paceline/engines/virtual_link.h"

namespace paceline::engines {

/// Identifies an operation by a name that is the same on all of its members: the communicator, and
/// the number of operations issued on it before.
struct LinkedOperationKey {
  std::string channel;
  std::int64_t index = 0;
  int members = 1;

  auto operator<=>(const LinkedOperationKey&) const = default;
};

/// Times of an operation on an emulated link, on this rank's clock: when it was issued, when the
/// link would have delivered it, and when the engine completed it.
struct LinkedOperation {
  LinkedOperationKey name;
  std::int64_t issued_ns = 0, modelled_ns = 0, engine_ns = 0;

  /// By how much earlier the engine was done than the link; negative if the engine was slower.
  std::int64_t slack_ns() const { return modelled_ns - engine_ns; }
};

/// A rank's emulated link: an operation ends when the engine has done it and the link would have
/// delivered it, whichever is later.
///
/// The emulated time of an operation on a rank starts when this rank issues it. If ranks issue it
/// at different times, the rank that issues last sees the correct end. The other ranks may see an
/// end that is too early, at most by the time by which they issued earlier.
class Link {
 public:
  using Now = std::function<std::int64_t()>;
  using Done = std::function<void(const std::exception_ptr& error)>;
  using Ticket = std::int64_t;
  enum class Direction : std::uint8_t { kOut, kIn };

  /// Uses the machine's clock and a thread of its own.
  explicit Link(const LinkSpec& spec);
  /// Uses another clock and no thread: the caller must call `poll()`.
  Link(const LinkSpec& spec, Now now);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Adds a queue for operations of an engine that performs `concurrent` of them at a time; 0: all
  /// at once.
  VirtualLink::Lane add_lane(int concurrent, Direction direction = Direction::kOut);

  /// Reports that an operation is issued.  `done` is called once: by the link's thread, or, if the
  /// engine fails, with the error in engine_done().  take_operations() omits an operation without a
  /// name.
  Ticket start(std::int64_t bytes, int latencies, Done done,
               std::optional<LinkedOperationKey> name = std::nullopt,
               VirtualLink::Lane lane = VirtualLink::kUnlimitedLane);
  /// Reports that the engine has done its part of an operation.
  void engine_done(Ticket ticket, const std::exception_ptr& error);
  /// A message that both its sender and its receiver have issued.
  struct IncomingMessage {
    LinkedOperationKey name;
    std::int64_t bytes = 0;
    std::int64_t began_ns = 0;       // when the later of the two sides issued it
    std::int64_t sender_end_ns = 0;  // when the sender's link will have sent the message
    VirtualLink::Lane lane = VirtualLink::kUnlimitedLane;
  };
  /// Reports that the message is on its way to this rank, since a time before this call; it ends
  /// when both this rank's link and its sender's link have ended it.  `done` and engine_done() work
  /// as for start().
  Ticket receive(IncomingMessage arrival, Done done);

  /// Returns when this link will have delivered these operations, which start() issued and which
  /// are in flight, if no other operation starts; 0 for an operation that is already delivered.
  std::vector<std::int64_t> delivery_times_of(const std::vector<Ticket>& tickets);

  std::int64_t now() const { return now_(); }

  void poll();

  /// Returns the operations that have ended since the last call, in the order of their issue.
  std::vector<LinkedOperation> take_operations();

 private:
  struct Operation {
    Direction direction = Direction::kOut;
    VirtualLink::Transfer transfer = 0;
    Done done;
    std::int64_t issued_ns = 0;
    std::optional<std::int64_t> delivered_ns, engine_ns;
    std::int64_t sender_end_ns = 0;
    std::optional<LinkedOperationKey> name;
  };
  using Lock = std::unique_lock<std::mutex>;

  VirtualLink& model(Direction direction) { return direction == Direction::kOut ? out_ : in_; }
  Ticket add(Operation operation, Done done);
  void store_deliveries(Lock& lock);
  std::vector<Done> take_finished(Lock& lock);
  std::optional<std::int64_t> next_event(Lock& lock) const;
  void run();

  Now now_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  VirtualLink out_, in_;
  Ticket next_ = 0;
  std::map<Ticket, Operation> operations_;
  std::map<Ticket, LinkedOperation> ended_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace paceline::engines
