// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/experiment.h"

// Functions that choose the cases which a session runs, and their order.

namespace paceline::rank {

/// Completed cases, each by its name and its repetition (records::completed_runs).
using CompletedCases = std::set<std::pair<std::string, int>>;

/// Returns the cases of repetition `run` that are not completed, and all discarded cases.
std::vector<cases::Case> cases_to_do(const cases::Experiment& experiment,
                                     const CompletedCases& completed, int run);

/// Returns the cases of repetition `run` and of all later ones whose network Paceline can build.
std::vector<cases::Case> cases_to_train(const cases::Experiment& experiment,
                                        const CompletedCases& completed, int run);

/// Shuffles the cases of repetitions from 1 on, in the same order on all ranks, so that no case
/// always follows the same one.  Discarded cases stay first.
std::vector<cases::Case> shuffled_for_run(std::vector<cases::Case> cases, int run);

}  // namespace paceline::rank
