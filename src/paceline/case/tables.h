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

// Jobs with embedding tables on servers: their network, their planner and their memory.

namespace paceline::cases {

/// The tables of the case's network; nothing where it has none.
std::optional<strategies::EmbeddingJob> embedding_job_of(const Case& configuration);

/// The dense part of the network of such a case behind the bags of `job`.
plan::NetworkShape network_shape_of(const Network& network, const strategies::EmbeddingJob& job);

/// What the case's update rule keeps of a parameter.
plan::OptimizerShape optimizer_of(const Case& configuration);

/// The planner of a strategy around which the rows of `job` cross; with the strategy none they do
/// not.
std::unique_ptr<plan::Planner> planner_of(const strategies::EmbeddingJob& job,
                                          const strategies::StrategySpec& strategy);

/// What the plan of every rank takes, by rank.
std::vector<strategies::PlanMemory> memory_of_ranks(const plan::Planner& planner,
                                                    plan::PlanInput input);

/// What the ranks of each host take, which fill the hosts in their order.
std::vector<std::int64_t> bytes_by_host(const std::vector<strategies::PlanMemory>& memory,
                                        const std::vector<int>& ranks_per_host);

/// What every rank of `paceline run` of a case with tables holds when the job holds most, by rank:
/// its plan; where the rank trains, also the plan of the trainer without communication that is
/// measured in turn, and the parameters of that one's network before they are moved into the plan's
/// buffers. Throws UsageError where there is no plan.
std::vector<strategies::PlanMemory> memory_of_run(const Case& configuration);

}  // namespace paceline::cases
