// SPDX-License-Identifier: Apache-2.0
#include "paceline/cluster/fair_share.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "paceline/base/error.h"

namespace paceline::cluster {
namespace {

constexpr std::int64_t kUnlimitedRate = std::numeric_limits<std::int64_t>::max();

}  // namespace

void FairShare::reset(std::span<const std::int64_t> bytes_per_s) {
  links_.resize(bytes_per_s.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.capacity = bytes_per_s[i];
    link.weight = 0;
    link.flows.clear();
    link.crossed = 0;
    link.dirty = false;
    link.stamp = 0;
  }
  free_.clear();
  for (std::size_t i = flows_.size(); i > 0; --i) {
    flows_[i - 1].active = false;
    flow_stamp_[i - 1] = 0;
    fixed_stamp_[i - 1] = 0;
    free_.push_back(static_cast<FlowId>(i - 1));
  }
  dirty_.clear();
  stamp_ = 0;
}

FairShare::FlowId FairShare::start(plan::Picoseconds now, std::uint32_t owner, std::int64_t bytes,
                                   std::int64_t limit, std::span<const LinkLoad> loads) {
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.emplace_back();
    flow_stamp_.push_back(0);
    fixed_stamp_.push_back(0);
  }
  const FlowId id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow.left =
      static_cast<plan::Uint128>(bytes) * static_cast<plan::Uint128>(plan::kPicosecondsPerSecond);
  flow.rate = 0;
  flow.limit = limit;
  flow.since = now;
  flow.owner = owner;
  flow.active = true;
  flow.loads.assign(loads.begin(), loads.end());
  for (const LinkLoad& load : loads) {
    Link& link = links_[load.link];
    link.flows.push_back(id);
    link.weight += load.weight;
    link.crossed += plan::scaled_bytes(bytes, load.weight, kWeightOne);
    touch(load.link);
  }
  if (loads.empty()) {
    flow.rate = limit;  // the flow crosses no link, so only its own limit counts
  }
  return id;
}

void FairShare::end(FlowId id) {
  Flow& flow = flows_[id];
  PACELINE_CHECK(flow.active);
  flow.active = false;
  for (const LinkLoad& load : flow.loads) {
    links_[load.link].weight -= load.weight;
    auto& others = links_[load.link].flows;
    const auto at = std::ranges::find(others, id);
    *at = others.back();
    others.pop_back();
    if (!others.empty()) {
      touch(load.link);
    }
  }
  free_.push_back(id);
}

void FairShare::set_capacity(std::uint32_t link, std::int64_t bytes_per_s) {
  if (links_[link].capacity != bytes_per_s) {
    links_[link].capacity = bytes_per_s;
    if (!links_[link].flows.empty()) {
      touch(link);
    }
  }
}

void FairShare::touch(std::uint32_t link) {
  if (!links_[link].dirty) {
    links_[link].dirty = true;
    dirty_.push_back(link);
  }
}

const std::vector<FairShare::FlowId>& FairShare::share(plan::Picoseconds now) {
  renewed_.clear();
  now_ = now;
  ++stamp_;
  for (const std::uint32_t link : dirty_) {
    links_[link].dirty = false;
    if (links_[link].stamp != stamp_) {
      gather(link);
      fill();
    }
  }
  dirty_.clear();
  return renewed_;
}

/// Collects the flows and links whose rates must be recalculated: all that are connected with
/// `link` through shared flows.
void FairShare::gather(std::uint32_t link) {
  join(link);
  part_links_.assign(1, link);
  part_flows_.clear();
  limited_.clear();
  for (std::size_t i = 0; i < part_links_.size(); ++i) {
    for (const FlowId id : links_[part_links_[i]].flows) {
      if (flow_stamp_[id] == stamp_) {
        continue;
      }
      flow_stamp_[id] = stamp_;
      part_flows_.push_back(id);
      if (flows_[id].limit < kUnlimitedRate) {
        limited_.emplace_back(flows_[id].limit, id);
      }
      for (const LinkLoad& load : flows_[id].loads) {
        if (join(load.link)) {
          part_links_.push_back(load.link);
        }
      }
    }
  }
  std::ranges::sort(limited_, std::greater{});
}

/// Adds a link to the recalculation and resets its sums. Returns false if the link was already
/// added.
bool FairShare::join(std::uint32_t link) {
  Link& joined = links_[link];
  const bool fresh = joined.stamp != stamp_;
  if (fresh) {
    joined.stamp = stamp_;
    joined.used = 0;
    joined.open = joined.weight;
  }
  return fresh;
}

/// Returns the next rate at which a flow reaches its limit or a link is full.  Stores the full
/// links in `full_`, and drops links whose flows all have their rates.
std::int64_t FairShare::next_level() {
  while (!limited_.empty() && is_fixed(limited_.back().second)) {
    limited_.pop_back();
  }
  std::int64_t level = limited_.empty() ? kUnlimitedRate : limited_.back().first;
  full_.clear();
  std::size_t kept = 0;
  for (const std::uint32_t l : part_links_) {
    Link& link = links_[l];
    if (link.open == 0) {
      continue;
    }
    part_links_[kept++] = l;
    renew_share(link);
    if (link.share < level) {
      level = link.share;
      full_.clear();
    }
    if (link.share == level) {
      full_.push_back(l);
    }
  }
  part_links_.resize(kept);
  return level;
}

/// Raises the rates of all collected flows together. A flow keeps the rate at which it reaches its
/// own limit or at which one of its links is full.
void FairShare::fill() {
  for (std::size_t left = part_flows_.size(); left > 0;) {
    const std::int64_t level = next_level();
    const std::size_t before = left;
    while (!limited_.empty() && limited_.back().first == level) {
      left -= fix(limited_.back().second, level);
      limited_.pop_back();
    }
    for (const std::uint32_t l : full_) {
      for (const FlowId id : links_[l].flows) {
        left -= fix(id, level);
      }
    }
    PACELINE_CHECK(left < before);
  }
}

void FairShare::renew_share(Link& link) {
  if (link.open == link.shared_open && link.used == link.shared_used &&
      link.capacity == link.shared_capacity) {
    return;
  }
  link.shared_open = link.open;
  link.shared_used = link.used;
  link.shared_capacity = link.capacity;
  link.share = std::max<std::int64_t>(1, (link.capacity * kWeightOne - link.used) / link.open);
}

bool FairShare::is_fixed(FlowId id) const { return fixed_stamp_[id] == stamp_; }

/// Fixes the rate of a flow; returns 0 if the flow already has one, else 1.
std::size_t FairShare::fix(FlowId id, std::int64_t rate) {
  if (is_fixed(id)) {
    return 0;
  }
  fixed_stamp_[id] = stamp_;
  for (const LinkLoad& load : flows_[id].loads) {
    links_[load.link].used += rate * load.weight;
    links_[load.link].open -= load.weight;
  }
  set_rate(id, rate);
  return 1;
}

void FairShare::set_rate(FlowId id, std::int64_t rate) {
  Flow& flow = flows_[id];
  if (flow.rate == rate) {
    return;
  }
  const plan::Uint128 done =
      static_cast<plan::Uint128>(now_ - flow.since) * static_cast<plan::Uint128>(flow.rate);
  flow.left = flow.left > done ? flow.left - done : 0;
  flow.since = now_;
  flow.rate = rate;
  renewed_.push_back(id);
}

plan::Picoseconds FairShare::end_time_of(FlowId id) const {
  const Flow& flow = flows_[id];
  const auto rate = static_cast<plan::Uint128>(flow.rate);
  return plan::checked_time(static_cast<plan::Uint128>(flow.since) + (flow.left + rate - 1) / rate);
}

}  // namespace paceline::cluster
