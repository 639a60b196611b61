// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace paceline::launch {

/// Whose variables a program that this process starts does without.
enum class RankVariables {
  kTorch,  // torchrun's, which a script reads as its own place
  kAll     // those of MPI and of a Slurm step too
};

/// The variables by which a launcher told this process its place among the ranks of a job, of those
/// named in `names`. A program that is another rank, or of another job, must not read them: with
/// TORCHELASTIC_USE_AGENT_STORE its rank 0 waits for a store that nobody serves. What describes an
/// allocation (SLURM_JOB_ID, SLURM_JOB_NODELIST) is none.
std::vector<std::string> rank_variables(const std::vector<std::string>& names, RankVariables whose);

/// The same of the environment of this process.
std::vector<std::string> rank_variables(RankVariables whose);

}  // namespace paceline::launch
