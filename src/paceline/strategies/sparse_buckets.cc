// SPDX-License-Identifier: Apache-2.0
#include "paceline/strategies/sparse_buckets.h"

#include <algorithm>
#include <cmath>

namespace paceline::strategies {

Elements SparseBuckets::kept(const std::vector<Bucket>& buckets,
                             const ModelShape& model) const {
  Elements kept = 0;
  for (const Bucket& bucket : buckets) {
    kept += kept_of(bucket, model);
  }
  return kept;
}

SparseBuckets::Range SparseBuckets::range_of(const Slice& slice,
                                             const Program& program) const {
  const ModelShape& model = program.input().model;
  const std::size_t number = program.bucket_at(slice.begin);
  Elements before = 0;
  for (std::size_t i = 0; i < number; ++i) {
    before += kept_of(program.buckets()[i], model);
  }
  const Bucket& bucket = program.buckets()[number];
  const Elements kept = kept_of(bucket, model);
  const auto share = [&](Elements end) {
    return kept * (end - bucket.values.begin) / bucket.values.count;
  };
  const Elements begin = share(slice.begin);
  return {before + begin, share(slice.begin + slice.count) - begin};
}

/// The padding between tensors does not count.
Elements SparseBuckets::kept_of(const Bucket& bucket,
                                const ModelShape& model) const {
  Elements elements = 0;
  for (const ParameterId id : bucket.parameters) {
    elements += model.parameters[index_of(id)].elements;
  }
  return std::max(Elements{1},
                  static_cast<Elements>(
                      std::floor(density_ * static_cast<double>(elements))));
}

}  // namespace paceline::strategies
