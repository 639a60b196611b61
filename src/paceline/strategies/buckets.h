// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The buckets that c10d::compute_bucket_assignment_by_size makes of dense parameters of one type
/// on one device.
///
/// Tensors are taken in `order`; a bucket closes when its bytes reach the
/// limit after adding a tensor; each closed bucket advances to the next limit, the last of which
/// stays.  `limits` in bytes, not empty.
Groups assign_buckets(const ModelShape& model, const std::vector<ParameterId>& order,
                      const std::vector<std::int64_t>& limits);

/// One group of everything, in ready order.
inline Groups one_group(const ModelShape& model) { return {model.ready_order}; }

/// One group per parameter, in ready order.
Groups single_groups(const ModelShape& model);

/// One group of each run of neighbors in ready order that one module reads first.
Groups module_groups(const ModelShape& model);

/// The bucket that covers all of `buckets`, which follow each other.
Bucket join(const std::vector<Bucket>& buckets);

/// Buckets in the order in which the next forward reads them first, each with the number of that
/// module.
struct FirstRead {
  std::size_t bucket = 0;
  std::int32_t module = 0;
};
std::vector<FirstRead> by_first_read(const ModelShape& model, const std::vector<Bucket>& buckets);

}  // namespace paceline::strategies
