// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "paceline/engines/engine.h"
#include "paceline/engines/job_store.h"
#include "paceline/engines/world.h"

namespace paceline::engines {

struct JobStore {
  c10::intrusive_ptr<c10d::Store> c10d;
};

/// A channel's specification for ranks 0 .. members-1 of the world; its
/// timeout and device are the caller's to set.  Where all members share a host
/// it goes over the loopback, else over the outward interface (see
/// engines/interface.h), unless `interface` says otherwise.  `name` must be new
/// in the job.
ChannelSpec channel_spec(const World& world,
                         const std::string& name,
                         int members,
                         const std::string& interface = "");

}  // namespace paceline::engines
