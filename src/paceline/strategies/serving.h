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

// Which rank serves which partition under parameter servers; strategies/ps.cc writes what crosses.

namespace paceline::strategies {

/// Which server a partition goes to.
enum class Assignment : std::uint8_t {
  kRoundRobin,  // in the order of the layout
  kHash,        // BytePS's hash of its key
  kSize         // the largest partition first, to the server with the fewest bytes
};

/// The assignment that the option's word names: round-robin, hash or size.
Assignment assignment(std::string_view word);

/// The options of `ps`.
struct Serving {
  Rank servers = 0;  // 0: as many as workers
  bool colocated = true;
  Assignment assign = Assignment::kRoundRobin;
  Rank local = 1;  // ranks a host that sum first; 0: as the hosts have
  PartitionLimit partition;
};

struct Roles {
  Rank workers = 1, servers = 1, first_server = 0;
  Hosts hosts;  // of the workers

  /// How many copies of a piece a server receives, at most: its own share, which it has already, is
  /// one of those that it serves where every rank
  /// is a host.
  Rank copies() const;

  /// Whether anybody else has anything to add to the sum of a host.
  bool crosses() const;

  /// Workers that serve nothing may change places.
  Symmetry only_working() const;
};

/// Throws UsageError where the ranks of `input` cannot be divided so.
Roles roles_of(const Serving& serving, const PlanInput& input);

/// Within the layout of values; `inbox` is where the first sender's copy lies at the owner.
struct Partition {
  Elements begin = 0, count = 0;
  Rank owner = 0;
  Elements inbox = 0;
};

/// The share of a partition of the workers at one place of their hosts.
struct Piece {
  Elements begin = 0, count = 0;
  Elements inbox = 0;
  Rank place = 0;
};

/// All of them, in the order of the layout.  The first call for a program
/// makes them.
const std::vector<Partition>& all_partitions(const Serving& serving, Program& program);

/// What of the partitions lies in the slice.
std::vector<Partition> partitions_of(const Serving& serving, const Slice& slice, Program& program);

std::vector<Piece> pieces_of(const Partition& part, const Roles& roles);

}  // namespace paceline::strategies
