// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/engines/backend_wrapper.h"
#include "paceline/engines/link.h"
#include "paceline/engines/waiters.h"
#include "paceline/engines/work_futures.h"

namespace paceline::engines {

/// A c10d backend that wraps another backend.  Its operations end no sooner than an emulated link
/// would have delivered them; the inner backend moves the bytes.
///
/// Bytes are counted as in the ledger (plan/wire_bytes.h), latencies by latency_count().  A message
/// is delayed at both ends: by the sender's link from the moment of the send, by the receiver's
/// link from the moment when both sides have issued it.  To this end each message is preceded by a
/// stamp, which says when the message was sent and when the sender's link will have ended it if
/// nothing else is sent meanwhile; the message ends no sooner than that.  The stamps of a group
/// account for all messages of the group.  The ledger does not count stamps.  Messages from one
/// rank to another are delivered one after the other, as on one connection and as in the simulator.
/// Only for tensors on the CPU.
class LinkBackend final : public BackendWrapper {
 public:
  /// `name` is the communicator's name, equal on all members; the engine performs `concurrent` of
  /// its collectives at a time, 0: all at once.
  LinkBackend(c10::intrusive_ptr<c10d::Backend> inner, std::shared_ptr<Link> link, std::string name,
              int concurrent);

  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override { grouping_ = true; }
  /// Returns a work that ends with the last message of the group.
  Work endCoalescing() override;

 private:
  Work perform(const Operation& operation, const Issue& issue) override;
  Work delay_by_link(const Operation& operation, const Issue& issue);
  Work delay_send(const Operation& message);
  Work delay_receive(const Operation& message, const Issue& issue);
  /// A message that the emulated link has started and that is not yet handed to the engine.
  struct Send {
    std::vector<at::Tensor> values;
    int peer = 0, tag = 0;
    std::int64_t sent_ns = 0;
    Link::Ticket ticket = 0;
  };
  void issue(Send& send, std::int64_t link_end_ns);
  void issue_all(std::vector<Send> sends);
  void watch_message(const Work& stamp, const Work& message, const std::function<void()>& stamped,
                     const Waiters::Done& done);
  VirtualLink::Lane lane_of(const Operation& message);
  LinkedOperationKey name_of(const Operation& message);

  std::shared_ptr<Link> link_;
  std::string name_;
  VirtualLink::Lane lane_;                                              // the lane of the link that
                                                                        // collectives use
  std::atomic<std::int64_t> issued_ = 0;                                // number of collectives
                                                                        // issued
  std::map<std::pair<Link::Direction, int>, VirtualLink::Lane> lanes_;  // lanes of messages, by
                                                                        // direction and peer
  bool grouping_ = false;
  std::vector<Send> sends_;  // messages sent in the current group
  std::vector<Work> works_;  // works of the current group
  // By sender, receiver and tag: number of messages; messages with equal tags match in their order.
  std::map<std::tuple<int, int, int>, std::int64_t> messages_;
  WorkFutures futures_;
  Waiters waiters_;  // destroyed first: its threads wait for the inner backend's operations
};

}  // namespace paceline::engines
