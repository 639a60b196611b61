// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "paceline/engines/world.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/measure/comm_case.h"
#include "paceline/measure/comm_findings.h"

namespace paceline::measure {

/// The key of the job's store that holds the text of the CommSessionOptions.
inline constexpr const char* kCommJobKey = "comm/job";

struct CommSessionOptions {
  CommSetting setting;
  std::vector<std::string> operations;  // of plan::kOperations
  std::vector<std::int64_t> sizes;      // payload bytes, ascending
  int warmup = 3;
  int iterations = 20;
  bool progress = false;  // rank 0 reports on stderr
  /// A rank without a heartbeat for so long has failed.  Connecting may take
  /// ten times as long.
  std::chrono::milliseconds timeout{};
};

/// The text by which they are handed to the ranks, without the last one.
std::string to_text(const CommSessionOptions& options);
CommSessionOptions comm_session_options_from(const std::string& text);

/// Measures every operation at every size among all ranks of a joined world,
/// and the line before and after them (engines/line_rate.h); behind an emulated
/// link that one's rate is the line.  Collective.  On rank 0 `findings` grows
/// with every size, on other ranks it stays as it is.  Returns 0, or 128 and
/// the signal by which this rank was asked to stop (launch::StopSignals).
int run_comm_session(const engines::World& world,
                     launch::Heartbeat& heartbeat,
                     const CommSessionOptions& options,
                     CommFindings& findings);

}  // namespace paceline::measure
