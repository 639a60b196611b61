// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/engines/c10d_store.h"
#include "paceline/engines/engine.h"
#include "paceline/engines/world.h"

namespace paceline::engines {

struct C10dStore {
  c10::intrusive_ptr<c10d::Store> store;
};

/// Returns the specification of a channel among ranks 0 .. members-1 of the world; the caller sets
/// its timeout and device. If `interface` is empty, the channel uses the loopback interface if all
/// members share a host, else the interface of the host's outward address
/// (launch/network_interface.h). No other channel of the job may have the same `name`.
ChannelSpec channel_spec(const World& world, const std::string& name, int members,
                         const std::string& interface = "");

}  // namespace paceline::engines
