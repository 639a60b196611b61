// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/serving.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

/// Daniel J. Bernstein's string hash, modulo 2^64 as BytePS computes it.
std::uint64_t djb2(std::string_view text) {
  std::uint64_t hash = 5381;
  for (const char c : text) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

/// The server of the `part`-th partition of a bucket at `place` by name, which
/// is the `number`-th of all.
Rank owner_of(std::size_t place,
              std::size_t part,
              std::size_t number,
              bool hashed,
              const Roles& roles) {
  const auto servers = static_cast<std::uint64_t>(roles.servers);
  const std::uint64_t chosen =
      hashed ? djb2(std::to_string((place << 16U) + part)) % servers
             : number % servers;
  return roles.first_server + static_cast<Rank>(chosen);
}

Roles colocated_roles(const Serving& serving, const PlanInput& input) {
  const Rank world = input.world;
  if (serving.servers > world) {
    throw UsageError(
        fmt::format("ps: {} servers on {} colocated ranks; at most one a rank",
                    serving.servers,
                    world));
  }
  return {.workers = world,
          .servers = serving.servers == 0 ? world : serving.servers,
          .hosts = hosts_of(input, world, serving.local, "ps")};
}

Roles roles_apart(const Serving& serving, const PlanInput& input) {
  const Rank world = input.world;
  const Rank servers = serving.servers == 0 ? world / 2 : serving.servers;
  if (serving.servers == 0 && world % 2 != 0) {
    throw UsageError(fmt::format(
        "ps:placement=apart: {} ranks cannot be half servers, as without "
        "servers=N; give servers=N from 1 to {}",
        world,
        world - 1));
  }
  if (servers >= world) {
    throw UsageError(fmt::format(
        "ps:placement=apart: {} servers leave no worker of {} ranks; give "
        "servers=N from 1 to {}",
        servers,
        world,
        world - 1));
  }
  return {.workers = world - servers,
          .servers = servers,
          .first_server = world - servers,
          .hosts = hosts_of(input, world - servers, serving.local, "ps")};
}

}  // namespace

Rank Roles::copies() const {
  const bool colocated = first_server == 0;
  return colocated && hosts.local == 1 ? hosts.count - 1 : hosts.count;
}

bool Roles::crosses() const {
  return first_server > 0 || hosts.local == 1 || hosts.count > 1;
}

Symmetry Roles::only_working() const {
  const Rank local = hosts.local;
  const Rank serving = first_server > 0 ? 0 : servers;
  const Rank first = (serving + local - 1) / local * local;
  return {.first = first,
          .count = workers - first,
          .block = local,
          .in_any_order = true};
}

Roles roles_of(const Serving& serving, const PlanInput& input) {
  if (input.world == 1) {
    return {};
  }
  return serving.colocated ? colocated_roles(serving, input)
                           : roles_apart(serving, input);
}

std::vector<Partition> all_partitions(const Serving& serving,
                                      Program& program) {
  const Roles roles = roles_of(serving, program.input());
  const std::int64_t size = size_of(program.input().model.dtype);
  const Elements longest = serving.partition.longest(
      program.buckets(), kAlignmentBytes / size * roles.hosts.local, size);
  std::vector<Elements> used(static_cast<std::size_t>(roles.servers));
  std::vector<Partition> all;
  for (std::size_t bucket = 0; bucket < program.buckets().size(); ++bucket) {
    const Slice& values = program.buckets()[bucket].values;
    const std::size_t place =
        serving.hashed ? serving.first_key + program.places_by_name()[bucket]
                       : bucket;
    for (Elements at = 0; at < values.count; at += longest) {
      Partition part{.begin = values.begin + at,
                     .count = std::min(longest, values.count - at)};
      part.owner = owner_of(place,
                            static_cast<std::size_t>(at / longest),
                            all.size(),
                            serving.hashed,
                            roles);
      auto& inbox =
          used[static_cast<std::size_t>(part.owner - roles.first_server)];
      part.inbox = inbox;
      inbox += part.count * roles.copies();
      all.push_back(part);
    }
  }
  return all;
}

std::vector<Partition> partitions_of(const Serving& serving,
                                     const Slice& slice,
                                     Program& program) {
  const Elements copies = roles_of(serving, program.input()).copies();
  std::vector<Partition> inside;
  for (const Partition& part : all_partitions(serving, program)) {
    const Elements begin = std::max(part.begin, slice.begin);
    const Elements end =
        std::min(part.begin + part.count, slice.begin + slice.count);
    if (begin < end) {
      inside.push_back({.begin = begin,
                        .count = end - begin,
                        .owner = part.owner,
                        .inbox = part.inbox + (begin - part.begin) * copies});
    }
  }
  return inside;
}

std::vector<Piece> pieces_of(const Partition& part, const Roles& roles) {
  std::vector<Piece> pieces;
  const Elements count = part.count / roles.hosts.local;
  for (Rank place = 0; roles.crosses() && place < roles.hosts.local; ++place) {
    const Elements at = place * count;
    pieces.push_back({.begin = part.begin + at,
                      .count = count,
                      .inbox = part.inbox + at * roles.copies(),
                      .place = place});
  }
  return pieces;
}

}  // namespace paceline::strategies
