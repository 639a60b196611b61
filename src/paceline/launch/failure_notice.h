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
  std::string text;  // the message of the error, one sentence
  /// Whether the error only says that another rank is gone: a connection broke, or a peer did not
  /// answer. A notice that names a cause takes precedence.
  bool consequence = false;
  int exit_code = 3;   // 2: a mistake of the user, the same on every rank
  std::string role{};  // role of the rank, as Progress::role
};

/// The sentence to print: "rank 2 on host h: text", or with a role "server 0 (rank 2) on host h:
/// text". For a mistake of the user it is the text alone.
std::string failure_message(const FailureNotice& notice);

/// Returns the notice of a rank whose heartbeat has stopped: "rank 3 on host h: stopped answering
/// 61 s ago; last heartbeat at step 12, all-reduce".
FailureNotice silent_rank_notice(const SilentRank& silent, const std::string& host);

/// Writes a rank's failure to the store. The first notice of a job that is not a consequence is the
/// job's cause. Returns whether `notice` is this cause.
bool post_failure(KeyValueStore& store, const FailureNotice& notice);

/// Returns the notice that counts as the cause of the job's failure, if one was posted.
std::optional<FailureNotice> job_failure_cause(KeyValueStore& store);

/// Returns the failure notice that `rank` posted, if any.
std::optional<FailureNotice> failure_notice_of(KeyValueStore& store, int rank);

/// Writes that a rank leaves because it was asked to stop. If no other rank was asked, this is the
/// reason why the other ranks fail.
void post_stop(KeyValueStore& store, FailureNotice asked);

/// Returns the notice that `rank` wrote by post_stop, if any.
std::optional<FailureNotice> stop_notice_of(KeyValueStore& store, int rank);

/// Returns the ranks whose processes are known to have ended (LocalProcesses). The function may be
/// empty.
using EndedRanks = std::function<std::vector<int>()>;

/// Returns the notice for a rank of `ended` that has neither finished nor posted a notice and
/// therefore must have been killed; nothing if there is none.
std::optional<FailureNotice> notice_of_killed_rank(KeyValueStore& store,
                                                   const std::vector<std::string>& hosts,
                                                   const EndedRanks& ended);

/// Makes `dead`, which rank `finder` has found, the job's cause. Returns whether the calling thread
/// is the one that prints it, as several threads may find the same death.
bool post_death(KeyValueStore& store, const FailureNotice& dead, int finder);

/// Called by `rank` after its launcher has asked it to stop, which launchers do on all ranks if one
/// has died. Waits until the job's cause is posted or a rank is found to have ended, and returns
/// the cause. After `timeout`, the cause is the only rank that has neither answered nor posted
/// anything, if there is exactly one and another rank was asked too; else nothing is returned.
std::optional<FailureNotice> await_cause(KeyValueStore& store, int rank,
                                         const std::vector<std::string>& hosts,
                                         const EndedRanks& ended,
                                         std::chrono::milliseconds timeout);

/// What a failed rank can learn without the store.
struct FailureObserver {
  EndedRanks ended{};
  std::function<bool()> launcher_will_end_rank{};  // the launcher is about to kill this rank
};

/// For a rank that failed in a job without a supervisor. Posts `mine` and returns the sentence that
/// this rank shall print, or nothing if another rank prints the cause. If `mine` is a consequence,
/// waits up to `timeout` for the cause: another rank's notice, a rank that has ended, or a rank
/// that posted nothing and whose heartbeat has stopped meanwhile (it was killed). If no cause is
/// found in time, the cause is a rank that has finished, if there is one, else `mine`. If the
/// launcher will end this rank soon, waits only 0.3 s; the sentence then says that another rank has
/// failed.
std::optional<std::string> explain_failure(KeyValueStore& store, const FailureNotice& mine,
                                           const std::vector<std::string>& hosts,
                                           std::chrono::milliseconds timeout,
                                           const FailureObserver& observer = {});

/// Must be called by the rank that printed the cause. Only then may the other ranks end: a launcher
/// might end all ranks once one has ended, before the cause is printed.
void announce_printed(KeyValueStore& store);

/// To be called, before it ends, by a rank whose failure another rank prints. Returns once the
/// sentence is printed, or after `timeout`.
void wait_until_printed(KeyValueStore& store, std::chrono::milliseconds timeout);

}  // namespace paceline::launch
