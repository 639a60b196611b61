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
  Rank local = 1;  // ranks a host
  Rank count = 1;  // hosts

  /// Whether the rank is on one of these hosts; the hosts hold the first ranks.
  bool hold(Rank rank) const { return rank < local * count; }

  Rank host_of(Rank rank) const { return rank / local; }
  Rank place_of(Rank rank) const { return rank % local; }
  Rank rank_of(Rank host, Rank place) const { return host * local + place; }

  /// The ranks of a host, or those at one place of every host.
  Members on_host(Rank host) const;
  Members at_place(Rank place) const;
};

/// The first `ranks` ranks on hosts of `local` each, or, where `local` is 0,
/// as the input says (all on one host where it does not).  Throws UsageError, which names `who`,
/// for hosts of unequal size.
Hosts hosts_of(const PlanInput& input, Rank ranks, Rank local, std::string_view who);

/// Adds two communicators of the ranks of a host, where a host has several: one for reduce-scatter
/// and one for all-gather.  Ops of one communicator are issued in order, and an all-gather waits
/// for the exchange between hosts. With one communicator, the reduce-scatter of the next slice
/// would wait for it too.
void add_host_communicators(const Hosts& hosts, SetupBuilder& builder);

/// Adds a communicator of the ranks at one place of every host, where there are several hosts; for
/// the first `lanes` places.
void add_lane_communicators(const Hosts& hosts, Rank lanes, SetupBuilder& builder);

/// The communicators of the program's rank.
CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program);
CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program);
CommunicatorId lane_of(const Hosts& hosts, const Program& program);

/// The share of a slice that belongs to the program's rank when the ranks of its host divide the
/// slice.
Slice share_on_host(const Hosts& hosts, const Slice& slice, const Program& program);

/// Appends what gives every rank of the host all shares, where a host has several ranks.
void gather_on_host(const Hosts& hosts, const Slice& slice, Program& program);

/// Throws UsageError where the strategy's exchange does not exist for `world` ranks on these hosts;
/// none: one host.
void check_world(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts);

/// Whether ranks of a host sum first in this strategy, and all ranks are on one: nothing is left
/// for an exchange between hosts.  Ranks that only serve are none of that host's.  For an input
/// that the strategy accepts.
bool has_one_host_alone(const StrategySpec& strategy, const PlanInput& input);

/// The strategy with `local` ranks a host wherever it takes them as the hosts have them, its
/// buckets as given: the text of another strategy, or of this one where it does not look at hosts.
std::string with_local_size(StrategySpec strategy, Rank local);

}  // namespace paceline::strategies
