// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/error.h"

namespace paceline::plan {

std::vector<Rank> Hosts::on_host(Rank host) const {
  std::vector<Rank> ranks;
  for (Rank place = 0; place < local; ++place) {
    ranks.push_back(rank_of(host, place));
  }
  return ranks;
}

std::vector<Rank> Hosts::at_place(Rank place) const {
  std::vector<Rank> ranks;
  for (Rank host = 0; host < count; ++host) {
    ranks.push_back(rank_of(host, place));
  }
  return ranks;
}

Hosts hosts_of(const PlanInput& input,
               Rank ranks,
               Rank local,
               std::string_view who) {
  if (local == 0 && input.local_world.empty()) {
    return {ranks, 1};
  }
  if (local == 0) {
    local = input.local_world.front();
    Rank placed = 0;
    for (const Rank here : input.local_world) {
      if (placed < ranks && here != local) {
        throw UsageError(
            fmt::format("'{}' wants hosts with equally many ranks; here are {}",
                        who,
                        fmt::join(input.local_world, ", ")));
      }
      placed += here;
    }
  }
  if (local < 1 || ranks % local != 0) {
    throw UsageError(fmt::format(
        "'{}': {} ranks do not fill hosts of {} each", who, ranks, local));
  }
  return {local, ranks / local};
}

}  // namespace paceline::plan
