// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/host_communicators.h"

#include <fmt/format.h>

namespace paceline::plan {
namespace {

constexpr auto kReduce = "reduce{}";
constexpr auto kGather = "gather{}";

CommunicatorId of_host(const char* name,
                       const Hosts& hosts,
                       const Program& program) {
  return communicator_named(
      program.setup(),
      fmt::format(fmt::runtime(name), hosts.host_of(program.input().rank)));
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

CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program) {
  return of_host(kReduce, hosts, program);
}

CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program) {
  return of_host(kGather, hosts, program);
}

}  // namespace paceline::plan
