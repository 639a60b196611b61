// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "paceline/base/error.h"

namespace paceline::strategies {

void SideBySide::add(Picoseconds ready, Picoseconds start, Picoseconds flow) {
  PACELINE_CHECK(crossings_.empty() || crossings_.back().ready <= ready);
  crossings_.push_back({ready, start, flow});
  ends_.push_back(0);
  admit();
}

bool SideBySide::may_begin() const {
  return next_ < crossings_.size() &&
         (most_ == 0 || under_way_.size() < static_cast<std::size_t>(most_));
}

void SideBySide::admit() {
  while (may_begin() && static_cast<double>(crossings_[next_].ready) <= now_) {
    const Crossing& crossing = crossings_[next_];
    under_way_.push_back(
        {.index = next_,
         .flows_from = now_ + static_cast<double>(crossing.start),
         .left = static_cast<double>(crossing.flow)});
    ++next_;
  }
}

std::size_t SideBySide::flowing() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      under_way_, [&](const UnderWay& one) { return one.flows_from <= now_; }));
}

double SideBySide::next_time() const {
  double next = std::numeric_limits<double>::infinity();
  if (may_begin()) {
    next = static_cast<double>(crossings_[next_].ready);
  }
  const auto share = static_cast<double>(flowing());
  for (const UnderWay& one : under_way_) {
    next = std::min(
        next, one.flows_from > now_ ? one.flows_from : now_ + one.left * share);
  }
  return next;
}

void SideBySide::advance(double time) {
  constexpr double kDone = 1e-3;  // picoseconds: what rounding leaves
  const double each =
      (time - now_) / static_cast<double>(std::max<std::size_t>(flowing(), 1));
  for (UnderWay& one : under_way_) {
    one.left -= one.flows_from <= now_ ? each : 0;
  }
  now_ = time;
  std::erase_if(under_way_, [&](const UnderWay& one) {
    const bool done = one.flows_from <= now_ && one.left <= kDone;
    if (done) {
      ends_[one.index] = std::llround(now_);
      ended_.push_back(one.index);
    }
    return done;
  });
  admit();
}

const std::vector<Picoseconds>& SideBySide::ends() {
  while (ended_.size() < crossings_.size()) {
    advance(next_time());
  }
  return ends_;
}

}  // namespace paceline::strategies
