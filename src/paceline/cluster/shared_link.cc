// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/shared_link.h"

#include <algorithm>
#include <limits>

namespace paceline::cluster {

SharedLink::SharedLink(std::int64_t rate) { link_.reset(std::vector<std::int64_t>{rate}); }

SharedLink::Lane SharedLink::add_lane(std::int32_t most) {
  lanes_.push_back({.most = most, .carried = 0, .waiting = {}});
  return lanes_.size() - 1;
}

SharedLink::Operation SharedLink::add(Ticks now, Lane lane, const Demand& demand) {
  advance(now);
  now_ = std::max(now_, now);
  const Operation operation = added_++;
  operations_[operation] = {.lane = lane, .demand = demand};
  lanes_[lane].waiting.push_back(operation);
  admit(lane);
  link_.share(now_);
  return operation;
}

std::optional<SharedLink::Ticks> SharedLink::next_event() const {
  std::optional<Ticks> next;
  if (!started_.empty()) {
    next = started_.begin()->first;
  }
  for (const auto& [operation, flow] : flowing_) {
    const Ticks end = link_.end_time_of(flow);
    next = std::min(next.value_or(end), end);
  }
  return next;
}

void SharedLink::advance(Ticks now) {
  for (auto next = next_event(); next && *next <= now; next = next_event()) {
    now_ = std::max(now_, *next);
    handle_events();
    link_.share(now_);
  }
}

/// Handles all events at time now_: transfers, start-ups and operations that end.
void SharedLink::handle_events() {
  std::vector<Operation> flowed;
  for (const auto& [operation, flow] : flowing_) {
    if (link_.end_time_of(flow) <= now_) {
      flowed.push_back(operation);
    }
  }
  for (const Operation operation : flowed) {
    link_.end(flowing_.at(operation));
    flowing_.erase(operation);
    end(operation);
  }
  while (!started_.empty() && started_.begin()->first <= now_) {
    const Operation operation = started_.begin()->second;
    started_.erase(started_.begin());
    flow(operation);
  }
}

void SharedLink::admit(Lane lane) {
  Queue& queue = lanes_[lane];
  while (!queue.waiting.empty() && (queue.most == 0 || queue.carried < queue.most)) {
    const Operation operation = queue.waiting.front();
    queue.waiting.pop_front();
    ++queue.carried;
    const Demand& demand = operations_.at(operation).demand;
    if (demand.before > 0 || demand.work == 0) {
      started_.emplace(now_ + demand.before, operation);
    } else {
      flow(operation);
    }
  }
}

void SharedLink::flow(Operation operation) {
  const std::int64_t work = operations_.at(operation).demand.work;
  if (work == 0) {
    end(operation);
    return;
  }
  constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();
  const std::vector<LinkLoad> loads{{.link = 0, .weight = kWeightOne}};
  flowing_[operation] = link_.start(now_, 0, work, kUnlimited, loads);
}

void SharedLink::end(Operation operation) {
  const Lane lane = operations_.at(operation).lane;
  operations_.erase(operation);
  ended_.push_back({operation, now_});
  --lanes_[lane].carried;
  admit(lane);
}

}  // namespace paceline::cluster
