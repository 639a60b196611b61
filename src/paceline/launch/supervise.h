// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "paceline/launch/failure_notice.h"
#include "paceline/launch/key_value_store.h"
#include "paceline/launch/signals.h"

namespace paceline::launch {

/// A supervised child process: a rank, or a process that starts ranks on another host.
struct ChildProcess {
  pid_t pid = 0;
  int first_rank = 0;
  int ranks = 1;
  std::string host{};
  std::string name{};  // "ssh"; empty for a rank
  int control = -1;    // a socket that takes "stop\n" instead of SIGTERM
};

struct SuperviseOptions {
  /// A rank without a heartbeat for so long has failed (--timeout).
  std::chrono::milliseconds heartbeat_timeout{60'000};
  /// Ranks that were asked to stop may take so long to finish their step.
  std::chrono::milliseconds stop_grace{30'000};
  /// After a failure the other ranks may take so long to end.
  std::chrono::milliseconds failure_grace{3'000};
  /// After the first death, deaths and notices that explain it may take so long to arrive.
  std::chrono::milliseconds settle_time{500};
  /// Called several times a second while a child runs.  Where it throws, the children are killed.
  std::function<void()> on_tick{};
  /// What else has ended on which all ranks depend, in words that follow the name of a rank;
  /// nothing: all is well.  May be empty.
  std::function<std::optional<std::string>()> lost{};
  /// Called with the cause of a failure, before the other ranks are ended.
  std::function<void(const FailureNotice&)> on_failure{};
};

/// How a job ended.
struct Outcome {
  int exit_code = 0;    // 0, 2 or 3; or the exit code of the ranks
  std::string message;  // one sentence for stderr; empty where there is none
  int rank = -1;        // the one that failed first
  int stop_signal = 0;  // the signal that asked the job to stop, or 0
};

/// Supervises the children, in rank order, until all have ended, and leaves none of their processes
/// behind on this machine.
///
/// The first rank that dies, fails or falls silent ends the job.  The outcome names that rank, its
/// host and its position.  Ranks that failed only because another one did (see FailureNotice) are
/// not named.  SIGINT, SIGTERM, SIGHUP and SIGUSR1 to this process ask all ranks by SIGTERM to
/// stop; a second request kills them, and after the first rank has ended the others get
/// `failure_grace`.
Outcome supervise(const std::vector<ChildProcess>& children, KeyValueStore& store,
                  const SupervisorSignals& signals, const SuperviseOptions& options);

}  // namespace paceline::launch
