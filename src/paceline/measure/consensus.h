// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "paceline/engines/engine.h"
#include "paceline/engines/peer_wait.h"

namespace paceline::measure {

/// How far the ranks' `values` are from their mean m: the root mean square over
/// the ranks of |x - m| / |m|, in double precision.  Collective over the
/// channel; the same number on all ranks.  Nothing where the mean is zero.
std::optional<double> consensus_distance(engines::Channel& channel,
                                         const at::Tensor& values,
                                         const engines::PeerWait& peers = {});

/// How many averages missed so many of the newest steps, by that number, from
/// 0 on; empty where no average may miss any.
std::vector<std::int64_t> averages_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& counted);

}  // namespace paceline::measure
