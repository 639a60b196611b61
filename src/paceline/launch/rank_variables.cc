// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_variables.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "paceline/base/process.h"

namespace paceline::launch {
namespace {

constexpr auto kTorchNames = std::to_array<std::string_view>(
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
     "PACELINE_HOST", "PACELINE_LAUNCH", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_NAME", "ROLE_RANK",
     "ROLE_WORLD_SIZE", "TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_MAX_RESTARTS",
     "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE"});
constexpr auto kOtherNames = std::to_array<std::string_view>(
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_GTIDS", "SLURM_LOCALID", "SLURM_NODEID",
     "SLURM_NPROCS", "SLURM_NTASKS", "SLURM_PROCID"});
constexpr auto kOtherPrefixes = std::to_array<std::string_view>(
    {"MV2_COMM_WORLD_", "OMPI_COMM_WORLD_", "PMIX_", "PMI_", "SLURM_STEP_"});

bool is_among(std::span<const std::string_view> all, std::string_view name) {
  return std::ranges::find(all, name) != all.end();
}

}  // namespace

std::vector<std::string> rank_variables(const std::vector<std::string>& names,
                                        RankVariables whose) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const bool other = is_among(kOtherNames, name) ||
                       std::ranges::any_of(kOtherPrefixes, [&](std::string_view prefix) {
                         return name.starts_with(prefix);
                       });
    if (is_among(kTorchNames, name) || (whose == RankVariables::kAll && other)) {
      found.push_back(name);
    }
  }
  return found;
}

std::vector<std::string> rank_variables(RankVariables whose) {
  std::vector<std::string> names;
  for (const std::string& one : environment_with({})) {
    names.push_back(one.substr(0, one.find('=')));
  }
  return rank_variables(names, whose);
}

}  // namespace paceline::launch
