// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "paceline/predict/predict_request.h"
#include "paceline/records/configuration.h"
#include "paceline/strategies/embedding_buffers.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

// Jobs with embedding tables on servers, as they are predicted.

namespace paceline::predict {

/// The tables of the case's network; nothing where it has none.
std::optional<strategies::EmbeddingJob> embedding_job_of(
    const records::Configuration& configuration);

/// Sets in `configuration` what embedding_job_of() reads there, and the rows' engine where it is
/// not `engine`, as the request with its tables says.
void describe_tables(const PredictRequest& request, records::Configuration& configuration);

/// The bags of a step, on average.
double typical_bags(const strategies::BagShape& bags);

/// Sets what the request says of a network with tables: the network, its tables, the ranks, and,
/// where the request names none, the batch.
void set_tables(const records::Configuration& configuration, PredictRequest& request);

/// What the case's update rule keeps of a parameter.
plan::OptimizerShape optimizer_of(const records::Configuration& configuration);

/// The planner of a strategy around which the rows of `job` cross; with the strategy none they do
/// not.
std::unique_ptr<plan::Planner> planner_of(const strategies::EmbeddingJob& job,
                                          const strategies::StrategySpec& strategy);

/// What the plan of every rank takes, by rank.
std::vector<strategies::PlanMemory> memory_of_ranks(const plan::Planner& planner,
                                                    plan::PlanInput input);

/// What every rank of `paceline run` of a case with tables holds when the job holds most, by rank:
/// its plan; where the rank trains, also the plan of the trainer without communication that is
/// measured in turn, and the parameters of that one's network before they are moved into the plan's
/// buffers. Throws UsageError where there is no plan.
std::vector<strategies::PlanMemory> memory_of_run(const records::Configuration& configuration);

}  // namespace paceline::predict
