// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/launch/board.h"
#include "paceline/launch/heart_judge.h"

namespace paceline::launch {

/// Why a rank ended, as it, or who watched it, wrote on the board.
struct FailureNotice {
  int rank = 0;
  std::string host;
  std::string text;  // the error's sentence
  /// The error only says that another rank is gone: its connection broke or
  /// it did not answer.  The cause is elsewhere and goes before this one.
  bool consequence = false;
  int exit_code = 3;  // 2: the user's mistake, the same on every rank
};

/// "rank 2 on host h: text"; a user's mistake is told without a rank.
std::string sentence(const FailureNotice& notice);

/// "rank 3 on host h stopped answering 61 s ago at step 12, all-reduce".
FailureNotice notice_of(const Silence& silence, const std::string& host);

/// Files a rank's failure.  The first notice of a job that is no consequence
/// is the job's cause; true if this one is.
bool post_failure(Board& board, const FailureNotice& notice);

/// The job's cause, if anyone has filed it.
std::optional<FailureNotice> job_failure(Board& board);

/// What this rank filed.
std::optional<FailureNotice> failure_of(Board& board, int rank);

/// For a rank that failed in a world that nobody supervises: files `mine` and
/// returns the sentence that this rank should print, or nothing where another
/// rank prints the cause.  Where `mine` is a consequence, waits up to
/// `patience` for the cause: another rank's notice, or a rank whose heart has
/// stood still meanwhile and that filed nothing (it was killed).
std::optional<std::string> explain_failure(
    Board& board,
    const FailureNotice& mine,
    const std::vector<std::string>& hosts,
    std::chrono::milliseconds patience);

}  // namespace paceline::launch
