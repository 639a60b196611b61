// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/hosts.h"

#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/strategies/rules.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {
namespace {

constexpr auto kReduceCommunicator = "reduce";
constexpr auto kGatherCommunicator = "gather";
constexpr auto kLaneCommunicator = "lane";

/// Returns the name of a communicator: `name` and the index of its host or its local rank.
std::string numbered_name(const char* name, Rank which) { return fmt::format("{}{}", name, which); }

CommunicatorId found(const char* name, Rank which, const Program& program) {
  return communicator_named(program.setup(), numbered_name(name, which));
}

}  // namespace

Members Hosts::ranks_on_host(Rank host) const { return Members::spaced(rank_of(host, 0), local); }

Members Hosts::ranks_with_local_rank(Rank place) const {
  return Members::spaced(place, count, local);
}

Hosts hosts_of(const PlanInput& input, Rank ranks, Rank local, std::string_view who) {
  if (local == 0 && input.local_world.empty()) {
    return {ranks, 1};
  }
  if (local == 0) {
    local = input.local_world.runs().front().ranks;
    if (!input.local_world.has_equal_hosts_up_to(ranks)) {
      throw UsageError(fmt::format(
          "'{}' wants {}hosts with equally many ranks; here are {}", who,
          ranks < input.world ? fmt::format("the first {} ranks, which work, on ", ranks) : "",
          text_of(input.local_world)));
    }
  }
  if (local < 1 || ranks % local != 0) {
    throw UsageError(fmt::format("'{}': {} ranks do not fill hosts of {} each", who, ranks, local));
  }
  return {local, ranks / local};
}

void add_host_communicators(const Hosts& hosts, SetupBuilder& builder) {
  if (hosts.local == 1) {
    return;
  }
  const Rank host = hosts.host_of(builder.rank());
  const bool member = hosts.contains_rank(builder.rank());
  for (const char* name : {kReduceCommunicator, kGatherCommunicator}) {
    builder.add_communicator(member ? numbered_name(name, host) : name,
                             member ? hosts.ranks_on_host(host) : Members());
  }
}

void add_lane_communicators(const Hosts& hosts, Rank lanes, SetupBuilder& builder) {
  if (hosts.count == 1) {
    return;
  }
  const Rank place = hosts.local_rank_of(builder.rank());
  const bool member = hosts.contains_rank(builder.rank()) && place < lanes;
  builder.add_communicator(member ? numbered_name(kLaneCommunicator, place) : kLaneCommunicator,
                           member ? hosts.ranks_with_local_rank(place) : Members());
}

CommunicatorId reduce_scatter_communicator(const Hosts& hosts, const Program& program) {
  return found(kReduceCommunicator, hosts.host_of(program.input().rank), program);
}

CommunicatorId host_all_gather_communicator(const Hosts& hosts, const Program& program) {
  return found(kGatherCommunicator, hosts.host_of(program.input().rank), program);
}

CommunicatorId lane_communicator(const Hosts& hosts, const Program& program) {
  return found(kLaneCommunicator, hosts.local_rank_of(program.input().rank), program);
}

Slice shard_on_host(const Hosts& hosts, const Slice& slice, const Program& program) {
  return shard_of(slice, hosts.local_rank_of(program.input().rank), hosts.local);
}

void gather_on_host(const Hosts& hosts, const Slice& slice, Program& program) {
  if (hosts.local > 1) {
    program.all_gather(shard_on_host(hosts, slice, program), slice,
                       host_all_gather_communicator(hosts, program));
  }
}

void check_world(const StrategySpec& strategy, Rank world, const plan::RanksPerHost& hosts) {
  if (strategy.exchange.row != nullptr) {
    PlanInput input;
    input.world = world;
    input.local_world = hosts;
    (void)make_exchange(strategy)->traits(input);
  }
}

bool reduces_on_one_host_only(const StrategySpec& strategy, const PlanInput& input) {
  if (strategy.exchange.row == nullptr || input.world == 1) {
    return false;
  }
  const ExchangeTraits traits = make_exchange(strategy)->traits(input);
  return traits.hosts == 1 && traits.training_ranks >= input.world;
}

std::string text_with_local_size(StrategySpec strategy, Rank local) {
  auto values = strategy.exchange.options.values();
  for (auto& [key, value] : values) {
    if (key == "local" && value == "0") {
      value = fmt::format("{}", local);
    }
  }
  strategy.exchange.options = Options(std::move(values));
  return strategy.text();
}

}  // namespace paceline::strategies
