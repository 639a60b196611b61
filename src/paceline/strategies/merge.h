// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "paceline/plan/profile.h"
#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/transfer_time.h"

namespace paceline::strategies {

/// The size and ready time of one gradient, as merging needs it.
struct ReadyTensor {
  Elements elements = 0;
  std::int64_t bytes = 0;
  Picoseconds ready = 0;  // counted from the start of backward
};

/// The gradients in ready order, with times from input.profile.  Throws UsageError, which names the
/// schedule, if there is no profile.
std::vector<ReadyTensor> tensors_of(const PlanInput& input, std::string_view schedule);

/// Returns the groups of parameters in ready order; `sizes[i]` is the number of tensors of group i.
Groups groups_of_sizes(const ModelShape& model, const std::vector<std::size_t>& sizes);

/// Returns the number of tensors of each bucket by the greedy rule of Shi et al. 2019, for any
/// function `time`.  Where the paper has alpha, this uses the time that merging two buckets saves;
/// if `time` is alpha + beta * bytes, the two are equal.  A pending bucket of fewer than `small`
/// elements is always merged.
std::vector<std::size_t> greedy_merge(const std::vector<ReadyTensor>& tensors,
                                      const TransferTime& time, Elements small = 0);

}  // namespace paceline::strategies
