// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "paceline/plan/link_spec.h"

namespace paceline::comm {

using plan::latencies_of;
using plan::LinkSpec;

/// One direction of a rank's link in virtual time: the transfers in flight
/// share the rate evenly; each is delivered its latencies after its last byte
/// has left.  Times are nanoseconds of any clock and never go back.
class LinkModel {
 public:
  using Transfer = std::int64_t;
  struct Delivery {
    Transfer transfer = 0;
    std::int64_t at_ns = 0;
  };

  explicit LinkModel(const LinkSpec& spec) : spec_(spec) {}

  Transfer start(std::int64_t now_ns, std::int64_t bytes, int latencies);

  /// What has been delivered until `now_ns`, in order of time.
  std::vector<Delivery> advance(std::int64_t now_ns);

  /// When the next transfer will be delivered if none starts before.
  std::optional<std::int64_t> next_delivery() const;

 private:
  struct Flow {
    double bytes_left = 0;
    std::int64_t latency_ns = 0;
  };

  void drain_until(double now_ns);
  void drop_drained(double at_ns);

  LinkSpec spec_;
  double drained_until_ns_ = 0;
  Transfer next_ = 0;
  std::map<Transfer, Flow> flows_;
  std::map<Transfer, std::int64_t> under_way_;  // delivered at
};

}  // namespace paceline::comm
