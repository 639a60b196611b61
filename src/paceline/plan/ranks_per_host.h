// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "paceline/plan/members.h"

namespace paceline::plan {

/// How many ranks each host has, in rank order; maybe of no host.  Neighboring hosts of equal size
/// are one entry, so that a quarter million of them cost no more than one.
class RanksPerHost {
 public:
  struct Run {
    std::int64_t hosts = 0;
    Rank ranks = 0;  // on each of them

    friend bool operator==(const Run&, const Run&) = default;
  };

  RanksPerHost() = default;
  RanksPerHost(std::initializer_list<Rank> sizes);
  // NOLINTNEXTLINE(google-explicit-constructor): lists of records
  RanksPerHost(const std::vector<Rank>& sizes);

  void add(std::int64_t hosts, Rank ranks);

  bool empty() const { return runs_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  std::int64_t hosts() const;
  std::int64_t ranks() const;
  /// On the host that has most.
  Rank most() const;
  /// Whether the hosts of the first `ranks` ranks all have equally many ranks.
  bool equal_up_to(std::int64_t ranks) const;

  /// By host.
  std::vector<Rank> sizes() const;

  friend bool operator==(const RanksPerHost&, const RanksPerHost&) = default;

 private:
  std::vector<Run> runs_;
};

/// Ranks by host when `ranks` ranks fill hosts of so many slots in order; fewer in all where there
/// are too few slots.
std::vector<Rank> fill_hosts(Rank ranks, const std::vector<Rank>& slots);

/// "8, 8, 4", of many hosts the first.
std::string text_of(const RanksPerHost& hosts);

}  // namespace paceline::plan
