// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "paceline/cli/own_runs.h"
#include "paceline/predict/emulate.h"

namespace paceline::cli {

/// What of this machine's engine is asked.
struct EngineQuestion {
  int ranks = 2;
  std::vector<plan::Pattern> patterns;
  std::int64_t least_bytes = 4, most_bytes = 4;  // payloads
};

/// The collectives of these jobs, all of one world.
EngineQuestion question_of(const std::vector<const simulator::Job*>& jobs);

struct EngineAnswer {
  std::vector<predict::EngineTime> times;  // medians
  launch::ChildExit ending;                // of the run that measured them
  std::string failure;                     // empty: it did
};

/// Measures Gloo with `paceline comm` at a few sizes.  `records` is a file that
/// takes them.
EngineAnswer probe_engine(const EngineQuestion& question,
                          const std::string& records,
                          OwnRuns& runs,
                          std::chrono::milliseconds deadline);

}  // namespace paceline::cli
