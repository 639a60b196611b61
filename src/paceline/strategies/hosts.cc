// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/hosts.h"

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {

Members Hosts::on_host(Rank host) const {
  return Members::spaced(rank_of(host, 0), local);
}

Members Hosts::at_place(Rank place) const {
  return Members::spaced(place, count, local);
}

Hosts hosts_of(const PlanInput& input,
               Rank ranks,
               Rank local,
               std::string_view who) {
  if (local == 0 && input.local_world.empty()) {
    return {ranks, 1};
  }
  if (local == 0) {
    local = input.local_world.runs().front().ranks;
    if (!input.local_world.equal_up_to(ranks)) {
      throw UsageError(fmt::format(
          "'{}' wants {}hosts with equally many ranks; here are {}",
          who,
          ranks < input.world
              ? fmt::format("the first {} ranks, which work, on ", ranks)
              : "",
          text_of(input.local_world)));
    }
  }
  if (local < 1 || ranks % local != 0) {
    throw UsageError(fmt::format(
        "'{}': {} ranks do not fill hosts of {} each", who, ranks, local));
  }
  return {local, ranks / local};
}

}  // namespace paceline::strategies
