// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/predict/advise.h"

namespace paceline::predict {

/// What advice compares: canonical texts, each once, in the order of the
/// tables.
///
/// Every schedule over an all-reduce, on several hosts over a hierarchical one
/// too; with every bucket size where it has buckets, and partitions and credits
/// for bytescheduler; PyTorch's reducer; up to 32 ranks parameter servers
/// beside the workers, on several hosts with a sum on each host first, too.
/// Where another update is welcome as well: schedules with gradients in fp16
/// and bf16, and every topology of neighbors, of ranks and of hosts.
std::vector<std::string> candidates(const AdviseRequest& request,
                                    std::size_t hosts);

}  // namespace paceline::predict
