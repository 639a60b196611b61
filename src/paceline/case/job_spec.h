// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/case/experiment.h"
#include "paceline/case/settings.h"

namespace paceline::cases {

/// What `paceline comm` measures: operations of an engine, each with payloads of several sizes.
struct OperationSweep {
  std::string engine = "auto", device = "auto", dtype = "fp32";
  std::string link;                     // emulated link, "1Gbit,50us"; empty: none
  std::vector<std::string> operations;  // names of plan::kOperations
  std::vector<std::int64_t> sizes;      // payload bytes, ascending
  int ranks = 0;
  int warmup = 3, iterations = 20;  // numbers of operations for each size
  std::string fit;                  // file for the fitted alpha-beta models; empty: none
  std::string command;              // command line of this sweep, quoted for a shell
};

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

/// Returns the number of Paceline processes that must be started for the job.
int ranks_of(const JobSpec& job);

/// The engines that Paceline itself uses in the job. An engine may be listed repeatedly.
std::vector<std::string> engines_of(const JobSpec& job);

/// The job as the JSON text that is handed to the ranks.
std::string to_text(const JobSpec& job);

/// Parses the text of `to_text`. Throws UsageError for any other text.
JobSpec job_spec_from(std::string_view text);

}  // namespace paceline::cases
