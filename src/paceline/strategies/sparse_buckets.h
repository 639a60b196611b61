// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "paceline/strategies/rules.h"

namespace paceline::strategies {

/// How many values of each bucket cross, and where these lie: buckets one after
/// the other, a part of a bucket with its share of the bucket's.
class SparseBuckets {
 public:
  /// `density`: the share of a bucket's values that cross, at least one.
  explicit SparseBuckets(double density) : density_(density) {}

  double density() const { return density_; }

  /// The number of values that cross, summed over `buckets`.
  Elements kept(const std::vector<Bucket>& buckets,
                const ModelShape& model) const;

  struct Range {
    Elements begin = 0, count = 0;
  };

  /// Elements of a bucket, or of a part of one.
  Range range_of(const Slice& slice, const Program& program) const;

 private:
  Elements kept_of(const Bucket& bucket, const ModelShape& model) const;

  double density_;
};

}  // namespace paceline::strategies
