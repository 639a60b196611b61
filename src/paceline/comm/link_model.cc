// SPDX-License-Identifier: Apache-2.0
#include "paceline/comm/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace paceline::comm {
namespace {

constexpr double kLeastBytes = 1e-6;  // less than that is rounding

}  // namespace

LinkModel::Transfer LinkModel::start(std::int64_t now_ns,
                                     std::int64_t bytes,
                                     int latencies) {
  drain_until(static_cast<double>(now_ns));
  const Transfer transfer = next_++;
  flows_[transfer] = {.bytes_left = static_cast<double>(bytes),
                      .latency_ns = latencies * spec_.latency_ns};
  drop_drained(drained_until_ns_);
  return transfer;
}

// Flows whose last byte has left are on their way.
void LinkModel::drop_drained(double at_ns) {
  for (auto flow = flows_.begin(); flow != flows_.end();) {
    if (flow->second.bytes_left <= kLeastBytes) {
      under_way_[flow->first] =
          std::llround(std::ceil(at_ns)) + flow->second.latency_ns;
      flow = flows_.erase(flow);
    } else {
      ++flow;
    }
  }
}

void LinkModel::drain_until(double now_ns) {
  while (!flows_.empty() && drained_until_ns_ < now_ns) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [transfer, flow] : flows_) {
      least = std::min(least, flow.bytes_left);
    }
    const double ns_per_byte =
        static_cast<double>(flows_.size()) / spec_.bytes_per_s * 1e9;
    const double step =
        std::min(least * ns_per_byte, now_ns - drained_until_ns_);
    for (auto& [transfer, flow] : flows_) {
      flow.bytes_left -= step / ns_per_byte;
    }
    drained_until_ns_ += step;
    drop_drained(drained_until_ns_);
  }
  drained_until_ns_ = std::max(drained_until_ns_, now_ns);
}

std::vector<LinkModel::Delivery> LinkModel::advance(std::int64_t now_ns) {
  drain_until(static_cast<double>(now_ns));
  std::vector<Delivery> delivered;
  for (auto one = under_way_.begin(); one != under_way_.end();) {
    if (one->second <= now_ns) {
      delivered.push_back({one->first, one->second});
      one = under_way_.erase(one);
    } else {
      ++one;
    }
  }
  std::ranges::stable_sort(delivered, {}, &Delivery::at_ns);
  return delivered;
}

std::optional<std::int64_t> LinkModel::next_delivery() const {
  std::optional<std::int64_t> next;
  for (const auto& [transfer, at] : under_way_) {
    next = std::min(next.value_or(at), at);
  }
  // Flows end in the order of what they have left.
  double left = std::numeric_limits<double>::infinity();
  for (const auto& [transfer, flow] : flows_) {
    left = std::min(left, flow.bytes_left);
  }
  if (!flows_.empty()) {
    // When the first one has drained, this is asked again.
    const double drained =
        drained_until_ns_ +
        left * static_cast<double>(flows_.size()) / spec_.bytes_per_s * 1e9;
    const auto at = std::llround(std::ceil(drained));
    next = std::min(next.value_or(at), static_cast<std::int64_t>(at));
  }
  return next;
}

}  // namespace paceline::comm
