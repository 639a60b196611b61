// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// The largest number of partitions of one model.  Each partition has a separate exchange, so the
/// size of the plan and the time to make it grow with their number.
inline constexpr std::int64_t kMostPartitions = 20'000;

/// The length limit of a partition, which the option partition-mb states in MiB.
class PartitionLimit {
 public:
  /// `row` names the strategy part that has the option, for messages.
  PartitionLimit(std::string_view row, const Options& options);

  /// Converts the limit to a number of elements that is a multiple of `step`, and at least `step`.
  /// Each element counts as `size` bytes. Throws UsageError if this limit cuts `buckets` into more
  /// than kMostPartitions partitions and into more than there are buckets.
  Elements largest_partition_elements(const std::vector<Bucket>& buckets, Elements step,
                                      double size) const;

 private:
  std::string name_;  // for messages, such as bytescheduler:partition-mb
  std::string text_;
  std::int64_t bytes_ = 0;
};

}  // namespace paceline::strategies
