// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/partitions.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"

namespace paceline::strategies {
namespace {

constexpr std::string_view kKey = "partition-mb";

std::int64_t count_of(const std::vector<Bucket>& buckets, Elements longest) {
  std::int64_t count = 0;
  for (const Bucket& bucket : buckets) {
    count += (bucket.values.count + longest - 1) / longest;
  }
  return count;
}

bool too_many(const std::vector<Bucket>& buckets, Elements longest) {
  return count_of(buckets, longest) >
         std::max(kMostPartitions, static_cast<std::int64_t>(buckets.size()));
}

/// The least number of steps that does not make too many.
Elements least_steps(const std::vector<Bucket>& buckets, Elements step) {
  Elements low = 1, high = 1;
  while (too_many(buckets, high * step)) {
    low = high + 1;
    high *= 2;
  }
  while (low < high) {
    const Elements middle = low + (high - low) / 2;
    if (too_many(buckets, middle * step)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// MiB that are at least so many bytes, in as few digits as tell them apart.
double mebibytes_of(double bytes) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  constexpr double kDigits = 1e6;
  return std::ceil(bytes / kMebibyte * kDigits) / kDigits;
}

}  // namespace

PartitionLimit::PartitionLimit(std::string_view row, const Options& options)
    : name_(fmt::format("{}:{}", row, kKey)),
      text_(options.text(kKey)),
      bytes_(options.bytes_of_mebibytes(kKey)) {}

Elements PartitionLimit::longest(const std::vector<Bucket>& buckets,
                                 Elements step,
                                 double size) const {
  constexpr double kMostSteps = 1e12;
  const double bytes = static_cast<double>(step) * size;  // of a step
  const double steps = std::floor(static_cast<double>(bytes_) / bytes);
  const Elements longest =
      static_cast<Elements>(std::clamp(steps, 1.0, kMostSteps)) * step;
  if (too_many(buckets, longest)) {
    throw UsageError(fmt::format(
        "strategy option {}={}: cuts the model into {} pieces, and at most {} "
        "are planned; take {} or more",
        name_,
        text_,
        count_of(buckets, longest),
        kMostPartitions,
        mebibytes_of(static_cast<double>(least_steps(buckets, step)) * bytes)));
  }
  return longest;
}

}  // namespace paceline::strategies
