// SPDX-License-Identifier: Apache-2.0
#include "paceline/launch/supervise.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "paceline/base/clock.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/heart_judge.h"

namespace paceline::launch {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kTick{100};

struct Child : Watched {
  std::optional<int> status;  // as waitpid says; absent while it lives
  nanoseconds ended{0};

  bool killed_by(int signal) const {
    return status && WIFSIGNALED(*status) && WTERMSIG(*status) == signal;
  }
  bool exited_with(int code) const {
    return status && WIFEXITED(*status) && WEXITSTATUS(*status) == code;
  }
  bool holds(int rank) const {
    return rank >= first_rank && rank < first_rank + ranks;
  }
};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return fmt::format(
        "was killed by signal {} ({})", signal, strsignal(signal));
  }
  // A rank that stops because it was asked to says so by its exit code.
  const int code = WEXITSTATUS(status);
  const char* const asked = code > 128 ? sigabbrev_np(code - 128) : nullptr;
  return asked == nullptr
             ? fmt::format("ended with exit code {}", code)
             : fmt::format(
                   "ended because of a SIG{} (exit code {})", asked, code);
}

std::vector<int> ranks_of(const Watched& child) {
  std::vector<int> ranks(static_cast<std::size_t>(child.ranks));
  std::iota(ranks.begin(), ranks.end(), child.first_rank);
  return ranks;
}

std::vector<int> ranks_of(const std::vector<Watched>& children) {
  std::vector<int> all;
  for (const Watched& child : children) {
    for (const int rank : ranks_of(child)) {
      all.push_back(rank);
    }
  }
  return all;
}

class Supervision {
 public:
  Supervision(const std::vector<Watched>& children,
              Board& board,
              const SupervisorSignals& signals,
              const Patience& patience)
      : board_(board),
        signals_(signals),
        patience_(patience),
        judge_(ranks_of(children), patience.heartbeat) {
    for (const Watched& child : children) {
      children_.push_back({child, std::nullopt, nanoseconds(0)});
    }
  }

  Outcome run() {
    while (any_alive()) {
      const int signal = signals_.wait(kTick);
      reap();
      if (signal != 0 && signal != SIGCHLD) {
        ask_to_stop(signal);
      }
      watch_hearts();
      if (patience_.meanwhile) {
        patience_.meanwhile();
      }
      if (failed_at_ && !ending_) {
        end_all_once_explained();
      }
      if (kill_at_ && now() > *kill_at_) {
        kill_all();
      }
    }
    return outcome();
  }

 private:
  static nanoseconds now() { return kSteadyClock.now(); }

  bool any_alive() const {
    return std::any_of(children_.begin(),
                       children_.end(),
                       [](const Child& child) { return !child.status; });
  }

  void signal_living(int signal) {
    for (const auto& child : children_) {
      if (child.status) {
        continue;
      }
      if (child.control >= 0 && signal != SIGKILL) {
        // One that no longer listens is about to be reaped.
        send(child.control, "stop\n", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
      } else {
        kill(-child.pid, signal);
      }
    }
  }

  void reap() {
    for (Child& child : children_) {
      siginfo_t info{};
      if (child.status ||
          waitid(P_PID,
                 static_cast<id_t>(child.pid),
                 &info,
                 WEXITED | WNOHANG | WNOWAIT) != 0 ||
          info.si_pid != child.pid) {
        continue;
      }
      // What it started itself; until it is reaped, the group's number is its.
      kill(-child.pid, SIGKILL);
      int status = 0;
      waitpid(child.pid, &status, 0);
      child.status = status;
      child.ended = now();
      for (const int rank : ranks_of(child)) {
        judge_.dismiss(rank);
      }
      if (stop_signal_) {
        hurry();
      } else if (!child.exited_with(0) && !failed_at_) {
        failed_at_ = now();
      }
    }
  }

  void ask_to_stop(int signal) {
    if (stop_signal_ || ending_) {
      kill_all();
      return;
    }
    stop_signal_ = signal;
    signal_living(SIGTERM);
    kill_at_ = now() + patience_.stop;
  }

  // One that stopped as asked is missing from now on: the others can finish no
  // step, and may wait for it where they do not look for a wish to stop.
  void hurry() {
    if (kill_at_) {
      kill_at_ = std::min(*kill_at_, now() + patience_.failure);
    }
  }

  void watch_hearts() {
    if (failed_at_ || ending_ || now() < next_look_) {
      return;
    }
    next_look_ = now() + std::min<nanoseconds>(std::chrono::milliseconds(500),
                                               patience_.heartbeat / 8);
    judge_.look(board_, now());
    silence_ = judge_.lost();
    if (silence_) {
      failed_at_ = now();
    }
  }

  // The verdict comes first: what dies from here on is our doing.  Where all
  // that is known are consequences, the cause gets more time to show.
  void end_all_once_explained() {
    const auto waited = now() - *failed_at_;
    if (waited < patience_.settle) {
      return;
    }
    auto cause = find_cause();
    if (cause.consequence && waited < patience_.settle + patience_.failure) {
      return;
    }
    decide(std::move(cause));
    ending_ = true;
    signal_living(SIGTERM);
    kill_at_ = now() + patience_.failure;
  }

  void decide(FailureNotice cause) {
    verdict_ = std::move(cause);
    if (patience_.verdict) {
      patience_.verdict(*verdict_);
    }
  }

  void kill_all() {
    if (stop_signal_ && !ending_) {
      for (const Child& child : children_) {
        if (!child.status) {
          verdict_ = FailureNotice{
              child.first_rank,
              child.host,
              "did not stop when it was asked to, and was killed " +
                  where(child.first_rank)};
          break;
        }
      }
    }
    ending_ = true;
    signal_living(SIGKILL);
    kill_at_.reset();
  }

  std::string where(int rank) {
    const auto progress = read_progress(board_, rank);
    return progress ? whereabouts(*progress) : "before it began";
  }

  // A death that no notice explains, or that a signal made.
  bool died_unexplained(const Child& child) {
    const std::vector<int> ranks = ranks_of(child);
    return child.status && !child.exited_with(0) &&
           std::none_of(ranks.begin(), ranks.end(), [this](int rank) {
             return failure_of(board_, rank).has_value();
           });
  }

  FailureNotice describe_death(const Child& child, int rank) {
    const std::string early =
        child.exited_with(0) ? "left early: it " : std::string();
    const std::string who =
        child.name.empty() ? std::string() : child.name + " ";
    return {
        rank,
        child.host,
        fmt::format(
            "{}{}{} {}", early, who, how_it_ended(*child.status), where(rank))};
  }

  // The first rank that has not come, where others have and wait for it.
  std::optional<FailureNotice> find_latecomer() {
    if (silence_->last) {
      return std::nullopt;
    }
    std::optional<FailureNotice> late;
    bool others_came = false;
    for (const Child& child : children_) {
      for (const int rank : ranks_of(child)) {
        const bool came = board_.read(host_key(rank)).has_value();
        others_came = others_came || came;
        if (!came && !late) {
          late = describe_lateness(child, rank);
        }
      }
    }
    return others_came ? late : std::nullopt;
  }

  FailureNotice describe_lateness(const Child& child, int rank) const {
    return {
        rank,
        child.host,
        fmt::format("did not come within {:.0f} s{}",
                    std::chrono::duration<double>(silence_->since).count(),
                    child.name.empty()
                        ? ""
                        : fmt::format("; {} has not started it", child.name))};
  }

  // Note [Who is to blame].  A silent rank first: its peers time out, or are
  // innocent and alive, or wait for it to come.  Then the earliest of: a death
  // without a notice, the first notice that is no consequence.  Then a rank
  // that left with exit code 0 but without finishing.  Only then one that
  // blames others.
  FailureNotice find_cause() {
    if (silence_) {
      if (auto late = find_latecomer()) {
        return *std::move(late);
      }
      return notice_of(*silence_, child_of(silence_->rank)->host);
    }
    const auto filed = job_failure(board_);
    const Child* dead = nullptr;
    for (const Child& child : children_) {
      if (died_unexplained(child) &&
          (dead == nullptr || child.ended < dead->ended)) {
        dead = &child;
      }
    }
    if (filed && (dead == nullptr || ended_before(filed->rank, *dead))) {
      return *filed;
    }
    if (dead != nullptr) {
      return describe_death(*dead, dead->first_rank);
    }
    return find_deserter();
  }

  const Child* child_of(int rank) const {
    const auto found = std::find_if(
        children_.begin(), children_.end(), [&](const Child& child) {
          return child.holds(rank);
        });
    return found == children_.end() ? nullptr : &*found;
  }

  // One that is not watched here is another host's, and filed its notice.
  bool ended_before(int rank, const Child& other) const {
    const Child* one = child_of(rank);
    return one == nullptr || (one->status && one->ended <= other.ended);
  }

  FailureNotice find_deserter() {
    std::optional<FailureNotice> consequence;
    for (const Child& child : children_) {
      for (const int rank : ranks_of(child)) {
        const auto progress = read_progress(board_, rank);
        if (child.exited_with(0) && !(progress && progress->done)) {
          return describe_death(child, rank);
        }
        if (!consequence) {
          consequence = failure_of(board_, rank);
        }
      }
    }
    return consequence.value_or(FailureNotice{children_.front().first_rank,
                                              children_.front().host,
                                              "ended, and left no word why"});
  }

  Outcome outcome() {
    Outcome result;
    result.stop_signal = stop_signal_;
    if (!verdict_ && failed_at_) {
      decide(find_cause());
    }
    if (verdict_) {
      result.exit_code = verdict_->exit_code == 2 ? 2 : 3;
      result.message = sentence(*verdict_);
      result.rank = verdict_->rank;
      return result;
    }
    for (const auto& child : children_) {
      const int code = WIFEXITED(*child.status) ? WEXITSTATUS(*child.status)
                                                : 128 + WTERMSIG(*child.status);
      result.exit_code = std::max(result.exit_code, code);
    }
    return result;
  }

  Board& board_;
  const SupervisorSignals& signals_;
  const Patience& patience_;
  HeartJudge judge_;
  std::vector<Child> children_;
  nanoseconds next_look_{0};
  std::optional<Silence> silence_;
  std::optional<nanoseconds> failed_at_, kill_at_;
  std::optional<FailureNotice> verdict_;
  bool ending_ = false;
  int stop_signal_ = 0;
};

}  // namespace

Outcome supervise(const std::vector<Watched>& children,
                  Board& board,
                  const SupervisorSignals& signals,
                  const Patience& patience) {
  return Supervision(children, board, signals, patience).run();
}

}  // namespace paceline::launch
