// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/plan/networks/network_shape.h"
#include "paceline/strategies/embedding_buffers.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

// The network, planner and memory of jobs with embedding tables.

namespace paceline::cases {

/// The embedding tables of the case's network; nothing if it has none.
std::optional<strategies::EmbeddingJob> embedding_job_of(const Case& configuration);

/// The shape of the dense part of such a network, which takes the embedding bags of `job` as input.
plan::NetworkShape network_shape_of(const Network& network, const strategies::EmbeddingJob& job);

/// The optimizer state that the case's update rule keeps for each parameter.
plan::OptimizerShape optimizer_of(const Case& configuration);

/// The planner of a strategy for the dense part, to which the exchange of the rows of `job` is
/// added. With the strategy "none" no rows are exchanged.
std::unique_ptr<plan::Planner> planner_of(const strategies::EmbeddingJob& job,
                                          const strategies::StrategySpec& strategy);

/// Returns the memory that each rank needs for the buffers of its plan, by rank.
std::vector<strategies::PlanMemory> memory_of_ranks(const plan::Planner& planner,
                                                    plan::PlanInput input);

/// Returns the memory of each host in bytes, summed over its ranks. Ranks fill the hosts in order.
std::vector<std::int64_t> bytes_by_host(const std::vector<strategies::PlanMemory>& memory,
                                        const std::vector<int>& ranks_per_host);

/// Returns an estimate of each rank's memory in `paceline run` of a case with embedding tables, by
/// rank. It contains the buffers of the rank's plan. A trainer also holds a second plan, one
/// without communication, whose steps are timed in turn with those of the first to find the cost of
/// communication. It holds its parameters once more, as they are before they move into a plan's
/// buffers. Throws UsageError if there is no plan.
std::vector<strategies::PlanMemory> memory_of_run(const Case& configuration);

}  // namespace paceline::cases
