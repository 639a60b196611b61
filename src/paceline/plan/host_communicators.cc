// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/host_communicators.h"

#include <fmt/format.h>

namespace paceline::plan {
namespace {

constexpr auto kReduce = "reduce{}";
constexpr auto kGather = "gather{}";
constexpr auto kLane = "lane{}";

/// `which`: a host, or a place.
CommunicatorId numbered(const char* name, Rank which, const Program& program) {
  return communicator_named(program.setup(),
                            fmt::format(fmt::runtime(name), which));
}

}  // namespace

void add_host_communicators(const Hosts& hosts, Frame& frame) {
  if (hosts.local == 1) {
    return;
  }
  for (const char* name : {kReduce, kGather}) {
    for (Rank host = 0; host < hosts.count; ++host) {
      frame.add_communicator(fmt::format(fmt::runtime(name), host),
                             hosts.on_host(host));
    }
  }
}

void add_lane_communicators(const Hosts& hosts, Rank lanes, Frame& frame) {
  for (Rank place = 0; hosts.count > 1 && place < lanes; ++place) {
    frame.add_communicator(fmt::format(kLane, place), hosts.at_place(place));
  }
}

CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program) {
  return numbered(kReduce, hosts.host_of(program.input().rank), program);
}

CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program) {
  return numbered(kGather, hosts.host_of(program.input().rank), program);
}

CommunicatorId lane_of(const Hosts& hosts, const Program& program) {
  return numbered(kLane, hosts.place_of(program.input().rank), program);
}

}  // namespace paceline::plan
