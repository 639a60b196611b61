// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

struct StrategySpec;  // strategies/strategy.h

/// Ranks on hosts of equal size, in rank order.
struct Hosts {
  Rank local = 1;  // ranks per host
  Rank count = 1;  // number of hosts

  /// Whether the rank is on one of these hosts, which have the first ranks of the job.
  bool contains_rank(Rank rank) const { return rank < local * count; }

  Rank host_of(Rank rank) const { return rank / local; }
  Rank local_rank_of(Rank rank) const { return rank % local; }
  Rank rank_of(Rank host, Rank place) const { return host * local + place; }

  /// The first function returns the ranks of one host, the second one the ranks that have local
  /// rank `place` on their hosts.
  Members ranks_on_host(Rank host) const;
  Members ranks_with_local_rank(Rank place) const;
};

/// Places the first `ranks` ranks on hosts of `local` each.  If `local` is 0, the hosts are those
/// of the input, or one host if the input names none.  Throws UsageError, which names `who`, for
/// hosts of unequal size.
Hosts hosts_of(const PlanInput& input, Rank ranks, Rank local, std::string_view who);

/// Adds two communicators of the ranks of a host, if hosts have several ranks: one for
/// reduce-scatter and one for all-gather.  Ops of one communicator are issued in order, and an
/// all-gather waits for the exchange between hosts.  With one communicator, the reduce-scatter of
/// the next slice would wait for it too.
void add_host_communicators(const Hosts& hosts, SetupBuilder& builder);

/// Adds, for each local rank below `lanes`, a communicator of the ranks with this local rank on all
/// hosts (a lane), if there are several hosts.
void add_lane_communicators(const Hosts& hosts, Rank lanes, SetupBuilder& builder);

/// The communicators of the program's rank: for reduce-scatter and for all-gather on its host, and
/// its lane.
CommunicatorId reduce_scatter_communicator(const Hosts& hosts, const Program& program);
CommunicatorId host_all_gather_communicator(const Hosts& hosts, const Program& program);
CommunicatorId lane_communicator(const Hosts& hosts, const Program& program);

/// The shard of a slice that the program's rank has if the ranks of its host divide the slice.
Slice shard_on_host(const Hosts& hosts, const Slice& slice, const Program& program);

/// Appends the all-gather that gives every rank of the host all shards, if hosts have several
/// ranks.
void gather_on_host(const Hosts& hosts, const Slice& slice, Program& program);

/// Throws UsageError if the strategy's exchange does not exist for `world` ranks on these hosts.
/// Empty `hosts` stand for one host.
void check_world(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts);

/// Whether the strategy sums inside hosts first and all ranks are on one host, so that nothing is
/// left for an exchange between hosts.  False if some ranks are only servers.  The strategy must
/// accept `input`.
bool reduces_on_one_host_only(const StrategySpec& strategy, const PlanInput& input);

/// The text of the strategy in which each exchange option `local=0` (ranks per host as the hosts
/// have them) is replaced by `local`.  The text is unchanged if the strategy does not depend on
/// hosts.
std::string text_with_local_size(StrategySpec strategy, Rank local);

}  // namespace paceline::strategies
