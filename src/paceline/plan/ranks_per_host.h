// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "paceline/plan/members.h"

namespace paceline::plan {

/// The number of ranks on each host, in rank order; the list of hosts may be empty.  Neighboring
/// hosts of equal size are one entry, so a quarter million of them need no more memory than one.
class RanksPerHost {
 public:
  struct HostRun {
    std::int64_t hosts = 0;
    Rank ranks = 0;  // on each of these hosts

    friend bool operator==(const HostRun&, const HostRun&) = default;
  };

  RanksPerHost() = default;
  RanksPerHost(std::initializer_list<Rank> sizes);
  // NOLINTNEXTLINE(google-explicit-constructor): lists of records
  RanksPerHost(const std::vector<Rank>& sizes);

  void add(std::int64_t hosts, Rank ranks);

  bool empty() const { return runs_.empty(); }
  const std::vector<HostRun>& runs() const { return runs_; }
  std::int64_t hosts() const;
  std::int64_t ranks() const;
  /// The number of ranks on the host that has the most.
  Rank most() const;
  /// Whether the hosts of the first `ranks` ranks all have equally many ranks.
  bool has_equal_hosts_up_to(std::int64_t ranks) const;

  /// Returns the number of ranks of each host, with one entry per host.
  std::vector<Rank> sizes() const;

  friend bool operator==(const RanksPerHost&, const RanksPerHost&) = default;

 private:
  std::vector<HostRun> runs_;
};

/// The number of ranks on each host if `ranks` ranks fill hosts of `slots` slots in order.  If
/// there are too few slots, the remaining ranks are left out.
std::vector<Rank> fill_hosts(Rank ranks, const std::vector<Rank>& slots);

/// A text such as "8, 8, 4"; of many hosts only the first are listed.
std::string text_of(const RanksPerHost& hosts);

}  // namespace paceline::plan
