// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/orbits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

namespace paceline::simulator {
namespace {

plan::Rank modulo(plan::Rank value, plan::Rank divisor) {
  return (value % divisor + divisor) % divisor;
}

/// Returns the smallest offset to which a permutation of ranks within a block can bring the rank at
/// offset `from`.  Offsets count from the first block.
plan::Rank first_exchangeable_position(const plan::Symmetry& places, plan::Rank from) {
  const plan::Rank place = from % places.block;
  return from - place + places.first_exchangeable_position(place);
}

/// Whether every block lies on one host.
bool hosts_hold_blocks(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts) {
  return symmetry.first % symmetry.block == 0 &&
         std::ranges::all_of(hosts.runs(),
                             [&](const auto& run) { return run.ranks % symmetry.block == 0; });
}

/// Finds the orbits under exchanges of hosts of equal size, and of blocks of a host.
void move_hosts(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts, Orbits& orbits) {
  std::map<plan::Rank, plan::Rank> first_of;  // by host size: the first rank of the first such host
  plan::Rank begin = 0;
  for (const auto& run : hosts.runs()) {
    for (std::int64_t host = 0; host < run.hosts; ++host) {
      const bool inside =
          begin >= symmetry.first && begin + run.ranks <= symmetry.first + symmetry.count;
      if (inside && run.ranks % symmetry.block == 0 &&
          (begin - symmetry.first) % symmetry.block == 0) {
        const plan::Rank first = first_of.try_emplace(run.ranks, begin).first->second;
        for (plan::Rank rank = begin; rank < begin + run.ranks; ++rank) {
          orbits.first[static_cast<std::size_t>(rank)] =
              first + first_exchangeable_position(orbits.places, (rank - begin) % symmetry.block);
        }
      }
      begin += run.ranks;
    }
  }
  orbits.begin = symmetry.first;
  orbits.end = symmetry.first + symmetry.count;
}

/// Finds the orbits under rotations of hosts of `local` ranks each, with their blocks, as a ring.
void move_in_ring(const plan::Symmetry& symmetry, plan::Rank local, Orbits& orbits) {
  const std::int64_t common = std::lcm(std::int64_t{symmetry.block}, std::int64_t{local});
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
  if (end - begin != symmetry.count) {
    orbits.places.movable = 1;  // blocks that are not rotated keep their places
  }
  for (plan::Rank rank = begin; rank < end; ++rank) {
    orbits.first[static_cast<std::size_t>(rank)] =
        begin + first_exchangeable_position(orbits.places, (rank - begin) % step);
  }
  orbits.begin = begin;
  orbits.end = end;
  orbits.ring = true;
}

}  // namespace

std::optional<plan::Rank> Orbits::permuted_rank(plan::Rank other, plan::Rank rank) const {
  const plan::Rank first_rank = first[static_cast<std::size_t>(rank)];
  if (first_rank == rank || other < begin || other >= end) {
    return other;
  }
  if (!ring) {
    return std::nullopt;
  }
  // The permutation exchanges the positions of `rank` and of the first rank of its orbit.
  const plan::Rank block = places.block;
  const plan::Rank from = (rank - begin) % block, to = (first_rank - begin) % block;
  const plan::Rank place = (other - begin) % block;
  const plan::Rank taken = place == from ? to : place == to ? from : place;
  const plan::Rank by = first_rank - to - (rank - from) + taken - place;
  return begin + modulo(other - begin + by, end - begin);
}

Orbits orbits_of(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts) {
  Orbits orbits;
  orbits.first.resize(static_cast<std::size_t>(hosts.ranks()));
  std::iota(orbits.first.begin(), orbits.first.end(), 0);
  const bool equal = hosts.runs().size() == 1;
  const bool one = hosts.hosts() == 1;
  const plan::Rank local = one ? 1 : hosts.runs().front().ranks;
  orbits.places = symmetry;
  if (!one && !hosts_hold_blocks(symmetry, hosts)) {
    orbits.places.movable = 1;
  }
  if (symmetry.in_any_order && !one && (!equal || local % symmetry.block == 0)) {
    move_hosts(symmetry, hosts, orbits);
  } else if (equal) {
    move_in_ring(symmetry, local, orbits);
  }
  return orbits;
}

}  // namespace paceline::simulator
