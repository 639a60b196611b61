// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/rank_monitor.h"

#include <algorithm>
#include <condition_variable>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/launch/failure_detector.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/signals.h"

namespace paceline::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// How much later than rank 1 the other ranks end if the store is gone. Rank 1 prints the failure,
// and without a store only a delay makes the others end after it.
constexpr nanoseconds kDelayAfterRank1 = std::chrono::seconds(2);

std::vector<int> ranks_to_watch(const RankMonitor::Options& options) {
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

// Sleeps for `duration`. Returns false if asked to stop meanwhile.
bool sleep(const std::stop_token& stopped, milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  condition.wait_for(lock, stopped, duration, [] { return false; });
  return !stopped.stop_requested();
}

// Measures how long the main thread has made no progress.
class StandstillClock {
 public:
  StandstillClock(const Heartbeat& heartbeat, nanoseconds timeout)
      : heartbeat_(heartbeat), longest_gap_(longest_gap(timeout)) {}

  nanoseconds measure(nanoseconds now) {
    const nanoseconds gap = std::min(now - last_, longest_gap_);
    last_ = now;
    const std::int64_t progress_count = heartbeat_.progress_count();
    const nanoseconds used = heartbeat_.main_thread_time();
    // A thread that is woken and goes back to sleep uses some time too, so small shares do not
    // count.
    const bool computes = used - used_ > gap / 100;
    still_ = heartbeat_.has_own_deadlines() || progress_count != progress_count_ || computes
                 ? nanoseconds(0)
                 : still_ + gap;
    progress_count_ = progress_count;
    used_ = used;
    return still_;
  }

 private:
  const Heartbeat& heartbeat_;
  nanoseconds longest_gap_, last_ = steady_now();
  nanoseconds used_{0}, still_{0};
  std::int64_t progress_count_ = 0;
};

// The failure that ends this rank, and whether this rank detected it.
struct Failure {
  FailureNotice notice;
  bool detected_here = false;
};

class Poller {
 public:
  explicit Poller(const RankMonitor::Options& options)
      : options_(options),
        detector_(ranks_to_watch(options), options.timeout),
        standstill_(*options.heartbeat, options.timeout) {}

  std::optional<Failure> poll() {
    options_.heartbeat->beat_unless_claimed();
    const bool waits = options_.heartbeat->waits();
    if (const nanoseconds still = standstill_.measure(steady_now());
        still > (waits ? kPeerWaitFactor : 1) * options_.timeout) {
      return post_standstill(still, waits);
    }
    if (all_wait()) {
      const FailureNotice notice = endless_wait();
      if (post_failure(*options_.store, notice)) {
        return Failure{notice, true};
      }
    }
    if (options_.supervised) {
      return std::nullopt;
    }
    detector_.poll(*options_.store, steady_now());
    if (const auto silent = detector_.silent_rank()) {
      detector_.remove(silent->rank);
      const auto stop = stop_notice_of(*options_.store, silent->rank);
      const FailureNotice notice = stop.value_or(
          silent_rank_notice(*silent, options_.hosts[static_cast<std::size_t>(silent->rank)]));
      // If a launcher stops all ranks, a rank that has ended is no failure.
      if (!(stop && requested_stop() != 0) && post_failure(*options_.store, notice)) {
        return Failure{notice, true};
      }
    }
    auto gone = notice_of_killed_rank(*options_.store, options_.hosts, options_.ended);
    if (!gone) {
      gone = stop_of_server();
    }
    if (gone && post_death(*options_.store, *gone, options_.rank)) {
      return Failure{*gone, true};
    }
    if (const auto cause = job_failure_cause(*options_.store);
        cause && cause->rank != options_.rank) {
      return Failure{*cause, false};
    }
    return std::nullopt;
  }

  std::optional<Progress> rank_0() const { return detector_.last_progress(0); }

 private:
  // The notice of rank 0, which serves the store, once it is known that rank 0 was asked to stop
  // without this rank.
  std::optional<FailureNotice> stop_of_server() {
    if (!options_.rank_0_serves_store || options_.rank == 0) {
      return std::nullopt;
    }
    auto stop = stop_notice_of(*options_.store, 0);
    if (!stop || requested_stop() != 0) {
      return std::nullopt;
    }
    if (!since_stop_) {
      since_stop_.emplace();
    }
    return since_stop_->elapsed() < kStopRequestSpread ? std::nullopt : stop;
  }

  // Returns whether all ranks wait at the store or have finished. Then no rank will set the key for
  // which another one waits.
  bool all_wait() {
    const milliseconds limit = kPeerWaitFactor * options_.timeout;
    if (options_.heartbeat->waited() <= limit) {
      return false;
    }
    for (int rank = 0; rank < static_cast<int>(options_.hosts.size()); ++rank) {
      const auto progress = read_progress(*options_.store, rank);
      if (rank != options_.rank &&
          !(progress && (progress->done || milliseconds(progress->waited_ms) > limit))) {
        return false;
      }
    }
    return true;
  }

  FailureNotice own_notice(const std::string& text, bool consequence) {
    return {.rank = options_.rank,
            .host = options_.hosts[static_cast<std::size_t>(options_.rank)],
            .text = text,
            .consequence = consequence,
            .role = options_.heartbeat->role()};
  }

  FailureNotice endless_wait() {
    return own_notice(
        fmt::format("all ranks have waited for others for more than {:g} s, this one for '{}'",
                    to_seconds(kPeerWaitFactor * options_.timeout),
                    options_.heartbeat->awaited_key()),
        false);
  }

  std::optional<Failure> post_standstill(nanoseconds still, bool waits) {
    const FailureNotice notice =
        own_notice(fmt::format("the main thread has {} for {:.0f} s, {}",
                               waits ? "waited for other ranks" : "not moved", to_seconds(still),
                               options_.heartbeat->position()),
                   waits);
    post_failure(*options_.store, notice);
    return Failure{notice, true};
  }

  const RankMonitor::Options& options_;
  FailureDetector detector_;
  StandstillClock standstill_;
  std::optional<Stopwatch> since_stop_;  // time since the stop notice of rank 0 was first seen
};

}  // namespace

RankMonitor::RankMonitor(Options options)
    : options_(std::move(options)),
      watchdog_([this](const std::stop_token& stopped) {
        if (!options_.supervised) {
          run_watchdog(stopped);
        }
      }),
      thread_([this](const std::stop_token& stopped) { run(stopped); }) {}

RankMonitor::~RankMonitor() = default;

// Sleeps for `duration`, or shorter if this process will soon be killed: then calls before_kill().
// Returns false if asked to stop meanwhile.
bool RankMonitor::pause(const std::stop_token& stopped, milliseconds duration) {
  if (!options_.will_be_killed_soon || was_killed_soon_) {
    return sleep(stopped, duration);
  }
  constexpr milliseconds kMoment{200};
  while (duration > milliseconds(0)) {
    const milliseconds part = std::min(duration, kMoment);
    const bool soon = options_.will_be_killed_soon();
    if (!sleep(stopped, soon ? kMoment : part)) {
      return false;
    }
    if (soon) {
      was_killed_soon_ = true;
      options_.before_kill();
      return true;
    }
    duration -= part;
  }
  return true;
}

void RankMonitor::run(const std::stop_token& stopped) {
  const auto interval =
      std::min(milliseconds(500), std::max(options_.timeout / 8, milliseconds(1)));
  Poller poller(options_);
  std::optional<Failure> failure;
  try {
    while (!failure && pause(stopped, interval)) {
      {
        const std::lock_guard lock(poll_state_.mutex);
        poll_state_.is_poll_running = true;
        ++poll_state_.started_polls;
      }
      failure = poller.poll();
      const std::lock_guard lock(poll_state_.mutex);
      poll_state_.is_poll_running = false;
      poll_state_.rank_0 = poller.rank_0();
    }
    if (!failure) {
      return;
    }
    const bool own = failure->notice.rank == options_.rank;
    if (!own) {
      if (failure->detected_here) {
        options_.report_failure(failure->notice);
        announce_printed(*options_.store);
      }
      announce_end(*options_.store);
      if (!pause(stopped, options_.grace)) {
        return;
      }
    }
    options_.end(failure->notice, own && !options_.supervised);
  } catch (const WorldError& error) {
    // The process that serves the store is gone.
    {
      const std::lock_guard lock(poll_state_.mutex);
      poll_state_.is_poll_running = false;
    }
    if (sleep(stopped, options_.grace)) {
      options_.end(lost_store_notice(options_.hosts, options_.rank_0_serves_store, error.what()),
                   options_.rank == 1);
    }
  }
}

void RankMonitor::run_watchdog(const std::stop_token& stopped) {
  const nanoseconds limit =
      options_.timeout + (options_.rank == 1 ? nanoseconds(0) : kDelayAfterRank1);
  nanoseconds silent{0};
  nanoseconds last = steady_now();
  std::int64_t seen = 0;
  while (sleep(stopped, std::max(options_.timeout / 8, milliseconds(1)))) {
    const nanoseconds now = steady_now();
    const nanoseconds gap = std::min(now - last, longest_gap(options_.timeout));
    last = now;
    std::unique_lock lock(poll_state_.mutex);
    const bool same = poll_state_.is_poll_running && poll_state_.started_polls == seen;
    seen = poll_state_.started_polls;
    lock.unlock();
    silent = same ? silent + gap : nanoseconds(0);
    if (silent > limit) {
      options_.end(silent_store_notice(silent), options_.rank == 1);
      return;
    }
  }
}

FailureNotice RankMonitor::silent_store_notice(nanoseconds since) {
  if (options_.rank_0_serves_store) {
    const std::lock_guard lock(poll_state_.mutex);
    return silent_rank_notice({0, since, poll_state_.rank_0}, options_.hosts[0]);
  }
  return {1, options_.hosts[1],
          fmt::format("the ranks' store has not answered for {:.0f} s", to_seconds(since))};
}

FailureNotice lost_store_notice(const std::vector<std::string>& hosts, bool rank_0_serves_store,
                                const std::string& reason) {
  return rank_0_serves_store ? FailureNotice{0, hosts[0], "ended without an error message"}
                             : FailureNotice{1, hosts[1], reason};
}

}  // namespace paceline::launch
