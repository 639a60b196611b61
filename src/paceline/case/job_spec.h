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

/// The work of the ranks of a job. One process resolves it and hands it to all ranks, so that hosts
/// with other cores or files cannot come to different results.
struct JobSpec {
  Experiment experiment;
  std::optional<OperationSweep> operations;  // if set, they are run in place of cases
  Settings settings;                         // with the final path in `records`
  int run = 0;                               // index of the repetition
  bool progress = false;                     // rank 0 may draw progress on stderr
  bool is_only_case = false;                 // the whole run has this one case
};

/// The number of processes that run the job.
int ranks_of(const JobSpec& job);

/// The engines that Paceline itself uses in the job. An engine may be listed repeatedly.
std::vector<std::string> engines_of(const JobSpec& job);

/// The job as the JSON text that is handed to the ranks.
std::string to_text(const JobSpec& job);

/// Parses the text of `to_text`. Throws UsageError for any other text.
JobSpec job_spec_from(std::string_view text);

}  // namespace paceline::cases
