// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "paceline/plan/program.h"
#include "paceline/strategies/hosts.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// Adds two communicators of the ranks of a host, where a host has several: one
/// for reduce-scatter and one for all-gather.  Ops of one communicator are
/// issued in order, and an all-gather waits for the exchange between hosts.
/// With one communicator, the reduce-scatter of the next slice would wait for
/// it too.
void add_host_communicators(const Hosts& hosts, SetupBuilder& builder);

/// Adds a communicator of the ranks at one place of every host, where there are
/// several hosts; for the first `lanes` places.
void add_lane_communicators(const Hosts& hosts,
                            Rank lanes,
                            SetupBuilder& builder);

/// The communicators of the program's rank.
CommunicatorId reducing_on_host(const Hosts& hosts, const Program& program);
CommunicatorId gathering_on_host(const Hosts& hosts, const Program& program);
CommunicatorId lane_of(const Hosts& hosts, const Program& program);

}  // namespace paceline::strategies
