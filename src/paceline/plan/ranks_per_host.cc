// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/ranks_per_host.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace paceline::plan {

RanksPerHost::RanksPerHost(std::initializer_list<Rank> sizes) {
  for (const Rank ranks : sizes) {
    add(1, ranks);
  }
}

RanksPerHost::RanksPerHost(const std::vector<Rank>& sizes) {
  for (const Rank ranks : sizes) {
    add(1, ranks);
  }
}

void RanksPerHost::add(std::int64_t hosts, Rank ranks) {
  if (hosts > 0 && !runs_.empty() && runs_.back().ranks == ranks) {
    runs_.back().hosts += hosts;
  } else if (hosts > 0) {
    runs_.push_back({.hosts = hosts, .ranks = ranks});
  }
}

std::int64_t RanksPerHost::hosts() const {
  std::int64_t hosts = 0;
  for (const HostRun& run : runs_) {
    hosts += run.hosts;
  }
  return hosts;
}

std::int64_t RanksPerHost::ranks() const {
  std::int64_t ranks = 0;
  for (const HostRun& run : runs_) {
    ranks += run.hosts * run.ranks;
  }
  return ranks;
}

Rank RanksPerHost::most() const {
  Rank most = 0;
  for (const HostRun& run : runs_) {
    most = std::max(most, run.ranks);
  }
  return most;
}

bool RanksPerHost::has_equal_hosts_up_to(std::int64_t ranks) const {
  return runs_.size() <= 1 || runs_.front().hosts * runs_.front().ranks >= ranks;
}

std::vector<Rank> RanksPerHost::sizes() const {
  std::vector<Rank> sizes;
  for (const HostRun& run : runs_) {
    sizes.insert(sizes.end(), static_cast<std::size_t>(run.hosts), run.ranks);
  }
  return sizes;
}

std::vector<Rank> fill_hosts(Rank ranks, const std::vector<Rank>& slots) {
  std::vector<Rank> filled;
  for (auto host = slots.begin(); host != slots.end() && ranks > 0; ++host) {
    filled.push_back(std::min(ranks, *host));
    ranks -= filled.back();
  }
  return filled;
}

std::string text_of(const RanksPerHost& hosts) {
  constexpr std::size_t kShown = 16;
  std::vector<Rank> first;
  for (const RanksPerHost::HostRun& run : hosts.runs()) {
    const auto left = static_cast<std::int64_t>(kShown - first.size());
    first.insert(first.end(), static_cast<std::size_t>(std::min(left, run.hosts)), run.ranks);
  }
  return fmt::format("{}{}", fmt::join(first, ", "),
                     hosts.hosts() > static_cast<std::int64_t>(kShown) ? ", ..." : "");
}

}  // namespace paceline::plan
