// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// The launchers whose variables are removed from the environment of a program that this process
/// starts.
enum class RankVariables {
  kTorch,  // variables of torchrun, by which a script finds its own rank
  kAll     // also the variables of MPI and of a Slurm step
};

/// Selects from `names` the variables in which a launcher gave this process its rank, its world and
/// its rendezvous. A program that is another rank, or part of another job, must not read them: with
/// TORCHELASTIC_USE_AGENT_STORE its rank 0 would wait for a store that no process serves. Variables
/// that describe an allocation (SLURM_JOB_ID, SLURM_JOB_NODELIST) are not selected.
std::vector<std::string> rank_variables(const std::vector<std::string>& names, RankVariables whose);

/// Returns those variables of this process's environment that rank_variables() selects.
std::vector<std::string> rank_variables(RankVariables whose);

}  // namespace paceline::launch
