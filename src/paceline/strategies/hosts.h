// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "paceline/plan/plan_input.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

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
/// as the input says (all on one host where it does not).  Throws UsageError,
/// which names `who`, for hosts of unequal size.
Hosts hosts_of(const PlanInput& input,
               Rank ranks,
               Rank local,
               std::string_view who);

}  // namespace paceline::strategies
