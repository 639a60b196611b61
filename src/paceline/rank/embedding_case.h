// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/tables.h"
#include "paceline/execution/op_span.h"
#include "paceline/networks/batch.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/records/run_record.h"
#include "paceline/runtime/memory.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

// Functions that treat cases of networks with embedding tables and all other cases alike.

namespace paceline::rank {

using cases::embedding_job_of;

/// Returns the planner of the case's strategy.  If the network has embedding tables, the plans also
/// exchange the tables' rows, except with the strategy none.  `integers` is passed to EmbeddingJob.
std::unique_ptr<plan::Planner> planner_of(const cases::Case& configuration,
                                          const strategies::StrategySpec& strategy,
                                          bool integers = false);

/// Adds the lookups of a trainer's step to `lookups`; to be called after the step's forward pass.
/// `plan` is the plan of this step.  Only bytes of the trainer's own messages are counted.
void add_lookups(const strategies::EmbeddingJob& job, const plan::CommPlan& plan,
                 const runtime::FlatMemory& memory, records::LookupCounts& lookups);

/// Returns whether gradients of the network are never zeroed, as in PyTorch's DDP benchmark, so
/// that every backward pass adds to them.
bool keeps_gradients(const cases::Network& network);

/// Converts counts of embedding kernels by missed steps to counts of lookups by missed steps.  A
/// lookup misses one step less, because it comes before the updates of its own step.
std::map<plan::Step, std::int64_t> lookups_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& kernels);

/// Returns the times, in nanoseconds, of the phases that kernels begin (plan/kernel_traits.h) in
/// each of `steps` steps from `first` on.  Spans must be in the order in which the ops ended.
std::map<std::string, std::vector<std::int64_t>> kernel_phase_times(
    const std::vector<execution::OpSpan>& spans,
    const std::function<const plan::CommPlan&(plan::Step)>& plan_of, plan::Step first, int steps);

}  // namespace paceline::rank
