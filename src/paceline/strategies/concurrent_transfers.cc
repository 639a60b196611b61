// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/concurrent_transfers.h"

namespace paceline::strategies {
namespace {

/// Ticks per picosecond.  Equal shares of the bandwidth do not take whole picoseconds, so the
/// simulated link uses a finer unit.
constexpr cluster::SharedLink::Ticks kTicksPerPicosecond = 256;

/// The link's rate, in work per 10^12 ticks: one unit of work takes one tick.
constexpr std::int64_t kRate = kPicosecondsPerSecond;

}  // namespace

ConcurrentTransfers::ConcurrentTransfers(std::int32_t most)
    : link_(kRate), lane_(link_.add_lane(most)) {}

void ConcurrentTransfers::add(Picoseconds ready, Picoseconds start, Picoseconds flow) {
  link_.add(ready * kTicksPerPicosecond, lane_,
            {.before = start * kTicksPerPicosecond, .work = flow * kTicksPerPicosecond});
  ends_.push_back(0);
}

Picoseconds ConcurrentTransfers::next_time() const {
  const auto next = link_.next_event();
  return next ? (*next + kTicksPerPicosecond / 2) / kTicksPerPicosecond : kEndOfTime;
}

void ConcurrentTransfers::advance(Picoseconds time) {
  link_.advance(time * kTicksPerPicosecond + kTicksPerPicosecond / 2);
  for (const cluster::SharedLink::Ended& one : link_.take_ended()) {
    ends_[one.operation] = (one.at + kTicksPerPicosecond / 2) / kTicksPerPicosecond;
    ended_.push_back(one.operation);
  }
}

const std::vector<Picoseconds>& ConcurrentTransfers::ends() {
  while (link_.next_event()) {
    advance(next_time());
  }
  return ends_;
}

}  // namespace paceline::strategies
