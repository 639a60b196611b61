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
  std::string name{};       // name of the program, "ssh"; empty for a rank
  int control_socket = -1;  // if set, a socket that takes "stop\n" instead of SIGTERM
};

struct SuperviseOptions {
  /// A rank without a heartbeat for this time has failed (--timeout).
  std::chrono::milliseconds heartbeat_timeout{60'000};
  /// The time that ranks have to finish their step after they were asked to stop.
  std::chrono::milliseconds stop_grace{30'000};
  /// The time that the other ranks have to end by themselves after a failure.
  std::chrono::milliseconds failure_grace{3'000};
  /// The time to wait after the first death for further deaths and notices, which may explain it.
  std::chrono::milliseconds notice_grace{500};
  /// Called several times a second while a child runs. If it throws, the children are killed.
  std::function<void()> on_tick{};
  /// Returns nothing while a process on which all ranks depend (mpirun) runs. Once it has ended,
  /// returns how, as a text to follow the name of a rank. The function may be empty.
  std::function<std::optional<std::string>()> lost{};
  /// Called with the cause of a failure, before the other ranks are ended.
  std::function<void(const FailureNotice&)> on_failure{};
};

/// How a job ended.
struct Outcome {
  int exit_code = 0;    // 0, 2 (usage), 3 (failure), or the exit code of the ranks
  std::string message;  // one sentence for stderr; empty if there is none
  int rank = -1;        // the rank that failed first; -1: none
  int stop_signal = 0;  // the signal that asked the job to stop, or 0
};

/// Supervises the children, which are in rank order, until all have ended, and leaves none of their
/// processes behind on this machine.
///
/// The first rank that dies, fails or falls silent ends the job. The outcome names that rank, its
/// host and its position. Ranks that failed only because another one did (see FailureNotice) are
/// not named. At SIGINT, SIGTERM, SIGHUP and SIGUSR1 this process asks all ranks by SIGTERM to
/// stop. A second such signal kills them. After the first rank has ended, the others get
/// `failure_grace`.
Outcome supervise(const std::vector<ChildProcess>& children, KeyValueStore& store,
                  const SupervisorSignals& signals, const SuperviseOptions& options);

}  // namespace paceline::launch
