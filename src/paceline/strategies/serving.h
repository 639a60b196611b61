// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/partitions.h"
#include "paceline/strategies/plan_words.h"

// Assigns partitions to parameter servers; strategies/ps.cc writes the communication.

namespace paceline::strategies {

/// How partitions are assigned to servers.
enum class Assignment : std::uint8_t {
  kRoundRobin,  // in turn, in the order of the layout
  kHash,        // by BytePS's hash of the partition's key
  kSize         // the largest partition first, each to the server with the fewest bytes
};

/// Returns the assignment that the option's word names: round-robin, hash or size.
Assignment assignment(std::string_view word);

/// The options of the exchange `ps`, the parameter servers.
struct ServingOptions {
  Rank servers = 0;  // 0: as many servers as workers
  bool colocated = true;
  Assignment assign = Assignment::kRoundRobin;
  Rank local = 1;  // ranks per host that sum first; 0: as the hosts have
  PartitionLimit partition;
};

struct ServerRoles {
  Rank workers = 1, servers = 1, first_server = 0;
  Hosts hosts;  // the hosts of the workers

  /// Returns the number of copies of a partition that a server receives. If every rank is alone on
  /// its host and is also a server, this is one less than the number of workers, since the server
  /// already has its own copy.
  Rank copies() const;

  /// Whether sums are pushed to servers; they are not if colocated workers sum on one host.
  bool needs_push() const;

  /// The symmetry of the plans: workers that are not servers are interchangeable.
  Symmetry pure_worker_symmetry() const;
};

/// Divides the ranks of `input` into workers and servers.  Throws UsageError if that is impossible.
ServerRoles roles_of(const ServingOptions& serving, const PlanInput& input);

/// A partition of the layout of values and the server that owns it; `inbox` is the offset of the
/// first sender's copy at the owner.
struct Partition {
  Elements begin = 0, count = 0;
  Rank owner = 0;
  Elements inbox = 0;
};

/// The part of a partition that workers push and pull if the ranks of a host sum first: that of the
/// workers with local rank `place`.
struct PartitionShard {
  Elements begin = 0, count = 0;
  Elements inbox = 0;
  Rank place = 0;
};

/// All partitions, in the order of the layout.  The first call for a program makes them.
const std::vector<Partition>& all_partitions(const ServingOptions& serving, Program& program);

/// Returns the parts of all partitions that lie in the slice, each with its server.
std::vector<Partition> partitions_of(const ServingOptions& serving, const Slice& slice,
                                     Program& program);

std::vector<PartitionShard> pieces_of(const Partition& part, const ServerRoles& roles);

}  // namespace paceline::strategies
