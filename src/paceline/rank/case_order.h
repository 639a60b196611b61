// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "paceline/case/experiment.h"
#include "paceline/records/configuration.h"

// Which cases a session runs, and in which order.

namespace paceline::rank {

/// Cases by name and repetition (records::completed).
using CompletedCases = std::set<std::pair<std::string, int>>;

/// Cases of repetition `run` that are not completed, and all that are discarded.
std::vector<records::Configuration> cases_to_do(const cases::Experiment& experiment,
                                                const CompletedCases& completed, int run);

/// The cases of repetition `run` and of all later ones that have a network which can be looked at.
std::vector<records::Configuration> cases_to_train(const cases::Experiment& experiment,
                                                   const CompletedCases& completed, int run);

/// Repetitions from 1 on take the cases in another order, the same on all ranks, so that no case
/// always follows the same one.  Discarded cases stay the first.
std::vector<records::Configuration> interleaved(std::vector<records::Configuration> cases, int run);

}  // namespace paceline::rank
