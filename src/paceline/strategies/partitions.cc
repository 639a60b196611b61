// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/partitions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kPartitionOption = "partition-mb";

}  // namespace

PartitionLimit::PartitionLimit(std::string_view row, const Options& options)
    : name_(fmt::format("{}:{}", row, kPartitionOption)),
      text_(options.text(kPartitionOption)),
      bytes_(options.bytes_of_mebibytes(kPartitionOption)) {}

Elements PartitionLimit::largest_partition_elements(const std::vector<Bucket>& buckets,
                                                    Elements step, double size) const {
  constexpr double kMostSteps = 1e12;
  const double bytes = static_cast<double>(step) * size;  // bytes of `step` elements
  const double steps = std::floor(static_cast<double>(bytes_) / bytes);
  const Elements largest = static_cast<Elements>(std::clamp(steps, 1.0, kMostSteps)) * step;
  std::int64_t pieces = 0;
  for (const Bucket& bucket : buckets) {
    pieces += (bucket.values.count + largest - 1) / largest;
  }
  if (pieces > std::max(kMostPartitions, std::ssize(buckets))) {
    throw UsageError(
        fmt::format("strategy option {}={}: cuts the model into {} pieces, and at most {} are "
                    "planned; take larger ones",
                    name_, text_, pieces, kMostPartitions));
  }
  return largest;
}

}  // namespace paceline::strategies
