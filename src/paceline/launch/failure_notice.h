// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "paceline/launch/failure_detector.h"
#include "paceline/launch/key_value_store.h"

namespace paceline::launch {

/// Why a rank ended, as the rank or its supervisor wrote it to the store.
struct FailureNotice {
  int rank = 0;
  std::string host;
  std::string text;  // the error's sentence
  /// The error only says that another rank is gone: a connection broke, or a peer did not answer.
  /// A notice that names a cause replaces it.
  bool consequence = false;
  int exit_code = 3;   // 2: the user's mistake, the same on every rank
  std::string role{};  // as in Progress
};

/// "rank 2 on host h: text", with a role "server 0 (rank 2) on host h: text"; of a user's mistake
/// the text alone.
std::string message_of(const FailureNotice& notice);

/// "rank 3 on host h stopped answering 61 s ago at step 12, all-reduce".
FailureNotice notice_of(const SilentRank& silent, const std::string& host);

/// Writes a rank's failure to the store.  The first notice of a job that is not a consequence is
/// the job's cause.  Returns whether it is this one.
bool post_failure(KeyValueStore& store, const FailureNotice& notice);

/// The job's cause, if there is one yet.
std::optional<FailureNotice> job_failure(KeyValueStore& store);

/// The notice of `rank`, if there is one.
std::optional<FailureNotice> failure_of(KeyValueStore& store, int rank);

/// Writes that a rank leaves because it was asked to stop.  Where the others were not asked, this
/// is why they fail.
void post_stop(KeyValueStore& store, FailureNotice asked);

/// What `rank` wrote by post_stop, if anything.
std::optional<FailureNotice> stop_of(KeyValueStore& store, int rank);

/// Ranks whose processes are known to have ended (LocalProcesses).  May be empty.
using EndedRanks = std::function<std::vector<int>()>;

/// The death of one of the `ended` ranks that has neither finished nor posted a notice: it was
/// killed.
std::optional<FailureNotice> find_ended(KeyValueStore& store, const std::vector<std::string>& hosts,
                                        const EndedRanks& ended);

/// Makes `dead` the job's cause, which rank `finder` has found; whether this thread is the one that
/// prints it, because several find the same.
bool post_death(KeyValueStore& store, const FailureNotice& dead, int finder);

/// For `rank`, which was asked to stop, as launchers ask all ranks where one has died: the job's
/// cause, once it is posted or a rank has ended.  After
/// `timeout` the only rank that has neither answered nor posted anything, if
/// there is but one and another rank was asked, too.
std::optional<FailureNotice> await_cause(KeyValueStore& store, int rank,
                                         const std::vector<std::string>& hosts,
                                         const EndedRanks& ended,
                                         std::chrono::milliseconds timeout);

/// What a rank that failed can see beside the store.
struct FailureObserver {
  EndedRanks ended{};
  std::function<bool()> ends_soon{};  // the launcher ends this rank soon
};

/// For a rank that failed in a world without a supervisor: posts `mine` and returns the sentence
/// that this rank shall print, or nothing where another rank prints the cause.  Where `mine` is a
/// consequence, waits up to `timeout` for the cause: another rank's notice, a rank that has ended,
/// or one that posted nothing and whose heartbeat has stopped meanwhile (it was killed).
/// `mine` is the cause where none is found in time; a rank that ends
/// soon waits for 0.3 s, and its sentence then says that another rank has failed.
std::optional<std::string> explain_failure(KeyValueStore& store, const FailureNotice& mine,
                                           const std::vector<std::string>& hosts,
                                           std::chrono::milliseconds timeout,
                                           const FailureObserver& observer = {});

/// To be called by the rank that printed the cause: the others may end now, because launchers end
/// all ranks once one has ended.
void announce_printed(KeyValueStore& store);

/// To be called by a rank whose failure another rank prints, before it ends: returns once the
/// sentence is printed, or after `timeout`.
void wait_until_printed(KeyValueStore& store, std::chrono::milliseconds timeout);

}  // namespace paceline::launch
