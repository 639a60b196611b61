// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_guard.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/heart_judge.h"

namespace paceline::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A rank that was itself stopped meanwhile must not find the board silent.
constexpr nanoseconds kLongestGap = std::chrono::seconds(5);

// So much later do the others end that rank 1's sentence is out before.
constexpr nanoseconds kAfterTheSpeaker = std::chrono::seconds(2);

std::vector<int> ranks_to_judge(const RankGuard::Options& options) {
  std::vector<int> ranks;
  const int world = static_cast<int>(options.hosts.size());
  if (options.supervised || world < 2) {
    return ranks;
  }
  if (options.rank == 1) {
    return {0};
  }
  for (int rank = 1; options.rank == 0 && rank < world; ++rank) {
    ranks.push_back(rank);
  }
  return ranks;
}

// False when asked to stop.
bool sleep(const std::stop_token& stopped, milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  condition.wait_for(lock, stopped, duration, [] { return false; });
  return !stopped.stop_requested();
}

// The failure that ends this rank, and whether this rank found it.
struct Verdict {
  FailureNotice notice;
  bool mine_to_tell = false;
};

class Watch {
 public:
  explicit Watch(const RankGuard::Options& options)
      : options_(options), judge_(ranks_to_judge(options), options.timeout) {}

  std::optional<Verdict> look() {
    options_.heart->beat_unless_claimed();
    if (options_.supervised) {
      return std::nullopt;
    }
    judge_.look(*options_.board, kSteadyClock.now());
    if (const auto silence = judge_.lost()) {
      judge_.dismiss(silence->rank);
      const auto& host =
          options_.hosts[static_cast<std::size_t>(silence->rank)];
      const auto notice = notice_of(*silence, host);
      if (post_failure(*options_.board, notice)) {
        return Verdict{notice, true};
      }
    }
    if (const auto cause = job_failure(*options_.board);
        cause && cause->rank != options_.rank) {
      return Verdict{*cause, false};
    }
    return std::nullopt;
  }

  std::optional<Progress> last_of_rank_0() const { return judge_.last_of(0); }

 private:
  const RankGuard::Options& options_;
  HeartJudge judge_;
};

}  // namespace

RankGuard::RankGuard(Options options)
    : options_(std::move(options)),
      hourglass_([this](const std::stop_token& stopped) {
        if (!options_.supervised) {
          watch_looks(stopped);
        }
      }),
      thread_([this](const std::stop_token& stopped) { run(stopped); }) {}

RankGuard::~RankGuard() = default;

void RankGuard::run(const std::stop_token& stopped) {
  const auto interval = std::min(
      milliseconds(500), std::max(options_.timeout / 8, milliseconds(1)));
  Watch watch(options_);
  std::optional<Verdict> verdict;
  try {
    while (!verdict && sleep(stopped, interval)) {
      {
        const std::lock_guard lock(looks_.mutex);
        looks_.under_way = true;
        ++looks_.begun;
      }
      verdict = watch.look();
      const std::lock_guard lock(looks_.mutex);
      looks_.under_way = false;
      looks_.rank_0 = watch.last_of_rank_0();
    }
    if (!verdict ||
        (!verdict->mine_to_tell && !sleep(stopped, options_.patience))) {
      return;
    }
    options_.end(verdict->mine_to_tell ? sentence(verdict->notice) : "");
  } catch (const WorldError& error) {
    // Who serves the store went away without waiting for us.
    {
      const std::lock_guard lock(looks_.mutex);
      looks_.under_way = false;
    }
    if (sleep(stopped, options_.patience)) {
      options_.end(lost_board(options_, error.what()));
    }
  }
}

void RankGuard::watch_looks(const std::stop_token& stopped) {
  const nanoseconds patience =
      options_.timeout +
      (options_.rank == 1 ? nanoseconds(0) : kAfterTheSpeaker);
  nanoseconds silent{0};
  nanoseconds last = kSteadyClock.now();
  std::int64_t seen = 0;
  while (sleep(stopped, std::max(options_.timeout / 8, milliseconds(1)))) {
    const nanoseconds now = kSteadyClock.now();
    const nanoseconds gap = std::min(now - last, kLongestGap);
    last = now;
    std::unique_lock lock(looks_.mutex);
    const bool same = looks_.under_way && looks_.begun == seen;
    seen = looks_.begun;
    lock.unlock();
    silent = same ? silent + gap : nanoseconds(0);
    if (silent > patience) {
      options_.end(mute_board(silent));
      return;
    }
  }
}

std::string RankGuard::mute_board(nanoseconds since) {
  if (options_.rank != 1) {
    return "";
  }
  if (options_.board_is_rank_0s) {
    const std::lock_guard lock(looks_.mutex);
    return sentence(notice_of({0, since, looks_.rank_0}, options_.hosts[0]));
  }
  return sentence({1,
                   options_.hosts[1],
                   fmt::format("the ranks' store has not answered for {:.0f} s",
                               std::chrono::duration<double>(since).count())});
}

std::string RankGuard::lost_board(const Options& options,
                                  const std::string& reason) {
  if (options.rank != 1) {
    return "";
  }
  if (options.board_is_rank_0s) {
    return sentence({0, options.hosts[0], "ended without a word"});
  }
  return sentence({1, options.hosts[1], reason});
}

}  // namespace paceline::launch
