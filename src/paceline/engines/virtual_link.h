// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/shared_link.h"

namespace paceline::engines {

using cluster::latency_count;
using cluster::LinkSpec;

/// One direction of a rank's link in virtual time.  The transfers in flight share the rate evenly
/// (cluster/shared_link.h); each transfer waits for its latencies and then moves its bytes, as in
/// the simulator.  Times are nanoseconds of any clock.
///
/// A lane is a queue before the link, for an engine that carries a limited number of transfers at a
/// time: the next transfer begins when an earlier one is delivered.
class VirtualLink {
 public:
  using Transfer = std::int64_t;
  using Lane = cluster::SharedLink::Lane;
  struct Delivery {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
  };
  static constexpr Lane kUnlimitedLane = 0;  // the lane that carries all transfers at once

  explicit VirtualLink(const LinkSpec& spec);

  /// `concurrent` is the number of transfers carried at a time; 0: all at once.
  Lane add_lane(int concurrent) {
    lanes_.push_back(concurrent);
    return link_.add_lane(concurrent);
  }

  /// Starts a transfer. `at_ns` may be earlier than the time of the last advance(): all later ends
  /// then account for this transfer, except ends that advance() has already returned.
  Transfer start(std::int64_t at_ns, std::int64_t bytes, int latencies, Lane lane = kUnlimitedLane);

  /// Returns the transfers that have been delivered until `now_ns`, in order of time.
  std::vector<Delivery> advance(std::int64_t now_ns);

  /// Returns when each of these transfers, none of which is delivered yet, would be delivered if
  /// nothing else started.
  std::vector<std::int64_t> delivery_times_of(const std::vector<Transfer>& transfers) const;

  /// Returns when to call advance() again: no later than the next delivery, if no transfer starts
  /// before.
  std::optional<std::int64_t> next_delivery() const;

 private:
  /// A transfer that has started since the link was last idle.
  struct StartedTransfer {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
    Lane lane = kUnlimitedLane;
    cluster::SharedLink::Demand demand;
  };
  void add(const StartedTransfer& one);
  void restart_simulation();

  cluster::SharedLink::Ticks ticks_of(std::int64_t now_ns) const;
  std::int64_t nanoseconds_of(cluster::SharedLink::Ticks ticks) const;

  LinkSpec spec_;
  std::optional<std::int64_t> origin_ns_;  // time of tick 0: the first start
  std::int64_t now_ns_ = std::numeric_limits<std::int64_t>::min();
  Transfer next_ = 0;
  std::vector<int> lanes_;                // by lane: number of concurrent transfers
  std::vector<StartedTransfer> started_;  // transfers since the link was last idle, in order of
                                          // time
  std::set<Transfer> delivered_;          // the delivered ones among started_
  cluster::SharedLink link_;
  std::vector<Transfer> transfers_;  // by the index of link_'s operation
};

}  // namespace paceline::engines
