// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "paceline/cluster/link_spec.h"

namespace paceline::engines {

using cluster::latencies_of;
using cluster::LinkSpec;

/// One direction of a rank's link in virtual time: the transfers in flight
/// share the rate evenly; each is delivered its latencies after its last byte
/// has left.  Times are nanoseconds of any clock and never go back.
///
/// A lane is a queue before the link, of an engine that carries so many
/// transfers at once: the next one begins when one of them is delivered.
class LinkModel {
 public:
  using Transfer = std::int64_t;
  using Lane = std::size_t;
  struct Delivery {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
  };
  static constexpr Lane kOpen = 0;  // the lane that carries all at once

  explicit LinkModel(const LinkSpec& spec) : spec_(spec), lanes_(1) {}

  /// `side_by_side` 0: all at once.
  Lane add_lane(int side_by_side);

  Transfer start(std::int64_t now_ns,
                 std::int64_t bytes,
                 int latencies,
                 Lane lane = kOpen);

  /// What has been delivered until `now_ns`, in order of time.
  std::vector<Delivery> advance(std::int64_t now_ns);

  /// When to ask again: not after the next delivery if none starts before.
  std::optional<std::int64_t> next_delivery() const;

 private:
  struct Flow {
    double bytes_left = 0;
    std::int64_t latency_ns = 0;
    Lane lane = kOpen;
  };
  struct UnderWay {
    std::int64_t at_ns = 0;
    Lane lane = kOpen;
  };
  struct Queue {
    int side_by_side = 0, carried = 0;
    std::deque<std::pair<Transfer, Flow>> waiting;
  };

  void run_until(double now_ns);
  void drain(double until_ns);
  void deliver(std::int64_t at_ns);
  void admit(Lane lane);
  double next_drained() const;
  std::optional<std::int64_t> next_arrival() const;

  LinkSpec spec_;
  double drained_until_ns_ = 0;
  Transfer next_ = 0;
  std::vector<Queue> lanes_;
  std::map<Transfer, Flow> flows_;
  std::map<Transfer, UnderWay> under_way_;
  std::vector<Delivery> delivered_;  // since the last advance()
};

}  // namespace paceline::engines
