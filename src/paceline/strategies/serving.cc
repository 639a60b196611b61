// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/serving.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

/// Computes Daniel J. Bernstein's string hash modulo 2^64, as BytePS does.
std::uint64_t djb2(std::string_view text) {
  std::uint64_t hash = 5381;
  for (const char c : text) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

/// Returns, for each bucket, its index among all buckets sorted by the name of their first
/// parameter.  Servers that identify parameters by name number the buckets in this order.
std::vector<std::size_t> bucket_order_by_name(const Program& program) {
  const auto name = [&](std::size_t bucket) -> const std::string& {
    const ParameterId first = program.buckets()[bucket].parameters.front();
    return program.input().model.parameters[index_of(first)].name;
  };
  std::vector<std::size_t> sorted(program.buckets().size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::ranges::stable_sort(sorted, {}, name);
  std::vector<std::size_t> places(sorted.size());
  for (std::size_t place = 0; place < sorted.size(); ++place) {
    places[sorted[place]] = place;
  }
  return places;
}

/// A partition and the bucket that it is cut from.  Cuts are in the order of the layout.
struct PartitionCut {
  std::size_t bucket = 0, part = 0;  // part: its number within the bucket
  Partition partition;
};

std::vector<PartitionCut> cut(const ServingOptions& serving, const ServerRoles& roles,
                              const Program& program) {
  const std::int64_t size = size_of(program.input().model.dtype);
  const Elements largest = serving.partition.largest_partition_elements(
      program.buckets(), kAlignmentBytes / size * roles.hosts.local, static_cast<double>(size));
  std::vector<PartitionCut> all;
  for (std::size_t bucket = 0; bucket < program.buckets().size(); ++bucket) {
    const Slice& values = program.buckets()[bucket].values;
    for (Elements at = 0; at < values.count; at += largest) {
      all.push_back({.bucket = bucket,
                     .part = static_cast<std::size_t>(at / largest),
                     .partition = {.begin = values.begin + at,
                                   .count = std::min(largest, values.count - at)}});
    }
  }
  return all;
}

using Servers = std::vector<std::size_t>;  // index of the server of each partition

Servers assign_round_robin(std::size_t partitions, std::size_t servers) {
  Servers chosen(partitions);
  for (std::size_t i = 0; i < partitions; ++i) {
    chosen[i] = i % servers;
  }
  return chosen;
}

Servers assign_by_hash(const std::vector<PartitionCut>& cuts,
                       const std::vector<std::size_t>& places, std::size_t servers) {
  Servers chosen;
  for (const PartitionCut& it : cuts) {
    const std::size_t key = (places[it.bucket] << 16U) + it.part;
    chosen.push_back(djb2(std::to_string(key)) % servers);
  }
  return chosen;
}

/// Assigns the partitions, the largest first, each to the server with the fewest elements.  Ties go
/// to the first partition and to the first server.
Servers assign_by_size(const std::vector<PartitionCut>& cuts, std::size_t servers) {
  std::vector<std::size_t> order(cuts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return cuts[i].partition.count; });
  using Load = std::pair<Elements, std::size_t>;  // elements and index of a server
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::size_t server = 0; server < servers; ++server) {
    loads.emplace(0, server);
  }
  Servers chosen(cuts.size());
  for (const std::size_t i : order) {
    const auto [load, server] = loads.top();
    loads.pop();
    chosen[i] = server;
    loads.emplace(load + cuts[i].partition.count, server);
  }
  return chosen;
}

Servers assign(const ServingOptions& serving, const std::vector<PartitionCut>& cuts,
               std::size_t servers, const Program& program) {
  switch (serving.assign) {
    case Assignment::kHash:
      return assign_by_hash(cuts, bucket_order_by_name(program), servers);
    case Assignment::kSize:
      return assign_by_size(cuts, servers);
    case Assignment::kRoundRobin:
      break;
  }
  return assign_round_robin(cuts.size(), servers);
}

std::vector<Partition> make_partitions(const ServingOptions& serving, const Program& program) {
  const ServerRoles roles = roles_of(serving, program.input());
  const std::vector<PartitionCut> cuts = cut(serving, roles, program);
  const auto servers = static_cast<std::size_t>(roles.servers);
  const Servers chosen = assign(serving, cuts, servers, program);
  std::vector<Elements> used(servers);
  std::vector<Partition> all;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    Partition part = cuts[i].partition;
    Elements& inbox = used[chosen[i]];
    part.owner = roles.first_server + static_cast<Rank>(chosen[i]);
    part.inbox = inbox;
    inbox += part.count * roles.copies();
    all.push_back(part);
  }
  return all;
}

ServerRoles colocated_roles(const ServingOptions& serving, const PlanInput& input) {
  const Rank world = input.world;
  if (serving.servers > world) {
    throw UsageError(fmt::format("ps: {} servers on {} colocated ranks; at most one a rank",
                                 serving.servers, world));
  }
  return {.workers = world,
          .servers = serving.servers == 0 ? world : serving.servers,
          .hosts = hosts_of(input, world, serving.local, "ps")};
}

ServerRoles roles_apart(const ServingOptions& serving, const PlanInput& input) {
  const Rank world = input.world;
  const Rank servers = serving.servers == 0 ? world / 2 : serving.servers;
  if (serving.servers == 0 && world % 2 != 0) {
    throw UsageError(
        fmt::format("ps:placement=apart: {} ranks cannot be half servers, as without servers=N; "
                    "give servers=N from 1 to {}",
                    world, world - 1));
  }
  if (servers >= world) {
    throw UsageError(fmt::format(
        "ps:placement=apart: {} servers leave no worker of {} ranks; give servers=N from 1 to {}",
        servers, world, world - 1));
  }
  return {.workers = world - servers,
          .servers = servers,
          .first_server = world - servers,
          .hosts = hosts_of(input, world - servers, serving.local, "ps")};
}

}  // namespace

Rank ServerRoles::copies() const {
  const bool colocated = first_server == 0;
  return colocated && hosts.local == 1 ? hosts.count - 1 : hosts.count;
}

bool ServerRoles::needs_push() const {
  return first_server > 0 || hosts.local == 1 || hosts.count > 1;
}

Symmetry ServerRoles::pure_worker_symmetry() const {
  const Rank local = hosts.local;
  const Rank serving = first_server > 0 ? 0 : servers;
  const Rank first = (serving + local - 1) / local * local;
  return {.first = first, .count = workers - first, .block = local, .in_any_order = true};
}

ServerRoles roles_of(const ServingOptions& serving, const PlanInput& input) {
  if (input.world == 1) {
    return {};
  }
  return serving.colocated ? colocated_roles(serving, input) : roles_apart(serving, input);
}

Assignment assignment(std::string_view word) {
  return word == "hash"   ? Assignment::kHash
         : word == "size" ? Assignment::kSize
                          : Assignment::kRoundRobin;
}

const std::vector<Partition>& all_partitions(const ServingOptions& serving, Program& program) {
  return program.derived<std::vector<Partition>>([&] { return make_partitions(serving, program); });
}

std::vector<Partition> partitions_of(const ServingOptions& serving, const Slice& slice,
                                     Program& program) {
  const Elements copies = roles_of(serving, program.input()).copies();
  std::vector<Partition> inside;
  for (const Partition& part : all_partitions(serving, program)) {
    const Elements begin = std::max(part.begin, slice.begin);
    const Elements end = std::min(part.begin + part.count, slice.begin + slice.count);
    if (begin < end) {
      inside.push_back({.begin = begin,
                        .count = end - begin,
                        .owner = part.owner,
                        .inbox = part.inbox + (begin - part.begin) * copies});
    }
  }
  return inside;
}

std::vector<PartitionShard> pieces_of(const Partition& part, const ServerRoles& roles) {
  std::vector<PartitionShard> pieces;
  const Elements count = part.count / roles.hosts.local;
  for (Rank place = 0; roles.needs_push() && place < roles.hosts.local; ++place) {
    const Elements at = place * count;
    pieces.push_back({.begin = part.begin + at,
                      .count = count,
                      .inbox = part.inbox + at * roles.copies(),
                      .place = place});
  }
  return pieces;
}

}  // namespace paceline::strategies
