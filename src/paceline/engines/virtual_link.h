// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paceline/cluster/link_spec.h"
#include "paceline/plan/shared_link.h"

namespace paceline::engines {

using cluster::latencies_of;
using cluster::LinkSpec;

/// One direction of a rank's link in virtual time: the transfers in flight
/// share the rate evenly (plan/shared_link.h); each waits for its latencies and
/// then flows, as in the simulator.  Times are nanoseconds of any clock and
/// never go back.
///
/// A lane is a queue before the link, of an engine that carries so many
/// transfers at once: the next one begins when one of them is delivered.
class VirtualLink {
 public:
  using Transfer = std::int64_t;
  using Lane = plan::SharedLink::Lane;
  struct Delivery {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
  };
  static constexpr Lane kOpen = 0;  // the lane that carries all at once

  explicit VirtualLink(const LinkSpec& spec);

  /// `concurrent` 0: all at once.
  Lane add_lane(int concurrent) { return link_.add_lane(concurrent); }

  Transfer start(std::int64_t now_ns,
                 std::int64_t bytes,
                 int latencies,
                 Lane lane = kOpen);

  /// How long a transfer takes that has the link to itself, rounded up.
  std::int64_t alone_ns(std::int64_t bytes, int latencies) const;

  /// What has been delivered until `now_ns`, in order of time.
  std::vector<Delivery> advance(std::int64_t now_ns);

  /// When to ask again: not after the next delivery if none starts before.
  std::optional<std::int64_t> next_delivery() const;

 private:
  plan::SharedLink::Ticks ticks_of(std::int64_t now_ns) const;
  std::int64_t nanoseconds_of(plan::SharedLink::Ticks ticks) const;

  LinkSpec spec_;
  std::optional<std::int64_t> origin_ns_;  // of ticks: the first start
  plan::SharedLink link_;
};

}  // namespace paceline::engines
