// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "paceline/case/tables.h"
#include "paceline/execution/op_span.h"
#include "paceline/networks/batch.h"
#include "paceline/plan/comm_plan.h"
#include "paceline/records/configuration.h"
#include "paceline/records/run_record.h"
#include "paceline/runtime/memory.h"
#include "paceline/strategies/embedding_job.h"
#include "paceline/strategies/strategy.h"

// What a case of a network with embedding tables is made of, and of any other.

namespace paceline::rank {

using cases::embedding_job_of;

/// The planner of the case's strategy, around which the tables' rows cross where there are any.
/// With the strategy none they do not.  `integers` as EmbeddingJob::integers.
std::unique_ptr<plan::Planner> planner_of(const records::Configuration& configuration,
                                          const strategies::StrategySpec& strategy,
                                          bool integers = false);

/// Adds what the trainer's step, of which `plan` is, has looked up; after the step's forward.
/// Bytes are those of the trainer's own messages.
void add_lookups(const strategies::EmbeddingJob& job, const plan::CommPlan& plan,
                 const runtime::FlatMemory& memory, records::Lookups& lookups);

/// Whether gradients of the network are never zeroed, as in PyTorch's DDP benchmark: every backward
/// pass adds.
bool keeps_gradients(const cases::Network& network);

/// Lookups come before the updates of their step, which they do not miss.
std::map<plan::Step, std::int64_t> lookups_by_steps_missed(
    const std::map<plan::Step, std::int64_t>& kernels);

/// How long the phases that kernels begin (plan/kernel_traits.h) took in each of `steps` steps from
/// `first` on; nanoseconds.  Spans are in the order in which the ops ended.
std::map<std::string, std::vector<std::int64_t>> phases_of_kernels(
    const std::vector<execution::OpSpan>& spans,
    const std::function<const plan::CommPlan&(plan::Step)>& plan_of, plan::Step first, int steps);

}  // namespace paceline::rank
