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

/// An operation by a name that all of its members give it: the communicator, and how many it has
/// issued there before.
struct LinkedName {
  std::string channel;
  std::int64_t index = 0;
  int members = 1;

  auto operator<=>(const LinkedName&) const = default;
};

/// When an operation behind a link was issued, when the link would have delivered it and when the
/// engine had really done it, on this rank's clock.
struct LinkedOperation {
  LinkedName name;
  std::int64_t issued_ns = 0, modelled_ns = 0, engine_ns = 0;

  /// Negative where the engine was slower than the link.
  std::int64_t slack_ns() const { return modelled_ns - engine_ns; }
};

/// A rank's emulated link: operations end when the engine is done and the link would have delivered
/// them, whichever is later.
///
/// A rank's clock for an operation starts when this rank issues it, so of
/// ranks that issue at different times the last one sees the true end and the others may see it
/// sooner, by at most their lead.
class Link {
 public:
  using Now = std::function<std::int64_t()>;
  using Done = std::function<void(const std::exception_ptr& error)>;
  using Ticket = std::int64_t;
  enum class Direction : std::uint8_t { kOut, kIn };

  /// On the machine's clock, with a thread of its own.
  explicit Link(const LinkSpec& spec);
  /// On another clock, without a thread: `poll()` does what is due.
  Link(const LinkSpec& spec, Now now);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// A queue for an engine's operations of which it carries
  /// `concurrent` at once, 0: all.
  VirtualLink::Lane add_lane(int concurrent, Direction direction = Direction::kOut);

  /// An operation is issued; `done` is called once, from the link's thread, or at once with the
  /// error where the engine fails.  One without a name is not among take_operations().
  Ticket start(std::int64_t bytes, int latencies, Done done,
               std::optional<LinkedName> name = std::nullopt,
               VirtualLink::Lane lane = VirtualLink::kOpen);
  /// The engine has done its part of an operation.
  void engine_done(Ticket ticket, const std::exception_ptr& error);
  /// A message whose two sides have both issued it.
  struct Arrival {
    LinkedName name;
    std::int64_t bytes = 0;
    std::int64_t began_ns = 0;       // when the later side issued it
    std::int64_t sender_end_ns = 0;  // when its sender's link ends it
    VirtualLink::Lane lane = VirtualLink::kOpen;
  };
  /// The message is on its way to this rank, since before this call; it ends when this rank's link
  /// and its sender's have ended it.  `done` and engine_done() are as of start().
  Ticket receive(Arrival arrival, Done done);

  /// When this link will have delivered these operations of start(), which are in flight, if
  /// nothing else starts; 0 where one has been delivered.
  std::vector<std::int64_t> deliveries_of(const std::vector<Ticket>& tickets);

  std::int64_t now() const { return now_(); }

  void poll();

  /// Operations that have ended since the last call, in the order of their issue.
  std::vector<LinkedOperation> take_operations();

 private:
  struct Operation {
    Direction direction = Direction::kOut;
    VirtualLink::Transfer transfer = 0;
    Done done;
    std::int64_t issued_ns = 0;
    std::optional<std::int64_t> delivered_ns, engine_ns;
    std::int64_t sender_end_ns = 0;
    std::optional<LinkedName> name;
  };
  using Lock = std::unique_lock<std::mutex>;

  VirtualLink& model(Direction direction) { return direction == Direction::kOut ? out_ : in_; }
  Ticket add(Operation operation, Done done);
  void collect(Lock& lock);
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
