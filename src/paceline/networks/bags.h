// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "paceline/networks/batch.h"
#include "paceline/strategies/embedding_job.h"

namespace paceline::networks {

/// Identifies the lookups that one trainer draws in one step of a job with this seed.
struct LookupBatchKey {
  std::uint64_t seed = 0;
  plan::Rank trainer = 0;
  plan::Step step = 0;
};

// These functions draw synthetic lookups, which depend only on the job and the key: each rank draws
// the parts of a step's batch that it needs, and all ranks draw the same values.

/// Returns the offset of each bag's first id among the ids of a table, as nn.EmbeddingBag's
/// `offsets`, and then the number of ids.
std::vector<plan::Elements> draw_offsets(const strategies::EmbeddingJob& job,
                                         const LookupBatchKey& key);

/// Draws the first `count` row ids to look up in a table.
std::vector<plan::Elements> draw_ids(const strategies::EmbeddingJob& job, const LookupBatchKey& key,
                                     int table, plan::Elements count);

/// Draws the network's inputs besides the bags: inputs [bags, features], uniform in [0, 1), or
/// integers from 0 to 3 with job.integers, and uniform targets.
Batch draw_dense_batch(const strategies::EmbeddingJob& job, const LookupBatchKey& key,
                       const NetworkInfo& info, at::ScalarType dtype);

}  // namespace paceline::networks
