// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/network.h"

#include <algorithm>
#include <limits>

#include "paceline/base/error.h"
#include "paceline/sim/collective_model.h"

namespace paceline::sim {
namespace {

constexpr std::int64_t kFree = std::numeric_limits<std::int64_t>::max();

}  // namespace

void Network::reset(std::span<const std::int64_t> bytes_per_s) {
  links_.resize(bytes_per_s.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.capacity = bytes_per_s[i];
    link.flows.clear();
    link.crossed = 0;
    link.dirty = false;
    link.stamp = 0;
  }
  free_.clear();
  for (std::size_t i = flows_.size(); i > 0; --i) {
    flows_[i - 1].active = false;
    flow_stamp_[i - 1] = 0;
    free_.push_back(static_cast<FlowId>(i - 1));
  }
  dirty_.clear();
  stamp_ = 0;
}

Network::FlowId Network::start(Picoseconds now,
                               std::uint32_t owner,
                               std::int64_t bytes,
                               std::int64_t limit,
                               std::span<const Load> loads) {
  if (free_.empty()) {
    free_.push_back(static_cast<FlowId>(flows_.size()));
    flows_.emplace_back();
    flow_stamp_.push_back(0);
  }
  const FlowId id = free_.back();
  free_.pop_back();
  Flow& flow = flows_[id];
  flow.left =
      static_cast<Wide>(bytes) * static_cast<Wide>(plan::kPicosecondsPerSecond);
  flow.rate = 0;
  flow.limit = limit;
  flow.since = now;
  flow.owner = owner;
  flow.active = true;
  flow.loads.assign(loads.begin(), loads.end());
  for (const Load& load : loads) {
    Link& link = links_[load.link];
    link.flows.push_back(id);
    link.crossed += bytes * load.weight / kWeightOne;
    touch(load.link);
  }
  if (loads.empty()) {
    flow.rate = limit;  // shares nothing
  }
  return id;
}

void Network::end(FlowId id) {
  Flow& flow = flows_[id];
  PACELINE_CHECK(flow.active);
  flow.active = false;
  for (const Load& load : flow.loads) {
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

void Network::set_capacity(std::uint32_t link, std::int64_t bytes_per_s) {
  if (links_[link].capacity != bytes_per_s) {
    links_[link].capacity = bytes_per_s;
    if (!links_[link].flows.empty()) {
      touch(link);
    }
  }
}

void Network::touch(std::uint32_t link) {
  if (!links_[link].dirty) {
    links_[link].dirty = true;
    dirty_.push_back(link);
  }
}

const std::vector<Network::FlowId>& Network::share(Picoseconds now) {
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

/// Collects all flows and links that hang together with `link`.
void Network::gather(std::uint32_t link) {
  part_links_.assign(1, link);
  part_flows_.clear();
  links_[link].stamp = stamp_;
  for (std::size_t i = 0; i < part_links_.size(); ++i) {
    for (const FlowId id : links_[part_links_[i]].flows) {
      if (flow_stamp_[id] == stamp_) {
        continue;
      }
      flow_stamp_[id] = stamp_;
      part_flows_.push_back(id);
      for (const Load& load : flows_[id].loads) {
        if (links_[load.link].stamp != stamp_) {
          links_[load.link].stamp = stamp_;
          part_links_.push_back(load.link);
        }
      }
    }
  }
}

/// Raises all rates together; who meets a limit or a full link stays there.
void Network::fill() {
  for (const std::uint32_t l : part_links_) {
    links_[l].used = 0;
    links_[l].weight = 0;
  }
  for (const FlowId id : part_flows_) {
    for (const Load& load : flows_[id].loads) {
      links_[load.link].weight += load.weight;
    }
  }
  const auto share_of = [](const Link& link) {
    return link.weight == 0
               ? kFree
               : std::max<std::int64_t>(
                     1, (link.capacity * kWeightOne - link.used) / link.weight);
  };
  while (!part_flows_.empty()) {
    std::int64_t level = kFree;
    for (const std::uint32_t l : part_links_) {
      level = std::min(level, share_of(links_[l]));
    }
    for (const FlowId id : part_flows_) {
      level = std::min(level, flows_[id].limit);
    }
    const auto stays = [&](const FlowId id) {
      const Flow& flow = flows_[id];
      return flow.limit == level ||
             std::ranges::any_of(flow.loads, [&](const Load& load) {
               return share_of(links_[load.link]) == level;
             });
    };
    const auto kept = std::partition(part_flows_.begin(),
                                     part_flows_.end(),
                                     [&](FlowId id) { return !stays(id); });
    PACELINE_CHECK(kept != part_flows_.end());
    for (auto it = kept; it != part_flows_.end(); ++it) {
      for (const Load& load : flows_[*it].loads) {
        links_[load.link].used += level * load.weight;
        links_[load.link].weight -= load.weight;
      }
      set_rate(*it, level);
    }
    part_flows_.erase(kept, part_flows_.end());
  }
}

void Network::set_rate(FlowId id, std::int64_t rate) {
  Flow& flow = flows_[id];
  if (flow.rate == rate) {
    return;
  }
  const Wide done =
      static_cast<Wide>(now_ - flow.since) * static_cast<Wide>(flow.rate);
  flow.left = flow.left > done ? flow.left - done : 0;
  flow.since = now_;
  flow.rate = rate;
  renewed_.push_back(id);
}

Picoseconds Network::end_of(FlowId id) const {
  const Flow& flow = flows_[id];
  const auto rate = static_cast<Wide>(flow.rate);
  return flow.since + static_cast<Picoseconds>((flow.left + rate - 1) / rate);
}

}  // namespace paceline::sim
