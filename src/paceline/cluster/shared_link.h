// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "paceline/cluster/fair_share.h"

namespace paceline::cluster {

/// One link in virtual time, whose operations share its rate equally (cluster/fair_share.h).
///
/// An operation waits in its lane until the lane carries fewer operations than its limit.  Then it
/// starts up, and ends when its work has flowed over the link.  Times are ticks of any length that
/// never go back; the rate is work per 10^12 ticks.
class SharedLink {
 public:
  using Ticks = std::int64_t;
  using Lane = std::size_t;
  using Operation = std::size_t;  // 0, 1, ... in the order of add()

  explicit SharedLink(std::int64_t rate);

  /// Adds a lane on which at most `most` operations run at the same time.  0: no limit.
  Lane add_lane(std::int32_t most);

  struct Demand {
    Ticks before = 0;  // start-up time before the work flows
    std::int64_t work = 0;
  };
  Operation add(Ticks now, Lane lane, const Demand& demand);

  /// Returns when an operation next changes its state; nothing if no operation is left.
  std::optional<Ticks> next_event() const;

  /// Advances the simulated time to `now`.
  void advance(Ticks now);

  struct Ended {
    Operation operation = 0;
    Ticks at = 0;
  };
  /// The operations that have ended since the last call, in order of time.
  std::vector<Ended> take_ended() { return std::exchange(ended_, {}); }

 private:
  struct Queue {
    std::int32_t most = 0, carried = 0;
    std::deque<Operation> waiting;
  };
  struct State {
    Lane lane = 0;
    Demand demand;
  };

  void handle_events();
  void admit(Lane lane);
  void flow(Operation operation);
  void end(Operation operation);

  FairShare link_;
  Ticks now_ = 0;
  Operation added_ = 0;
  std::vector<Queue> lanes_;
  std::map<Operation, State> operations_;          // operations that have not ended
  std::set<std::pair<Ticks, Operation>> started_;  // ends of start-ups
  std::map<Operation, FairShare::FlowId> flowing_;
  std::vector<Ended> ended_;
};

}  // namespace paceline::cluster
