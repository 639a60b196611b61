// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "paceline/engines/backend_wrapper.h"
#include "paceline/engines/link.h"
#include "paceline/engines/waiters.h"
#include "paceline/engines/work_futures.h"

namespace paceline::engines {

/// A c10d backend that wraps another one, whose operations end no sooner than
/// an emulated link would have delivered them.  The inner backend moves the
/// bytes.
///
/// Bytes are counted as the ledger counts them (plan/wire_bytes.h), latencies
/// as latencies_of() does.  A message is held at both ends: its sender from the
/// moment it sends, its receiver from the moment the engine has brought it.
/// Messages from one rank to another follow each other, as on one connection
/// and as in the simulator.  For tensors on the CPU.
class LinkBackend final : public BackendWrapper {
 public:
  /// `name` is the communicator's, equal on all members; the engine carries
  /// `concurrent` of its collectives at once, 0: all.
  LinkBackend(c10::intrusive_ptr<c10d::Backend> inner,
              std::shared_ptr<Link> link,
              std::string name,
              int concurrent);

 private:
  Work perform(const Operation& operation, const Issue& issue) override;
  Work hold(const Operation& operation, const Issue& issue);
  Work hold_receive(const Operation& operation, const Issue& issue);
  VirtualLink::Lane lane_of(const Operation& message);
  LinkedName name_of(const Operation& message);

  std::shared_ptr<Link> link_;
  std::string name_;
  VirtualLink::Lane lane_;                // of collectives
  std::atomic<std::int64_t> issued_ = 0;  // collectives
  std::map<std::pair<Link::Direction, int>, VirtualLink::Lane>
      lanes_;  // by peer
  // By sender, receiver and tag; messages of one tag match in their order.
  std::map<std::tuple<int, int, int>, std::int64_t> messages_;
  WorkFutures futures_;
  Waiters waiters_;  // last: its threads wait for the inner one's operations
};

}  // namespace paceline::engines
