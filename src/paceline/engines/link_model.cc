// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace paceline::engines {
namespace {

constexpr double kLeastBytes = 1e-6;  // less than that is rounding
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

LinkModel::Lane LinkModel::add_lane(int side_by_side) {
  lanes_.emplace_back();
  lanes_.back().side_by_side = side_by_side;
  return lanes_.size() - 1;
}

LinkModel::Transfer LinkModel::start(std::int64_t now_ns,
                                     std::int64_t bytes,
                                     int latencies,
                                     Lane lane) {
  run_until(static_cast<double>(now_ns));
  const Transfer transfer = next_++;
  lanes_[lane].waiting.emplace_back(
      transfer,
      Flow{.bytes_left = static_cast<double>(bytes),
           .latency_ns = latencies * spec_.latency_ns,
           .lane = lane});
  admit(lane);
  return transfer;
}

void LinkModel::admit(Lane lane) {
  Queue& queue = lanes_[lane];
  while (!queue.waiting.empty() &&
         (queue.side_by_side == 0 || queue.carried < queue.side_by_side)) {
    flows_.insert(queue.waiting.front());
    queue.waiting.pop_front();
    ++queue.carried;
  }
  drain(drained_until_ns_);  // those without bytes
}

// When the flow that has least left will have drained.
double LinkModel::next_drained() const {
  double least = kNever;
  for (const auto& [transfer, flow] : flows_) {
    least = std::min(least, flow.bytes_left);
  }
  return flows_.empty()
             ? kNever
             : drained_until_ns_ + least * static_cast<double>(flows_.size()) /
                                       spec_.bytes_per_s * 1e9;
}

std::optional<std::int64_t> LinkModel::next_arrival() const {
  std::optional<std::int64_t> next;
  for (const auto& [transfer, under_way] : under_way_) {
    next = std::min(next.value_or(under_way.at_ns), under_way.at_ns);
  }
  return next;
}

// No flow drains before `until_ns`; those whose last byte has left then are on
// their way.
void LinkModel::drain(double until_ns) {
  if (!flows_.empty() && until_ns > drained_until_ns_) {
    const double each = (until_ns - drained_until_ns_) * 1e-9 *
                        spec_.bytes_per_s / static_cast<double>(flows_.size());
    for (auto& [transfer, flow] : flows_) {
      flow.bytes_left -= each;
    }
  }
  drained_until_ns_ = std::max(drained_until_ns_, until_ns);
  for (auto one = flows_.begin(); one != flows_.end();) {
    const Flow& flow = one->second;
    if (flow.bytes_left > kLeastBytes) {
      ++one;
      continue;
    }
    under_way_[one->first] = {
        .at_ns = std::llround(std::ceil(drained_until_ns_)) + flow.latency_ns,
        .lane = flow.lane};
    one = flows_.erase(one);
  }
}

// Whatever arrives at `at_ns` makes room in its lane.
void LinkModel::deliver(std::int64_t at_ns) {
  std::vector<Lane> freed;
  for (auto one = under_way_.begin(); one != under_way_.end();) {
    if (one->second.at_ns > at_ns) {
      ++one;
      continue;
    }
    delivered_.push_back({one->first, one->second.at_ns});
    freed.push_back(one->second.lane);
    one = under_way_.erase(one);
  }
  for (const Lane lane : freed) {
    --lanes_[lane].carried;
    admit(lane);
  }
}

void LinkModel::run_until(double now_ns) {
  while (true) {
    const double drained = next_drained();
    const auto arrival = next_arrival();
    const double arrives = arrival ? static_cast<double>(*arrival) : kNever;
    if (std::min(drained, arrives) > now_ns) {
      break;
    }
    drain(std::min(drained, arrives));
    if (drained <= arrives) {
      // What has least left has drained, whatever rounding makes of it.
      const auto least = std::ranges::min_element(
          flows_, {}, [](const auto& one) { return one.second.bytes_left; });
      if (least != flows_.end() && next_drained() <= drained) {
        least->second.bytes_left = 0;
        drain(drained_until_ns_);
      }
    } else {
      deliver(*arrival);
    }
  }
  drain(now_ns);
}

std::vector<LinkModel::Delivery> LinkModel::advance(std::int64_t now_ns) {
  run_until(static_cast<double>(now_ns));
  return std::exchange(delivered_, {});
}

std::optional<std::int64_t> LinkModel::next_delivery() const {
  auto next = next_arrival();
  if (!flows_.empty()) {
    const auto drained =
        static_cast<std::int64_t>(std::llround(std::ceil(next_drained())));
    next = std::min(next.value_or(drained), drained);
  }
  return next;
}

}  // namespace paceline::engines
