// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/host_communicators.h"

#include <fmt/format.h>

namespace paceline::strategies {
namespace {

constexpr auto kReduce = "reduce";
constexpr auto kGather = "gather";
constexpr auto kLane = "lane";

/// `which`: a host, or a place.
std::string numbered(const char* name, Rank which) {
  return fmt::format("{}{}", name, which);
}

CommunicatorId found(const char* name, Rank which, const Program& program) {
  return communicator_named(program.setup(), numbered(name, which));
}

}  // namespace

void add_host_communicators(const Hosts& hosts, SetupBuilder& builder) {
  if (hosts.local == 1) {
    return;
  }
  const Rank host = hosts.host_of(builder.rank());
  const bool member = hosts.hold(builder.rank());
  for (const char* name : {kReduce, kGather}) {
    builder.add_communicator(member ? numbered(name, host) : name,
                             member ? hosts.on_host(host) : Members());
  }
}

void add_lane_communicators(const Hosts& hosts,
                            Rank lanes,
                            SetupBuilder& builder) {
  if (hosts.count == 1) {
    return;
  }
  const Rank place = hosts.place_of(builder.rank());
  const bool member = hosts.hold(builder.rank()) && place < lanes;
  builder.add_communicator(member ? numbered(kLane, place) : kLane,
                           member ? hosts.at_place(place) : Members());
}

CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program) {
  return found(kReduce, hosts.host_of(program.input().rank), program);
}

CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program) {
  return found(kGather, hosts.host_of(program.input().rank), program);
}

CommunicatorId lane_of(const Hosts& hosts, const Program& program) {
  return found(kLane, hosts.place_of(program.input().rank), program);
}

}  // namespace paceline::strategies
