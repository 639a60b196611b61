// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/program.h"
#include "paceline/strategies/hosts.h"

namespace paceline::strategies {

using namespace plan;

/// Two communicators of the ranks of a host, where these are several: one in
/// which they reduce and one in which they gather.  Operations of a
/// communicator follow each other, and what is gathered has to cross between
/// hosts first: on one communicator the next slice could not be reduced until
/// then.
void add_host_communicators(const Hosts& hosts, Frame& frame);

/// A communicator across the hosts, where these are several, of the ranks at
/// one place of every host; for the first `lanes` places.
void add_lane_communicators(const Hosts& hosts, Rank lanes, Frame& frame);

/// Those of the program's rank.
CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program);
CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program);
CommunicatorId lane_of(const Hosts& hosts, const Program& program);

}  // namespace paceline::strategies
