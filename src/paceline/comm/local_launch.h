// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paceline/launch/board.h"
#include "paceline/launch/supervise.h"

namespace paceline::comm {

struct LocalLaunch {
  int ranks = 1;
  std::string executable;              // empty: this very program
  std::vector<std::string> argv;       // of every rank
  std::vector<std::string> variables;  // NAME=value, beside our environment
  launch::Patience patience;
  /// Called before the ranks start and after they have ended: what they shall
  /// find on their board, and what of it is to be kept.
  std::function<void(launch::Board&)> prepare{}, conclude{};
};

/// Starts that many ranks on this machine and stays with them until the last
/// one has ended: `paceline run --ranks N`.
///
/// The ranks' store lives in this process, on the loopback at a port that the
/// kernel picks, so no rank's death takes it away.  Must be called before the
/// process has other threads, by its main thread (see launch/spawn.h).
launch::Outcome launch_local(const LocalLaunch& local);

}  // namespace paceline::comm
