// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "paceline/plan/int128.h"

namespace paceline::cluster {

/// The weight of a flow that crosses a link once; weights are multiples of 1 / kWeightOne
/// crossings.
inline constexpr std::int64_t kWeightOne = 65536;

/// A load: the flow crosses `link` weight / kWeightOne times.
struct LinkLoad {
  std::uint32_t link = 0;
  std::int64_t weight = 0;
};

/// Links whose rates flows share fairly.
///
/// All flows over a full link get the same rate.  The rate that a flow cannot use, because another
/// link or its own limit restricts it, is shared by the others (max-min fairness: Bertsekas and
/// Gallager, Data Networks, 1992, section 6.5.2).  Rates are whole bytes per second and stay
/// constant until a flow starts or ends or a capacity changes; work is counted exactly, in bytes
/// times picoseconds per second.
class FairShare {
 public:
  using FlowId = std::uint32_t;

  struct Flow {
    plan::Uint128 left = 0;  // bytes that remain to be moved, times 10^12
    std::int64_t rate = 0, limit = 0;
    plan::Picoseconds since = 0;  // the time at which `left` was updated
    std::uint32_t owner = 0;
    std::uint32_t event = 0;  // sequence number of its end; set by the caller
    bool active = false;
    std::vector<LinkLoad> loads;
  };

  void reset(std::span<const std::int64_t> bytes_per_s);

  /// Starts moving `bytes` at `now`; `limit` is the highest rate of the flow itself, in bytes/s.
  FlowId start(plan::Picoseconds now, std::uint32_t owner, std::int64_t bytes, std::int64_t limit,
               std::span<const LinkLoad> loads);
  void end(FlowId id);
  void set_capacity(std::uint32_t link, std::int64_t bytes_per_s);

  bool changed() const { return !dirty_.empty(); }

  /// Recalculates the rates.  Returns the flows whose rate has changed.
  const std::vector<FlowId>& share(plan::Picoseconds now);

  /// Returns when a flow will end at its current rate.
  plan::Picoseconds end_time_of(FlowId id) const;

  Flow& flow(FlowId id) { return flows_[id]; }

  /// The bytes that have crossed a link, counted as often as their flow crosses it.  All bytes of a
  /// flow count from its start.
  std::int64_t crossed(std::uint32_t link) const { return links_[link].crossed; }

 private:
  struct Link {
    std::int64_t capacity = 0;  // rate of the link in bytes per second
    std::int64_t weight = 0;    // sum of the weights of all flows over the link
    // The following members are scratch values of the calculation of rates.
    std::int64_t used = 0;   // rates times weights of the flows that have a rate
    std::int64_t open = 0;   // sum of the weights of the flows that have no rate yet
    std::int64_t share = 0;  // fair share of the rate; valid for the values in the next line
    std::int64_t shared_used = -1, shared_open = 0, shared_capacity = 0;
    std::uint32_t stamp = 0;
    bool dirty = false;
    std::vector<FlowId> flows;
    std::int64_t crossed = 0;
  };

  void touch(std::uint32_t link);
  void gather(std::uint32_t link);
  bool join(std::uint32_t link);
  std::int64_t next_level();
  void fill();
  static void renew_share(Link& link);
  bool is_fixed(FlowId id) const;
  std::size_t fix(FlowId id, std::int64_t rate);
  void set_rate(FlowId id, std::int64_t rate);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<std::uint32_t> dirty_;
  std::vector<FlowId> renewed_;

  std::uint32_t stamp_ = 0;
  plan::Picoseconds now_ = 0;
  std::vector<std::uint32_t> part_links_;
  std::vector<FlowId> part_flows_;
  std::vector<std::uint32_t> flow_stamp_, fixed_stamp_, full_;
  std::vector<std::pair<std::int64_t, FlowId>> limited_;
};

}  // namespace paceline::cluster
