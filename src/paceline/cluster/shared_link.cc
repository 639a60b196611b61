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
  if (!timers_.empty()) {
    next = timers_.begin()->first;
  }
  for (const auto& [operation, flow] : flowing_) {
    const Ticks end = link_.end_of(flow);
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

/// Handles everything that happens at now_.
void SharedLink::handle_events() {
  std::vector<Operation> flowed;
  for (const auto& [operation, flow] : flowing_) {
    if (link_.end_of(flow) <= now_) {
      flowed.push_back(operation);
    }
  }
  for (const Operation operation : flowed) {
    link_.end(flowing_.at(operation));
    flowing_.erase(operation);
    finish_flow(operation);
  }
  while (!timers_.empty() && timers_.begin()->first <= now_) {
    const Operation operation = timers_.begin()->second;
    timers_.erase(timers_.begin());
    if (operations_.at(operation).flowed) {
      end(operation);
    } else {
      flow(operation);
    }
  }
}

void SharedLink::admit(Lane lane) {
  Queue& queue = lanes_[lane];
  while (!queue.waiting.empty() && (queue.most == 0 || queue.carried < queue.most)) {
    const Operation operation = queue.waiting.front();
    queue.waiting.pop_front();
    ++queue.carried;
    const Ticks before = operations_.at(operation).demand.before;
    if (before > 0) {
      timers_.emplace(now_ + before, operation);
    } else {
      flow(operation);
    }
  }
}

void SharedLink::flow(Operation operation) {
  const std::int64_t work = operations_.at(operation).demand.work;
  if (work == 0) {
    finish_flow(operation);
    return;
  }
  constexpr auto kUnlimited = std::numeric_limits<std::int64_t>::max();
  const std::vector<LinkLoad> loads{{.link = 0, .weight = kWeightOne}};
  flowing_[operation] = link_.start(now_, 0, work, kUnlimited, loads);
}

void SharedLink::finish_flow(Operation operation) {
  State& state = operations_.at(operation);
  state.flowed = true;
  timers_.emplace(now_ + state.demand.after, operation);
}

void SharedLink::end(Operation operation) {
  const Lane lane = operations_.at(operation).lane;
  operations_.erase(operation);
  ended_.push_back({operation, now_});
  --lanes_[lane].carried;
  admit(lane);
}

}  // namespace paceline::cluster
