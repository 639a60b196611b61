// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// Divides the parameters into the buckets that c10d::compute_bucket_assignment_by_size makes for
/// dense parameters of one type on one device.
///
/// Tensors are added in `order`.  A bucket closes when its bytes reach the current limit after a
/// tensor was added.  Each closed bucket advances to the next limit; the last limit stays.
/// `limits` are in bytes and not empty.
Groups assign_buckets(const ModelShape& model, const std::vector<ParameterId>& order,
                      const std::vector<std::int64_t>& limits);

/// One group of all parameters, in ready order.
inline Groups one_group(const ModelShape& model) { return {model.ready_order}; }

/// One group per parameter, in ready order.
Groups single_groups(const ModelShape& model);

/// One group for each run of neighbors in ready order that belong to the same module.
Groups module_groups(const ModelShape& model);

/// Returns one bucket that covers all of `buckets`, which must be adjacent and in order.
Bucket join(const std::vector<Bucket>& buckets);

/// The first module whose forward pass reads a parameter of each bucket, by index of the bucket,
/// and the indices of the buckets in the order of these modules.
struct FirstReads {
  std::vector<std::int32_t> modules;
  std::vector<std::size_t> order;
};
FirstReads first_reads_of(const ModelShape& model, const std::vector<Bucket>& buckets);

}  // namespace paceline::strategies
