// SPDX-License-Identifier: Apache-2.0
#include "paceline/engines/run_rank.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <unistd.h>

#include "paceline/base/error.h"
#include "paceline/base/process.h"
#include "paceline/engines/failure.h"
#include "paceline/engines/mpi/mpi_engine.h"
#include "paceline/launch/failure_notice.h"
#include "paceline/launch/rank_monitor.h"
#include "paceline/launch/stop_signals.h"

namespace paceline::engines {
namespace {

using std::chrono::milliseconds;

// How long the rank that serves the store stays for the others to read it.
constexpr milliseconds kServeAfterFailure{1500};
// How long a rank waits for another one to print the failure.
constexpr milliseconds kPrintTimeout{5000};
// The exit code of a rank that was asked to stop is so much more than the
// signal.
constexpr int kSignalExit = 128;

void print(const std::string& message) {
  if (!message.empty()) {
    fmt::print(stderr, "paceline: {}\n", message);
  }
  std::fflush(nullptr);
}

bool is_supervised(const World& world) {
  return world.self.launcher == "paceline";
}

milliseconds beat_interval(milliseconds timeout) {
  return std::min(milliseconds(1000), timeout / 8);
}

launch::RankMonitor::Options monitor_options(
    const World& world,
    const std::shared_ptr<launch::Heartbeat>& heartbeat,
    milliseconds timeout,
    const std::function<void()>& on_failure) {
  return {.store = world.store,
          .heartbeat = heartbeat,
          .rank = world.self.rank,
          .hosts = world.hosts,
          .supervised = is_supervised(world),
          .rank_0_serves_store = world.rank_0_serves_store,
          .timeout = timeout,
          .end = [serves = world.serves_store,
                  on_failure](const std::string& message) {
            if (on_failure) {
              on_failure();
            }
            print(message);
            if (serves) {
              std::this_thread::sleep_for(kServeAfterFailure);
            }
            _exit(3);
          }};
}

// As this rank wrote it; empty where the store is gone.
std::string role_in(const World& world) {
  try {
    return launch::role_of(
        launch::read_progress(*world.store, world.self.rank));
  } catch (const WorldError&) {
    return "";
  }
}

launch::FailureNotice notice_of(const World& world,
                                const std::exception& error) {
  const int exit_code = dynamic_cast<const UsageError*>(&error) ? 2 : 3;
  const std::string text = describe_failure(error, "failed");
  return {.rank = world.self.rank,
          .host = world.self.host,
          .text = text,
          .consequence =
              dynamic_cast<const PeerTimeout*>(&error) != nullptr ||
              (exit_code == 3 && classify_failure(text) != FailureKind::kOwn),
          .exit_code = exit_code,
          .role = role_in(world)};
}

// Prints the failure here, or waits until another rank has printed the job's.
void print_once(const World& world,
                milliseconds timeout,
                const launch::FailureNotice& notice) {
  std::optional<std::string> message;
  try {
    // Four heartbeats fit into this time.
    message = launch::explain_failure(
        *world.store, notice, world.hosts, 4 * beat_interval(timeout));
  } catch (const WorldError&) {
    // The store is gone.  Where that is what broke this rank, rank 1 prints it.
    launch::RankMonitor::Options options;
    options.rank = world.self.rank;
    options.hosts = world.hosts;
    options.rank_0_serves_store = world.rank_0_serves_store;
    print(notice.consequence && world.rank_0_serves_store
              ? launch::RankMonitor::lost_store_message(options, notice.text)
              : launch::message_of(notice));
    return;
  }
  try {
    if (message) {
      print(*message);
      launch::announce_printed(*world.store);
    } else {
      launch::wait_until_printed(*world.store, kPrintTimeout);
    }
    leave(world, kServeAfterFailure);
  } catch (const WorldError&) {
    return;  // the store's server has ended after it printed
  }
}

// A rank that is asked to stop before it has met the others ends at once:
// launchers ask so where another rank could not begin.
World join_or_stop(const launch::Launch& launch, milliseconds timeout) {
  try {
    return join(launch, timeout);
  } catch (const launch::StopRequested& stop) {
    std::fflush(nullptr);
    _exit(kSignalExit + stop.signal);  // a thread may still open the store
  }
}

}  // namespace

void end_failed_rank(const World& world,
                     milliseconds timeout,
                     const std::exception& error) {
  const launch::FailureNotice notice = notice_of(world, error);
  if (is_supervised(world)) {
    try {
      launch::post_failure(*world.store, notice);
    } catch (const WorldError&) {
      print(launch::message_of(notice));
    }
  } else {
    print_once(world, timeout, notice);
  }
  std::fflush(nullptr);
  _exit(notice.exit_code);
}

int run_rank(const launch::Launch& launch,
             milliseconds timeout,
             const std::function<int(const RankContext&)>& body,
             const std::function<void()>& on_failure) {
  keep_freed_memory();
  // A supervising parent knows better why a rank does not join.
  const bool supervised = launch.self.launcher == "paceline";
  const World world = join_or_stop(launch, supervised ? 10 * timeout : timeout);
  const auto heartbeat = std::make_shared<launch::Heartbeat>(
      world.store, world.self.rank, beat_interval(timeout));
  if (world.self.world == 1 && !supervised) {
    const int exit_code = body({world, *heartbeat});
    leave_mpi();
    return exit_code;
  }
  const auto options = monitor_options(world, heartbeat, timeout, on_failure);
  const launch::RankMonitor monitor(options);
  int exit_code = 0;
  try {
    exit_code = body({world, *heartbeat});
  } catch (const std::exception& error) {
    const launch::Heartbeat::Hold hold(*heartbeat,
                                       launch::Heartbeat::Hold::For::kWatched);
    if (on_failure) {
      on_failure();
    }
    end_failed_rank(world, timeout, error);
  }
  const launch::Heartbeat::Hold hold(*heartbeat,
                                     launch::Heartbeat::Hold::For::kWatched);
  leave_mpi();
  heartbeat->finish();
  leave(world, timeout);
  return exit_code;
}

}  // namespace paceline::engines
