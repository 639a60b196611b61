// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/run_rank.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/process.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/mpi/mpi_engine.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/rank_monitor.h"
#include "paceline/launch/signals.h"

namespace paceline::engines {
namespace {

using std::chrono::milliseconds;

// How long, after a failure, the rank that serves the store keeps running so that others can read
// why the job failed.
constexpr milliseconds kServeAfterFailure{1500};
// How long the rank that serves the store keeps running after it was asked to stop, so that others
// can read why the job ends. This time also covers RankMonitor's polling interval and grace period.
constexpr milliseconds kServeAfterStop = launch::kStopRequestSpread + milliseconds(8000);
// How long a rank waits for another rank to print the failure.
constexpr milliseconds kPrintTimeout{5000};
// How long a rank that was asked to stop waits to learn that another rank died or reported a
// failure, because launchers notice a death before the other ranks do.
constexpr milliseconds kCauseTimeout{200};
// If the store does not answer within this time, its server is considered stopped.
constexpr milliseconds kAnswerTimeout{300};

void print(const std::string& message) {
  if (!message.empty()) {
    fmt::print(stderr, "paceline: {}\n", message);
  }
  std::fflush(nullptr);
}

bool is_supervised(const World& world) { return world.self.launcher == "paceline"; }

milliseconds beat_interval(milliseconds timeout) {
  return std::min(milliseconds(1000), timeout / 8);
}

// Returns this rank's role as the rank wrote it to the store; empty if the store is gone.
std::string role_of_this_rank(const World& world) {
  try {
    return launch::role_of(launch::read_progress(*world.store, world.self.rank));
  } catch (const WorldError&) {
    return "";
  }
}

launch::FailureNotice stop_request_notice(const World& world, int signal) {
  return {.rank = world.self.rank,
          .host = world.self.host,
          .text = fmt::format("was asked to stop by SIG{}", sigabbrev_np(signal)),
          .role = role_of_this_rank(world)};
}

launch::EndedRanks ended_of(const World& world) {
  return world.processes == nullptr ? launch::EndedRanks()
                                    : [processes = world.processes] { return processes->ended(); };
}

launch::FailureNotice lost_store_notice(const World& world, const std::string& why) {
  return launch::lost_store_notice(world.hosts, world.rank_0_serves_store, why);
}

launch::RankMonitor::Options monitor_options(const World& world,
                                             const std::shared_ptr<launch::Heartbeat>& heartbeat,
                                             milliseconds timeout, const OnFailure& on_failure) {
  const bool supervised = is_supervised(world);
  return {.store = world.store,
          .heartbeat = heartbeat,
          .rank = world.self.rank,
          .hosts = world.hosts,
          .supervised = supervised,
          .rank_0_serves_store = world.rank_0_serves_store,
          .timeout = timeout,
          .ended = ended_of(world),
          .will_be_killed_soon = supervised || !on_failure
                                     ? std::function<bool()>()
                                     : [&world] { return is_killed_soon(world); },
          .before_kill =
              [&world, on_failure] {
                launch::FailureNotice cause = stop_cause_notice(world);
                on_failure(cause);
              },
          .report_failure =
              [](const launch::FailureNotice& cause) { print(launch::failure_message(cause)); },
          .end =
              [serves = world.serves_store, supervised, on_failure](launch::FailureNotice cause,
                                                                    bool prints) {
                if (on_failure && !supervised) {
                  on_failure(cause);
                }
                print(prints ? launch::failure_message(cause) : "");
                if (serves) {
                  std::this_thread::sleep_for(kServeAfterFailure);
                }
                _exit(kWorldErrorStatus);
              }};
}

launch::FailureNotice failure_notice_from(const World& world, const std::exception& error) {
  const int exit_code =
      dynamic_cast<const UsageError*>(&error) ? kUsageErrorStatus : kWorldErrorStatus;
  const std::string text = describe_failure(error, "failed");
  return {.rank = world.self.rank,
          .host = world.self.host,
          .text = text,
          .consequence =
              dynamic_cast<const PeerTimeout*>(&error) != nullptr ||
              (exit_code == kWorldErrorStatus && classify_failure(text) != FailureKind::kOther),
          .exit_code = exit_code,
          .role = role_of_this_rank(world)};
}

// The cause of the job's failure, and whether this rank prints it.
struct FailureReport {
  launch::FailureNotice cause;
  bool prints = true;
  bool store_is_gone = false;
};

FailureReport failure_report_of(const World& world, milliseconds timeout,
                                const launch::FailureNotice& notice) {
  try {
    // The time limit is four heartbeat intervals.
    const bool prints = launch::explain_failure(
                            *world.store, notice, world.hosts, 4 * beat_interval(timeout),
                            {.ended = ended_of(world),
                             .launcher_will_end_rank = [&world] { return is_killed_soon(world); }})
                            .has_value();
    return {launch::job_failure_cause(*world.store).value_or(notice), prints};
  } catch (const WorldError&) {
    // If this rank failed because the store was lost, rank 1 prints that.
    const bool lost = notice.consequence && world.rank_0_serves_store;
    return {lost ? lost_store_notice(world, notice.text) : notice, !lost || world.self.rank == 1,
            true};
  }
}

// Prints the failure here, or waits until another rank has printed the job's failure.
void print_once(const World& world, const FailureReport& why) {
  if (why.prints) {
    print(launch::failure_message(why.cause));
  }
  if (why.store_is_gone) {
    return;
  }
  try {
    if (why.prints) {
      launch::announce_printed(*world.store);
    } else {
      launch::wait_until_printed(*world.store, kPrintTimeout);
    }
    leave(world, kServeAfterFailure);
  } catch (const WorldError&) {
    return;  // the store's server has printed the failure and ended
  }
}

// Joins the world.  A rank that is asked to stop before it has met the others ends at once, because
// launchers ask for this if another rank could not begin.
World join_or_stop(const launch::Launch& launch, milliseconds timeout) {
  try {
    return join(launch, timeout);
  } catch (const launch::StopRequested& stop) {
    std::fflush(nullptr);
    _exit(kSignalStatus + stop.signal);  // not exit(): a thread may still be opening the store
  }
}

int run_body(const std::function<int(const RankContext&)>& body, const RankContext& context) {
  try {
    return body(context);
  } catch (const launch::StopRequested& stop) {
    return kSignalStatus + stop.signal;
  }
}

}  // namespace

bool is_killed_soon(const World& world) {
  return world.self.launcher == "mpirun" && launch::requested_stop() != 0;
}

launch::FailureNotice stop_cause_notice(const World& world) {
  launch::FailureNotice asked = stop_request_notice(world, SIGTERM);
  if (!launch::answers(world.store, kAnswerTimeout)) {
    return asked;
  }
  try {
    return launch::await_cause(*world.store, world.self.rank, world.hosts, ended_of(world),
                               kCauseTimeout)
        .value_or(asked);
  } catch (const WorldError& error) {
    return world.rank_0_serves_store ? lost_store_notice(world, error.what()) : asked;
  }
}

void end_failed_rank(const World& world, milliseconds timeout, const std::exception& error,
                     const OnFailure& on_failure) {
  const launch::FailureNotice notice = failure_notice_from(world, error);
  if (is_supervised(world)) {
    try {
      launch::post_failure(*world.store, notice);
    } catch (const WorldError&) {
      print(launch::failure_message(notice));
    }
  } else {
    FailureReport why = failure_report_of(world, timeout, notice);
    if (on_failure) {
      on_failure(why.cause);
    }
    print_once(world, why);
  }
  std::fflush(nullptr);
  _exit(notice.exit_code);
}

JoinedRank::JoinedRank(const launch::Launch& launch, milliseconds timeout, OnFailure on_failure)
    : timeout_(timeout),
      on_failure_(std::move(on_failure)),
      // The longer limit lets a supervising parent, who knows more, report why a rank does not
      // join.
      world_(join_or_stop(launch, launch.self.launcher == "paceline" ? 10 * timeout : timeout)),
      heartbeat_(std::make_shared<launch::Heartbeat>(world_.store, world_.self.rank,
                                                     beat_interval(timeout))) {
  keep_freed_memory();
  // Without SIGPIPE, a write to a rank that has died fails instead of ending this rank.
  std::signal(SIGPIPE, SIG_IGN);
  if (world_.self.world > 1 || is_supervised(world_)) {
    monitor_ = std::make_unique<launch::RankMonitor>(
        monitor_options(world_, heartbeat_, timeout, on_failure_));
  }
}

JoinedRank::~JoinedRank() = default;

void JoinedRank::fail(const std::exception& error) {
  const launch::Heartbeat::Hold hold(*heartbeat_, launch::Heartbeat::Hold::For::kWatched);
  end_failed_rank(world_, timeout_, error, on_failure_);
}

void JoinedRank::leave(int exit_code) {
  const launch::Heartbeat::Hold hold(*heartbeat_, launch::Heartbeat::Hold::For::kWatched);
  leave_mpi();
  if (!is_watched()) {
    return;
  }
  if (exit_code > kSignalStatus && !is_supervised(world_)) {
    launch::post_stop(*world_.store, stop_request_notice(world_, exit_code - kSignalStatus));
    engines::leave(world_, std::max(timeout_, kServeAfterStop));
  } else {
    heartbeat_->finish();
    engines::leave(world_, timeout_);
  }
}

int run_rank(const launch::Launch& launch, milliseconds timeout,
             const std::function<int(const RankContext&)>& body, const OnFailure& on_failure) {
  JoinedRank rank(launch, timeout, on_failure);
  const RankContext context{rank.world(), rank.heartbeat()};
  int exit_code = 0;
  try {
    exit_code = run_body(body, context);
  } catch (const std::exception& error) {
    if (!rank.is_watched()) {
      throw;
    }
    rank.fail(error);
  }
  rank.leave(exit_code);
  return exit_code;
}

}  // namespace paceline::engines
