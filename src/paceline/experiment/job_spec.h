// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "paceline/experiment/experiment.h"
#include "paceline/experiment/settings.h"

namespace paceline::experiment {

/// What the ranks of a job do.  One process resolves it and hands it to all
/// ranks, so that hosts with other cores or files cannot disagree.
struct JobSpec {
  Experiment experiment;
  Settings settings;          // `records` is settled
  int run = 0;                // which repetition
  bool progress = false;      // rank 0 may draw on stderr
  bool is_only_case = false;  // of the whole run
};

/// The text by which it is handed to the ranks.
std::string to_text(const JobSpec& job);

/// Throws UsageError for text that `to_text` did not write.
JobSpec job_spec_from(std::string_view text);

}  // namespace paceline::experiment
