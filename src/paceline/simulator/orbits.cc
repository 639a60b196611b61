// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/orbits.h"

#include <cstdint>
#include <map>
#include <numeric>

namespace paceline::simulator {
namespace {

plan::Rank modulo(plan::Rank value, plan::Rank divisor) {
  return (value % divisor + divisor) % divisor;
}

/// Hosts of equal size change places, and blocks inside a host.
void move_hosts(const plan::Symmetry& symmetry,
                const plan::RanksPerHost& hosts,
                Orbits& orbits) {
  std::map<plan::Rank, plan::Rank>
      first_of;  // by size: the first rank of such a host
  plan::Rank begin = 0;
  for (const auto& run : hosts.runs()) {
    for (std::int64_t host = 0; host < run.hosts; ++host) {
      const bool inside = begin >= symmetry.first &&
                          begin + run.ranks <= symmetry.first + symmetry.count;
      if (inside && run.ranks % symmetry.block == 0 &&
          (begin - symmetry.first) % symmetry.block == 0) {
        const plan::Rank first =
            first_of.try_emplace(run.ranks, begin).first->second;
        for (plan::Rank rank = begin; rank < begin + run.ranks; ++rank) {
          orbits.first[static_cast<std::size_t>(rank)] =
              first + (rank - begin) % symmetry.block;
        }
      }
      begin += run.ranks;
    }
  }
  orbits.begin = symmetry.first;
  orbits.end = symmetry.first + symmetry.count;
}

/// Hosts of `local` ranks each, and blocks with them, move on in a ring.
void move_in_ring(const plan::Symmetry& symmetry,
                  plan::Rank local,
                  Orbits& orbits) {
  const std::int64_t common =
      std::lcm(std::int64_t{symmetry.block}, std::int64_t{local});
  if (common > symmetry.count) {
    return;
  }
  const auto step = static_cast<plan::Rank>(common);
  plan::Rank begin = symmetry.first;
  plan::Rank end = symmetry.first + symmetry.count;
  while (symmetry.in_any_order && begin < end && begin % local != 0) {
    begin += symmetry.block;
  }
  if (symmetry.in_any_order) {
    end -= (end - begin) % step;
  }
  if (begin % local != 0 || begin >= end || (end - begin) % step != 0) {
    return;
  }
  for (plan::Rank rank = begin; rank < end; ++rank) {
    orbits.first[static_cast<std::size_t>(rank)] =
        begin + (rank - begin) % step;
  }
  orbits.begin = begin;
  orbits.end = end;
  orbits.ring = true;
}

}  // namespace

std::optional<plan::Rank> Orbits::moved(plan::Rank other,
                                        plan::Rank rank) const {
  const plan::Rank by = first[static_cast<std::size_t>(rank)] - rank;
  if (by == 0 || other < begin || other >= end) {
    return other;
  }
  if (!ring) {
    return std::nullopt;
  }
  return begin + modulo(other - begin + by, end - begin);
}

Orbits orbits_of(const plan::Symmetry& symmetry,
                 const plan::RanksPerHost& hosts) {
  Orbits orbits;
  orbits.first.resize(static_cast<std::size_t>(hosts.ranks()));
  std::iota(orbits.first.begin(), orbits.first.end(), 0);
  const bool equal = hosts.runs().size() == 1;
  const bool one = hosts.hosts() == 1;
  const plan::Rank local = one ? 1 : hosts.runs().front().ranks;
  if (symmetry.in_any_order && !one &&
      (!equal || local % symmetry.block == 0)) {
    move_hosts(symmetry, hosts, orbits);
  } else if (equal) {
    move_in_ring(symmetry, local, orbits);
  }
  return orbits;
}

}  // namespace paceline::simulator
