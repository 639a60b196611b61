// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/networks/batch.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::networks {

/// Whose lookups, in which step of the job.
struct BagKey {
  std::uint64_t seed = 0;
  plan::Rank trainer = 0;
  plan::Step step = 0;
};

// Synthetic lookups that depend on the job and the key alone: whoever needs a part of a step's
// batch draws it, and all draw the same.

/// Where each bag begins among the lookups of a table, and the end of the last one.
std::vector<plan::Elements> draw_offsets(const strategies::EmbeddingJob& job, const BagKey& key);

/// `count` ids of a table.
std::vector<plan::Elements> draw_ids(const strategies::EmbeddingJob& job, const BagKey& key,
                                     int table, plan::Elements count);

/// What beside the bags the network takes: inputs [bags, features], uniform in [0, 1), or 0 .. 3
/// with job.integers, and uniform targets.
Batch draw_bag_batch(const strategies::EmbeddingJob& job, const BagKey& key,
                     const NetworkInfo& info, at::ScalarType dtype);

}  // namespace paceline::networks
