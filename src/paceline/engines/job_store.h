// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "paceline/launch/board.h"
#include "paceline/launch/place.h"

namespace paceline::engines {

/// The key-value store that all ranks of a job share; its keys are this job's
/// alone.  Which of c10d's it is, only engines/c10d_store.h shows: engines
/// connect through it.
struct JobStore;

/// Opens the store where `launch` says that the ranks meet, or, for a world of
/// one, a store in this process.  Throws UsageError for a port that is taken
/// and for a file that cannot be used, WorldError where nobody answers within
/// `timeout`.
std::shared_ptr<JobStore> open_store(const launch::Launch& launch,
                                     std::chrono::milliseconds timeout);

/// Serves the store of the job called `job` to the ranks on this machine over
/// `listening`, a socket that listens on the loopback at `port`; the store
/// closes it.
std::shared_ptr<JobStore> serve_store(const std::string& job,
                                      int listening,
                                      std::uint16_t port);

/// A board on the store, over a connection of its own: a store's calls exclude
/// each other, and one that waits for a key would stop the heart.
std::unique_ptr<launch::Board> make_board(const JobStore& store);

/// Lets torch's C++ logs show fatal errors only, because what else they tell
/// reaches the user as one sentence of ours; TORCH_CPP_LOG_LEVEL overrides.
void quiet_engine_logs();

}  // namespace paceline::engines
