// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "paceline/plan/comm_plan.h"

namespace paceline::validate {

/// The parameter server of BytePS: the devices of a host sum a partition and
/// share it out, each pushes its share to the partition's server, pulls the
/// sum, and the devices of the host gather it.  All updates follow the last
/// partition, as its step() waits.
///
/// The first hosts of PlanInput::local_world work, as many hosts of one rank
/// each at the end serve; with one working host there are no servers.
/// A partition's server is djb2(decimal key) modulo the servers, key = place
/// of its tensor among the sorted names * 2^16 + number of the partition.
/// Jiang et al., OSDI 2020; bytedance/byteps, byteps/common/global.cc.
struct BytePsOptions {
  bool fused = false;  // one tensor of everything, after backward
  std::int64_t partition_bytes = 4'096'000;
};

std::unique_ptr<plan::Planner> make_byteps(const BytePsOptions& options);

}  // namespace paceline::validate
