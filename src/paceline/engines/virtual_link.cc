// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/virtual_link.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace paceline::engines {
namespace {

using Ticks = cluster::SharedLink::Ticks;

constexpr Ticks kTicksPerNanosecond = 1000;

/// The shares of the rate are rounded to whole bytes per second, so a computed end may be up to
/// this many ticks late.
constexpr Ticks kRounding = 16;

std::int64_t bytes_per_s_of(const LinkSpec& spec) {
  constexpr double kMost = 1e14;  // bytes per second
  return std::max<std::int64_t>(1, std::llround(std::min(spec.bytes_per_s, kMost)));
}

}  // namespace

VirtualLink::VirtualLink(const LinkSpec& spec) : spec_(spec), link_(bytes_per_s_of(spec)) {
  add_lane(0);
}

Ticks VirtualLink::ticks_of(std::int64_t now_ns) const {
  return (now_ns - origin_ns_.value_or(now_ns)) * kTicksPerNanosecond;
}

/// Converts ticks to nanoseconds, rounded up.
std::int64_t VirtualLink::nanoseconds_of(Ticks ticks) const {
  return origin_ns_.value_or(0) +
         (ticks - kRounding + kTicksPerNanosecond - 1) / kTicksPerNanosecond;
}

VirtualLink::Transfer VirtualLink::start(std::int64_t at_ns, std::int64_t bytes, int latencies,
                                         Lane lane) {
  const Ticks before = latencies * spec_.latency_ns * kTicksPerNanosecond;
  const StartedTransfer one{next_++, at_ns, lane, {.before = before, .work = bytes}};
  const auto place =
      std::ranges::upper_bound(started_, one.at_ns, std::less<>(), &StartedTransfer::at_ns);
  const bool in_order = place == started_.end() && at_ns >= now_ns_ && origin_ns_.has_value();
  started_.insert(place, one);
  if (in_order) {
    add(one);
  } else {
    restart_simulation();
  }
  return one.transfer;
}

void VirtualLink::add(const StartedTransfer& one) {
  origin_ns_ = origin_ns_.value_or(one.at_ns);
  link_.add(ticks_of(one.at_ns), one.lane, one.demand);
  transfers_.push_back(one.transfer);
}

void VirtualLink::restart_simulation() {
  link_ = cluster::SharedLink(bytes_per_s_of(spec_));
  for (const int concurrent : lanes_) {
    link_.add_lane(concurrent);
  }
  transfers_.clear();
  origin_ns_.reset();
  for (const StartedTransfer& one : started_) {
    add(one);
  }
}

std::vector<VirtualLink::Delivery> VirtualLink::advance(std::int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  if (started_.empty()) {
    return {};
  }
  link_.advance(ticks_of(now_ns_) + kRounding);
  std::vector<Delivery> deliveries;
  for (const cluster::SharedLink::Ended& one : link_.take_ended()) {
    const Transfer transfer = transfers_[one.operation];
    if (delivered_.insert(transfer).second) {
      deliveries.push_back({transfer, nanoseconds_of(one.at)});
    }
  }
  if (delivered_.size() == started_.size()) {
    started_.clear();
    delivered_.clear();
    origin_ns_.reset();  // the next transfer sets it again
  }
  return deliveries;
}

std::vector<std::int64_t> VirtualLink::delivery_times_of(
    const std::vector<Transfer>& transfers) const {
  VirtualLink alone = *this;
  std::map<Transfer, std::int64_t> at;
  const auto all_known = [&] {
    return std::ranges::all_of(transfers, [&](Transfer one) { return at.contains(one); });
  };
  for (auto next = alone.next_delivery(); next && !all_known(); next = alone.next_delivery()) {
    for (const Delivery& one : alone.advance(*next)) {
      at[one.transfer] = one.at_ns;
    }
  }
  std::vector<std::int64_t> deliveries;
  for (const Transfer one : transfers) {
    deliveries.push_back(at.at(one));
  }
  return deliveries;
}

std::optional<std::int64_t> VirtualLink::next_delivery() const {
  const auto next = link_.next_event();
  return next ? std::optional(nanoseconds_of(*next)) : std::nullopt;
}

}  // namespace paceline::engines
