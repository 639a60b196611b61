// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/supervise.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "paceline/base/clock.h"
#include "paceline/base/error.h"
#include "paceline/base/spawn.h"
#include "paceline/launch/child_exit.h"
#include "paceline/launch/failure_notice.h"

namespace paceline::launch {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kTick{100};

/// A supervised child and how it ended.
struct Child : ChildProcess {
  std::optional<int> status;         // as waitpid returns it; nothing while it runs
  std::chrono::nanoseconds ended{};  // time of its end by the supervisor's clock

  bool exited_with(int code) const {
    return status && WIFEXITED(*status) && WEXITSTATUS(*status) == code;
  }
  bool holds(int rank) const { return rank >= first_rank && rank < first_rank + ranks; }
  std::vector<int> all_ranks() const {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), first_rank);
    return all;
  }
};

bool died_without_notice(const Child& child, KeyValueStore& store) {
  return child.status && !child.exited_with(0) &&
         std::ranges::none_of(child.all_ranks(),
                              [&](int rank) { return failure_notice_of(store, rank).has_value(); });
}

FailureNotice describe_death(const Child& child, int rank, KeyValueStore& store) {
  const auto progress = read_progress(store, rank);
  return {.rank = rank,
          .host = child.host,
          .text = fmt::format("{}{}{}{}", child.exited_with(0) ? "left early: it " : "",
                              child.name.empty() ? "" : child.name + " ",
                              exit_description(*child.status), last_heartbeat_text(progress)),
          .role = role_of(progress)};
}

// The notice of the first rank that has not joined, if other ranks have joined and wait for it.
std::optional<FailureNotice> notice_of_missing_rank(const std::vector<Child>& children,
                                                    const SilentRank& silent,
                                                    KeyValueStore& store) {
  std::optional<FailureNotice> missing;
  bool others_joined = false;
  for (const Child& child : children) {
    for (const int rank : child.all_ranks()) {
      const bool joined = store.get(host_key(rank)).has_value();
      others_joined = others_joined || joined;
      if (!joined && !missing) {
        missing = {
            rank, child.host,
            fmt::format(
                "did not join within {:.0f} s{}", to_seconds(silent.since),
                child.name.empty() ? "" : fmt::format("; {} has not started it", child.name))};
      }
    }
  }
  return others_joined ? missing : std::nullopt;
}

const Child* child_of(const std::vector<Child>& children, int rank) {
  const auto found =
      std::ranges::find_if(children, [&](const Child& child) { return child.holds(rank); });
  return found == children.end() ? nullptr : &*found;
}

// Whether `rank` ended before `other`. A rank that this process does not supervise is on another
// host, and posted its notice earlier.
bool has_rank_ended_before(const std::vector<Child>& children, int rank, const Child& other) {
  const Child* one = child_of(children, rank);
  return one == nullptr || (one->status && one->ended <= other.ended);
}

FailureNotice notice_of_unfinished_rank(const std::vector<Child>& children, KeyValueStore& store) {
  std::optional<FailureNotice> consequence;
  std::int64_t earliest = 0;
  for (const Child& child : children) {
    for (const int rank : child.all_ranks()) {
      const auto progress = read_progress(store, rank);
      if (child.exited_with(0) && !(progress && progress->done)) {
        return describe_death(child, rank, store);
      }
      // If several notices are consequences, the rank at the earliest step is named, because the
      // other ranks wait for it.
      const std::int64_t step = progress ? progress->step : -1;
      if (!consequence || step < earliest) {
        if (auto posted = failure_notice_of(store, rank)) {
          consequence = std::move(posted);
          earliest = step;
        }
      }
    }
  }
  return consequence.value_or(FailureNotice{children.front().first_rank, children.front().host,
                                            "ended, and gave no reason"});
}

/// Finds the rank whose failure ended the job.
///
/// Note [Which rank is named].
/// The first of these rules that applies names the rank. (1) A silent rank: its peers wait for it,
/// or time out because of it. (2) The earlier one of a death without a notice and the first notice
/// that is not a consequence. (3) A rank that exited with code 0 without finishing. (4) A notice
/// that is a consequence, of the rank at the earliest step.
FailureNotice find_cause(const std::vector<Child>& children,
                         const std::optional<SilentRank>& silent, KeyValueStore& store) {
  if (silent) {
    if (!silent->last) {
      if (auto missing = notice_of_missing_rank(children, *silent, store)) {
        return *std::move(missing);
      }
    }
    return silent_rank_notice(*silent, child_of(children, silent->rank)->host);
  }
  const auto posted = job_failure_cause(store);
  const Child* dead = nullptr;
  for (const Child& child : children) {
    if (died_without_notice(child, store) && (dead == nullptr || child.ended < dead->ended)) {
      dead = &child;
    }
  }
  if (posted && (dead == nullptr || has_rank_ended_before(children, posted->rank, *dead))) {
    return *posted;
  }
  return dead != nullptr ? describe_death(*dead, dead->first_rank, store)
                         : notice_of_unfinished_rank(children, store);
}

std::vector<int> ranks_of(const std::vector<ChildProcess>& children) {
  std::vector<int> all;
  for (const ChildProcess& child : children) {
    for (int i = 0; i < child.ranks; ++i) {
      all.push_back(child.first_rank + i);
    }
  }
  return all;
}

class Supervision {
 public:
  Supervision(const std::vector<ChildProcess>& children, KeyValueStore& store,
              const SupervisorSignals& signals, const SuperviseOptions& options)
      : store_(store),
        signals_(signals),
        options_(options),
        detector_(ranks_of(children), options.heartbeat_timeout) {
    for (const ChildProcess& child : children) {
      children_.push_back({child, std::nullopt, nanoseconds(0)});
    }
  }

  Outcome run() {
    try {
      watch();
    } catch (...) {  // a callback has thrown
      kill_all();
      while (any_alive()) {
        signals_.wait(kTick);
        reap();
      }
      throw;
    }
    return outcome();
  }

 private:
  void watch() {
    while (any_alive()) {
      const int signal = signals_.wait(kTick);
      reap();
      if (signal != 0 && signal != SIGCHLD) {
        ask_to_stop(signal);
      }
      watch_heartbeats();
      if (options_.on_tick) {
        options_.on_tick();
      }
      if (failed_at_ && !ending_) {
        end_all_once_explained();
      }
      if (kill_at_ && now() > *kill_at_) {
        kill_all();
      }
    }
  }

  static nanoseconds now() { return steady_now(); }

  bool any_alive() const {
    return std::ranges::any_of(children_, [](const Child& child) { return !child.status; });
  }

  void signal_living(int signal) {
    for (const auto& child : children_) {
      if (child.status) {
        continue;
      }
      if (child.control_socket >= 0 && signal != SIGKILL) {
        // The send may fail: a child that no longer reads has ended and is about to be reaped.
        send(child.control_socket, "stop\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
      } else {
        kill(-child.pid, signal);
      }
    }
  }

  void reap() {
    for (Child& child : children_) {
      if (child.status) {
        continue;
      }
      child.status = reap_group(child.pid);
      if (!child.status) {
        continue;
      }
      child.ended = now();
      for (const int rank : child.all_ranks()) {
        detector_.remove(rank);
      }
      if (stop_signal_ != 0) {
        shorten_stop_grace();
      } else if (!failed_at_ && !has_finished(child)) {
        failed_at_ = now();
      }
    }
  }

  /// Whether a child has finished its work. A rank that exits early without an error has not, and
  /// leaves the others waiting.
  bool has_finished(const Child& child) const {
    return child.exited_with(0) && std::ranges::all_of(child.all_ranks(), [&](int rank) {
             const auto progress = read_progress(store_, rank);
             return progress && progress->done;
           });
  }

  void ask_to_stop(int signal) {
    if (stop_signal_ != 0 && !is_second_request(now() - asked_at_)) {
      return;
    }
    if (stop_signal_ != 0 || ending_) {
      kill_all();
      return;
    }
    stop_signal_ = signal;
    asked_at_ = now();
    signal_living(SIGTERM);
    kill_at_ = now() + options_.stop_grace;
  }

  // Gives the ranks at most `failure_grace` more time once one of them has stopped: they cannot
  // finish a step without it, and may wait for it if they do not notice that they are to stop.
  void shorten_stop_grace() {
    if (kill_at_) {
      kill_at_ = std::min(*kill_at_, now() + options_.failure_grace);
    }
  }

  void watch_heartbeats() {
    if (failed_at_ || ending_ || now() < next_poll_) {
      return;
    }
    next_poll_ = now() + std::min<nanoseconds>(std::chrono::milliseconds(500),
                                               options_.heartbeat_timeout / 8);
    detector_.poll(store_, now());
    silent_ = detector_.silent_rank();
    if (silent_) {
      failed_at_ = now();
    }
  }

  // The cause is determined before the other ranks are ended, because children that die later are
  // killed by this process. A cause that is a consequence gets more time to be replaced.
  void end_all_once_explained() {
    const auto waited = now() - *failed_at_;
    if (waited < options_.notice_grace) {
      return;
    }
    auto cause = find_cause(children_, silent_, store_);
    if (cause.consequence && waited < options_.notice_grace + options_.failure_grace) {
      return;
    }
    set_cause(std::move(cause));
    ending_ = true;
    announce_end(store_);
    signal_living(SIGTERM);
    kill_at_ = now() + options_.failure_grace;
  }

  void set_cause(FailureNotice cause) {
    if (auto lost = options_.lost ? options_.lost() : std::nullopt) {
      cause.text = *std::move(lost);
    }
    cause_ = std::move(cause);
    if (options_.on_failure) {
      options_.on_failure(*cause_);
    }
  }

  void kill_all() {
    if (stop_signal_ != 0 && !ending_) {
      const auto alive =
          std::ranges::find_if(children_, [](const Child& child) { return !child.status; });
      if (alive != children_.end()) {
        const auto progress = read_progress(store_, alive->first_rank);
        cause_ = FailureNotice{.rank = alive->first_rank,
                               .host = alive->host,
                               .text = "did not stop when it was asked to, and was killed" +
                                       last_heartbeat_text(progress),
                               .role = role_of(progress)};
      }
    }
    ending_ = true;
    signal_living(SIGKILL);
    kill_at_.reset();
  }

  Outcome outcome() {
    Outcome result;
    result.stop_signal = stop_signal_;
    if (!cause_ && failed_at_) {
      set_cause(find_cause(children_, silent_, store_));
    }
    if (cause_) {
      result.exit_code =
          cause_->exit_code == kUsageErrorStatus ? kUsageErrorStatus : kWorldErrorStatus;
      result.message = failure_message(*cause_);
      result.rank = cause_->rank;
      return result;
    }
    for (const auto& child : children_) {
      result.exit_code = std::max(result.exit_code, exit_code_of(*child.status));
    }
    return result;
  }

  KeyValueStore& store_;
  const SupervisorSignals& signals_;
  const SuperviseOptions& options_;
  FailureDetector detector_;
  std::vector<Child> children_;
  nanoseconds next_poll_{0}, asked_at_{0};
  std::optional<SilentRank> silent_;
  std::optional<nanoseconds> failed_at_, kill_at_;
  std::optional<FailureNotice> cause_;
  bool ending_ = false;
  int stop_signal_ = 0;
};

}  // namespace

Outcome supervise(const std::vector<ChildProcess>& children, KeyValueStore& store,
                  const SupervisorSignals& signals, const SuperviseOptions& options) {
  return Supervision(children, store, signals, options).run();
}

}  // namespace paceline::launch
