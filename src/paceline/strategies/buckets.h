// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/plan/program.h"
#include "paceline/strategies/plan_words.h"

namespace paceline::strategies {

/// The buckets that c10d::compute_bucket_assignment_by_size makes of dense
/// parameters of one type on one device.
///
/// Tensors are taken in `order`; a bucket closes when its bytes reach the
/// limit after adding a tensor; each closed bucket advances to the next limit,
/// the last of which stays.  `limits` in bytes, not empty.
Groups assign_buckets(const ModelShape& model,
                      const std::vector<ParameterId>& order,
                      const std::vector<std::int64_t>& limits);

}  // namespace paceline::strategies
