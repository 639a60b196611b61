// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/classes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include "paceline/base/error.h"

namespace paceline::simulator {
namespace {

plan::Rank modulo(plan::Rank value, plan::Rank divisor) {
  return (value % divisor + divisor) % divisor;
}

/// Returns the smallest position to which a permutation within a block can move the rank at
/// position `from`. Positions are counted from the first block.
plan::Rank first_exchangeable_position(const plan::Symmetry& block_symmetry, plan::Rank from) {
  const plan::Rank place = from % block_symmetry.block;
  return from - place + block_symmetry.first_exchangeable_position(place);
}

/// Whether every block lies on one host.
bool is_each_block_on_one_host(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts) {
  return symmetry.first % symmetry.block == 0 &&
         std::ranges::all_of(hosts.runs(),
                             [&](const auto& run) { return run.ranks % symmetry.block == 0; });
}

/// Finds the orbits of ranks under permutations that exchange hosts of equal size, or blocks of one
/// host.
void find_orbits_of_host_exchanges(const plan::Symmetry& symmetry, const plan::RanksPerHost& hosts,
                                   Orbits& orbits) {
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
              first +
              first_exchangeable_position(orbits.block_symmetry, (rank - begin) % symmetry.block);
        }
      }
      begin += run.ranks;
    }
  }
  orbits.begin = symmetry.first;
  orbits.end = symmetry.first + symmetry.count;
}

/// Finds the orbits of ranks if the symmetry rotates the ranks around a ring. A rotation moves
/// whole hosts, each of `local` ranks, and whole blocks.
void find_orbits_of_rotations(const plan::Symmetry& symmetry, plan::Rank local, Orbits& orbits) {
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
    orbits.block_symmetry.movable = 1;  // blocks that are not rotated keep their positions
  }
  for (plan::Rank rank = begin; rank < end; ++rank) {
    orbits.first[static_cast<std::size_t>(rank)] =
        begin + first_exchangeable_position(orbits.block_symmetry, (rank - begin) % step);
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
  const plan::Rank block = block_symmetry.block;
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
  orbits.block_symmetry = symmetry;
  if (!one && !is_each_block_on_one_host(symmetry, hosts)) {
    orbits.block_symmetry.movable = 1;
  }
  if (symmetry.in_any_order && !one && (!equal || local % symmetry.block == 0)) {
    find_orbits_of_host_exchanges(symmetry, hosts, orbits);
  } else if (equal) {
    find_orbits_of_rotations(symmetry, local, orbits);
  }
  return orbits;
}

plan::Rank Classes::count() const {
  plan::Rank count = 0;
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    count += representative[static_cast<std::size_t>(rank)] == rank ? 1 : 0;
  }
  return count;
}

/// Hosts that share one rank class have the same classes of ranks, so the smallest representative
/// on a host identifies the class of the host.
void Classes::set_representatives() {
  std::vector<plan::Rank> smallest(host_size.size(), world());
  for (plan::Rank rank = 0; rank < world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    representative[r] = orbits.first[r];
    plan::Rank& least = smallest[static_cast<std::size_t>(host_of[r])];
    least = std::min(least, representative[r]);
  }
  std::vector<std::int32_t> known(representative.size(), -1);
  host_classes = 0;
  for (std::size_t host = 0; host < host_size.size(); ++host) {
    std::int32_t& number = known[static_cast<std::size_t>(smallest[host])];
    if (number < 0) {
      number = host_classes++;
    }
    host_class[host] = number;
  }
}

Classes unfolded_classes(const plan::PlanInput& input) {
  const plan::RanksPerHost hosts = input.hosts();
  if (hosts.ranks() != input.world) {
    throw UsageError(fmt::format("{} hosts with {} ranks in all cannot hold a world of {}",
                                 hosts.hosts(), hosts.ranks(), input.world));
  }
  Classes classes;
  classes.representative.resize(static_cast<std::size_t>(input.world));
  std::iota(classes.representative.begin(), classes.representative.end(), 0);
  classes.host_size = hosts.sizes();
  classes.host_of.reserve(classes.representative.size());
  classes.local.reserve(classes.representative.size());
  for (std::size_t host = 0; host < classes.host_size.size(); ++host) {
    for (plan::Rank place = 0; place < classes.host_size[host]; ++place) {
      classes.host_of.push_back(static_cast<std::int32_t>(host));
      classes.local.push_back(place);
    }
  }
  classes.host_class.resize(classes.host_size.size());
  std::iota(classes.host_class.begin(), classes.host_class.end(), 0);
  classes.host_classes = static_cast<std::int32_t>(classes.host_size.size());
  classes.orbits.first = classes.representative;
  return classes;
}

Classes folded_classes(const plan::Planner& planner, const plan::PlanInput& input) {
  Classes classes = unfolded_classes(input);
  const plan::RanksPerHost hosts = input.hosts();
  classes.orbits = orbits_of(planner.symmetry(input), hosts);
  classes.set_representatives();
  return classes;
}

}  // namespace paceline::simulator
