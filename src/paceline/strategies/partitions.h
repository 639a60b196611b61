// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"
#include "paceline/strategies/strategy.h"

namespace paceline::strategies {

/// More partitions than this of one model are rejected: each is an exchange of its own, and the
/// plan's size and the time to make it grow with them.
inline constexpr std::int64_t kMostPartitions = 20'000;

/// How long a partition may be, as the option partition-mb says it.
class PartitionLimit {
 public:
  /// `row`: whose option it is, for messages.
  PartitionLimit(std::string_view row, const Options& options);

  /// Elements of the longest partition: whole steps of `step` elements, each
  /// of which counts as `size` bytes, at least one.  Throws UsageError where
  /// `buckets` would be cut into more than kMostPartitions, and into more than
  /// there are buckets.
  Elements longest(const std::vector<Bucket>& buckets, Elements step, double size) const;

 private:
  std::string name_;  // bytescheduler:partition-mb
  std::string text_;
  std::int64_t bytes_ = 0;
};

}  // namespace paceline::strategies
