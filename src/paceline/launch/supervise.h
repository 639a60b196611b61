// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "paceline/launch/board.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/supervisor_signals.h"

namespace paceline::launch {

/// A process to watch over: a rank, or one that starts ranks on another host.
struct Watched {
  pid_t pid = 0;
  int first_rank = 0;
  int ranks = 1;
  std::string host{};
  std::string name{};  // what it is, where it is no rank itself: "ssh"
  int control = -1;    // a socket that takes "stop\n" in place of SIGTERM
};

struct Patience {
  /// A rank is lost when its heart has been silent for so long (--timeout).
  std::chrono::milliseconds heartbeat{60'000};
  /// Ranks that were asked to stop may finish their step.
  std::chrono::milliseconds stop{30'000};
  /// After a failure the others get so long to end by themselves.
  std::chrono::milliseconds failure{3'000};
  /// After the first death, so long for deaths and notices that explain it.
  std::chrono::milliseconds settle{500};
  /// Called several times a second as long as a rank lives.
  std::function<void()> meanwhile{};
  /// Called once it is known who failed, before the others are ended.
  std::function<void(const FailureNotice&)> verdict{};
};

/// How a local job ended.
struct Outcome {
  int exit_code = 0;    // 0; 2 and 3 as everywhere; or what all ranks said
  std::string message;  // one sentence for stderr; empty where there is none
  int rank = -1;        // the first failing one
  int stop_signal = 0;  // the job was asked to stop by it
};

/// Watches over the children, in rank order, until all have ended, and leaves
/// no process of theirs behind on this machine.
///
/// The first rank that dies, fails or falls silent ends the job: the outcome
/// names it, its host and where it was.  Ranks that failed only because
/// another one did (see FailureNotice) are not blamed.  SIGINT, SIGTERM,
/// SIGHUP and SIGUSR1 ask all ranks by SIGTERM to stop; a second one kills, and
/// once one rank has ended the others get `patience.failure`.
Outcome supervise(const std::vector<Watched>& children,
                  Board& board,
                  const SupervisorSignals& signals,
                  const Patience& patience);

}  // namespace paceline::launch
