// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/virtual_link.h"

#include <algorithm>
#include <cmath>

namespace paceline::engines {
namespace {

using Ticks = plan::SharedLink::Ticks;

constexpr Ticks kTicksPerNanosecond = 1000;

/// Shares of a rate are whole bytes per second, so an end may come this late.
constexpr Ticks kRounding = 16;

std::int64_t rate_of(const LinkSpec& spec) {
  constexpr double kMost = 1e14;  // bytes per second
  return std::max<std::int64_t>(
      1, std::llround(std::min(spec.bytes_per_s, kMost)));
}

}  // namespace

VirtualLink::VirtualLink(const LinkSpec& spec)
    : spec_(spec), link_(rate_of(spec)) {
  link_.add_lane(0);
}

Ticks VirtualLink::ticks_of(std::int64_t now_ns) const {
  return (now_ns - origin_ns_.value_or(now_ns)) * kTicksPerNanosecond;
}

/// Rounded up to a nanosecond.
std::int64_t VirtualLink::nanoseconds_of(Ticks ticks) const {
  return origin_ns_.value_or(0) +
         (ticks - kRounding + kTicksPerNanosecond - 1) / kTicksPerNanosecond;
}

VirtualLink::Transfer VirtualLink::start(std::int64_t now_ns,
                                         std::int64_t bytes,
                                         int latencies,
                                         Lane lane) {
  origin_ns_ = origin_ns_.value_or(now_ns);
  const Ticks before = latencies * spec_.latency_ns * kTicksPerNanosecond;
  return static_cast<Transfer>(link_.add(
      ticks_of(now_ns), lane, {.before = before, .work = bytes, .after = 0}));
}

std::int64_t VirtualLink::alone_ns(std::int64_t bytes, int latencies) const {
  return latencies * spec_.latency_ns +
         static_cast<std::int64_t>(
             std::ceil(static_cast<double>(bytes) * 1e9 /
                       static_cast<double>(rate_of(spec_))));
}

std::vector<VirtualLink::Delivery> VirtualLink::advance(std::int64_t now_ns) {
  link_.advance(ticks_of(now_ns) + kRounding);
  std::vector<Delivery> deliveries;
  for (const plan::SharedLink::Ended& one : link_.take_ended()) {
    deliveries.push_back(
        {static_cast<Transfer>(one.operation), nanoseconds_of(one.at)});
  }
  return deliveries;
}

std::optional<std::int64_t> VirtualLink::next_delivery() const {
  const auto next = link_.next_event();
  return next ? std::optional(nanoseconds_of(*next)) : std::nullopt;
}

}  // namespace paceline::engines
