// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "paceline/bench/comm_case.h"
#include "paceline/comm/world.h"
#include "paceline/launch/heartbeat.h"
#include "paceline/record/comm_record.h"

namespace paceline::bench {

struct CommSessionOptions {
  CommSetting setting;
  std::vector<std::string> operations;  // of comm_operations()
  std::vector<std::int64_t> sizes;      // payload bytes, ascending
  int warmup = 3;
  int iterations = 20;
  std::chrono::milliseconds timeout{60'000};
  /// On rank 0, once a case is done and the line known.
  std::function<void(const record::CommRecord&)> done;
};

struct CommSessionResult {
  std::vector<record::CommRecord> records;  // on rank 0
  record::Environment environment;          // on all ranks
};

/// Measures every operation at every size among all ranks of a joined world,
/// the line before and after them (comm/line.h; the faster one counts).
/// Collective.
CommSessionResult run_comm_session(const comm::World& world,
                                   launch::Heartbeat& heart,
                                   const CommSessionOptions& options);

}  // namespace paceline::bench
