// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/experiment.h"
#include "paceline/case/operation_sweep.h"
#include "paceline/case/settings.h"

namespace paceline::cases {

/// What the ranks of a job do.  One process resolves it and hands it to all ranks, so that hosts
/// with other cores or files cannot disagree.
struct JobSpec {
  Experiment experiment;
  std::optional<OperationSweep> operations;  // in place of cases
  Settings settings;                         // `records` is settled
  int run = 0;                               // which repetition
  bool progress = false;                     // rank 0 may draw on stderr
  bool is_only_case = false;                 // of the whole run
};

/// The processes that run the job.
int ranks_of(const JobSpec& job);

/// The engines that Paceline itself uses in the job, some perhaps repeatedly.
std::vector<std::string> engines_of(const JobSpec& job);

/// The text by which it is handed to the ranks.
std::string to_text(const JobSpec& job);

/// Throws UsageError for text that `to_text` did not write.
JobSpec job_spec_from(std::string_view text);

}  // namespace paceline::cases
