// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/validate/plan_cache.h"
#include "paceline/validate/survey_cell.h"

// What is simulated of the survey: networks, strategies, hosts of 4 devices.

namespace paceline::validate {

/// One device's step; splitting it over layers takes longer than a simulation.
const TimedNetwork& timed(const SurveyCell& cell);

/// Which of planning_lines() the cell's MG-WFBP was planned with.
std::string_view planning_table(const SurveyCell& cell);

/// The cell's plan and ranks.  Throws UsageError where the tables that MG-WFBP
/// was planned with have not its number of workers.
Case case_of(const SurveyCell& cell);

/// BytePS as the cell ran it, on several hosts: a server for each, keys hashed.
/// A fused tensor's name is declared behind those of all gradients and of the
/// state dict: byteps/byteps_distributed_optimizer.py of the survey.
std::string server_strategy(const SurveyCell& cell);

}  // namespace paceline::validate
