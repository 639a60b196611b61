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

using cluster::latencies_of;
using cluster::LinkSpec;

/// One direction of a rank's link in virtual time: the transfers in flight share the rate evenly
/// (cluster/shared_link.h); each waits for its latencies and then flows, as in the simulator.
/// Times are nanoseconds of any clock.
///
/// A lane is a queue before the link, of an engine that carries so many transfers at once: the next
/// one begins when one of them is delivered.
class VirtualLink {
 public:
  using Transfer = std::int64_t;
  using Lane = cluster::SharedLink::Lane;
  struct Delivery {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
  };
  static constexpr Lane kOpen = 0;  // the lane that carries all at once

  explicit VirtualLink(const LinkSpec& spec);

  /// `concurrent` 0: all at once.
  Lane add_lane(int concurrent) {
    lanes_.push_back(concurrent);
    return link_.add_lane(concurrent);
  }

  /// `at_ns` may lie before what has been advanced to: then all later ends are
  /// as they are with this transfer, but for those that advance() has said.
  Transfer start(std::int64_t at_ns, std::int64_t bytes, int latencies, Lane lane = kOpen);

  /// What has been delivered until `now_ns`, in order of time.
  std::vector<Delivery> advance(std::int64_t now_ns);

  /// When each of these would be delivered if nothing else started, of transfers that have not
  /// been.
  std::vector<std::int64_t> deliveries_of(const std::vector<Transfer>& transfers) const;

  /// When to ask again: not after the next delivery if none starts before.
  std::optional<std::int64_t> next_delivery() const;

 private:
  /// What has started since the link was last idle.
  struct Started {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
    Lane lane = kOpen;
    cluster::SharedLink::Demand demand;
  };
  void add(const Started& one);
  void start_again();

  cluster::SharedLink::Ticks ticks_of(std::int64_t now_ns) const;
  std::int64_t nanoseconds_of(cluster::SharedLink::Ticks ticks) const;

  LinkSpec spec_;
  std::optional<std::int64_t> origin_ns_;  // of ticks: the first start
  std::int64_t now_ns_ = std::numeric_limits<std::int64_t>::min();
  Transfer next_ = 0;
  std::vector<int> lanes_;        // how many each carries
  std::vector<Started> started_;  // in order of time
  std::set<Transfer> delivered_;  // of those
  cluster::SharedLink link_;
  std::vector<Transfer> transfers_;  // by the link's operation
};

}  // namespace paceline::engines
