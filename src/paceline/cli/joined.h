// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/order.h"
#include "paceline/launch/place.h"

namespace paceline::cli {

/// The cases for a world with so many ranks on each host, all of which may use
/// so many cores of this one; 0: those of this process.
using ExpandFor = std::function<experiment::Experiment(
    std::vector<int> ranks_per_host, int cores)>;

/// One rank that torchrun, mpirun or srun started: joins its world, takes rank
/// 0's order, runs all repetitions, and on rank 0 shows the results.
int run_joined(const experiment::Order& order,
               const launch::Launch& launch,
               const ExpandFor& expand);

/// One rank that `run_local` started: one repetition, nothing shown.
int run_ordered_rank(const experiment::Order& order);

}  // namespace paceline::cli
