// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_variables.h"

#include <gtest/gtest.h>

namespace paceline::launch {
namespace {

TEST(RankVariables, AreThoseOfAPlaceInAJob) {
  const std::vector<std::string> names{"HOME",
                                       "RANK",
                                       "TORCHELASTIC_USE_AGENT_STORE",
                                       "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE",
                                       "OMPI_COMM_WORLD_RANK",
                                       "PMIX_RANK",
                                       "SLURM_JOB_ID",
                                       "SLURM_JOB_NODELIST",
                                       "SLURM_PROCID",
                                       "SLURM_STEP_NODELIST"};
  EXPECT_EQ(rank_variables(names, RankVariables::kTorch),
            (std::vector<std::string>{"RANK", "TORCHELASTIC_USE_AGENT_STORE"}));
  EXPECT_EQ(
      rank_variables(names, RankVariables::kAll),
      (std::vector<std::string>{"RANK", "TORCHELASTIC_USE_AGENT_STORE", "OMPI_COMM_WORLD_RANK",
                                "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NODELIST"}));
}

}  // namespace
}  // namespace paceline::launch
