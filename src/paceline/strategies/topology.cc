// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/topology.h"

#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

/// The smallest n with 2^n >= value.
Step ceil_log2(Rank value) {
  Step n = 0;
  while ((std::int64_t{1} << n) < value) {
    ++n;
  }
  return n;
}

/// The largest n with 2^n <= value.
Step floor_log2(Rank value) {
  Step n = 0;
  while ((std::int64_t{2} << n) <= value) {
    ++n;
  }
  return n;
}

Rank wrap(Rank rank, Rank world) {
  return (rank % world + world) % world;
}

/// Sends `distances` ranks ahead, receives from as many behind, equal weights.
Mixing circulant(Rank world, Rank rank, const std::vector<Rank>& distances) {
  Mixing mixing;
  mixing.self = 1.0 / static_cast<double>(distances.size() + 1);
  for (const Rank distance : distances) {
    mixing.from.push_back({wrap(rank - distance, world), mixing.self});
    mixing.to.push_back(wrap(rank + distance, world));
  }
  return mixing;
}

Mixing ring(Rank world, Rank rank) {
  if (world == 2) {
    return circulant(world, rank, {1});
  }
  return circulant(world, rank, {1, world - 1});
}

std::vector<Rank> powers_below(Rank world) {
  std::vector<Rank> distances;
  for (Rank distance = 1; distance < world; distance *= 2) {
    distances.push_back(distance);
  }
  return distances;
}

void check_hosts(Rank world, Rank local) {
  if (local < 3 || world % local != 0 || world == local) {
    throw UsageError(
        fmt::format("topology=inner-outer-exp wants two or more hosts of the "
                    "same number of ranks, at least 3; here are {} ranks, {} "
                    "a host",
                    world,
                    local));
  }
}

/// Local rank step mod L goes to the same place on another host, the others
/// stay inside and step over that place.
Mixing inner_outer(Rank world, Rank local, Rank rank, Step step) {
  const Rank hosts = world / local;
  const Rank host = rank / local, place = rank % local;
  const auto outer = static_cast<Rank>(step % local);
  if (place == outer) {
    const auto distance =
        static_cast<Rank>(Step{1} << (step % (floor_log2(hosts - 1) + 1)));
    return {.self = 0.5,
            .from = {{wrap(host - distance, hosts) * local + place, 0.5}},
            .to = {wrap(host + distance, hosts) * local + place}};
  }
  const auto hop =
      static_cast<Rank>(Step{1} << (step % (floor_log2(local - 2) + 1)));
  const Rank ahead = hop >= wrap(outer - place, local) ? hop + 1 : hop;
  const Rank behind = hop >= wrap(place - outer, local) ? hop + 1 : hop;
  return {.self = 0.5,
          .from = {{host * local + wrap(place - behind, local), 0.5}},
          .to = {host * local + wrap(place + ahead, local)}};
}

}  // namespace

Step period_of(std::string_view topology, Rank world, Rank local) {
  if (world < 2) {
    return 1;
  }
  if (topology == "one-peer-exp") {
    return ceil_log2(world);
  }
  if (topology == "inner-outer-exp") {
    check_hosts(world, local);
    // One counter turns three wheels.
    const Step outer = floor_log2(world / local - 1) + 1;
    const Step inner = floor_log2(local - 2) + 1;
    return std::lcm(std::lcm(Step{local}, outer), inner);
  }
  return 1;
}

Mixing mixing_of(
    std::string_view topology, Rank world, Rank local, Rank rank, Step step) {
  if (world < 2) {
    return {};
  }
  if (topology == "ring") {
    return ring(world, rank);
  }
  if (topology == "exp") {
    return circulant(world, rank, powers_below(world));
  }
  if (topology == "one-peer-exp") {
    return circulant(
        world, rank, {static_cast<Rank>(Step{1} << (step % ceil_log2(world)))});
  }
  PACELINE_CHECK(topology == "inner-outer-exp");
  check_hosts(world, local);
  return inner_outer(world, local, rank, step);
}

bool is_symmetric(std::string_view topology, Rank world, Rank local) {
  std::vector<std::map<Rank, double>> rows(static_cast<std::size_t>(world));
  for (Rank rank = 0; rank < world; ++rank) {
    for (const Neighbor& from :
         mixing_of(topology, world, local, rank, 0).from) {
      rows[static_cast<std::size_t>(rank)][from.rank] += from.weight;
    }
  }
  for (Rank rank = 0; rank < world; ++rank) {
    for (const auto& [from, weight] : rows[static_cast<std::size_t>(rank)]) {
      const auto& back = rows[static_cast<std::size_t>(from)];
      const auto found = back.find(rank);
      if (found == back.end() || found->second != weight) {
        return false;
      }
    }
  }
  return true;
}

std::size_t degree_of(std::string_view topology, Rank world, Rank local) {
  return mixing_of(topology, world, local, 0, 0).from.size();
}

}  // namespace paceline::strategies
