// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/launched_rank.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/engines/run_rank.h"
#include "paceline/front/front.h"
#include "paceline/front/operation_results.h"
#include "paceline/front/results.h"
#include "paceline/launch/signals.h"
#include "paceline/rank/cores.h"
#include "paceline/rank/rank.h"
#include "paceline/rank/session.h"

namespace paceline::front {
namespace {

using std::chrono::milliseconds;

constexpr const char* kFailureRecordedKey = "failure/recorded";
// How long a rank waits until rank 0 has recorded a failure.
constexpr milliseconds kRecordTimeout{2000};
// If the store does not answer within this time, its server is considered stopped.
constexpr milliseconds kAnswerTimeout{300};

std::unique_ptr<Front> make_front(cases::JobSpec& job) {
  if (job.operations) {
    return std::make_unique<OperationResults>(job);
  }
  auto results = std::make_unique<Results>(job);
  results->print_if_complete();
  return results;
}

/// Runs all repetitions of a job on a rank that another launcher started.
class LaunchedRank {
 public:
  LaunchedRank(const engines::RankContext& context, const launch::StopSignals& stop)
      : context_(context),
        world_(context.world),
        stop_(stop),
        store_(world_.store, world_.self.rank, "", &context_.heartbeat, [this] {
          context_.heartbeat.beat(-1, "waiting for the other ranks");
          launch::throw_if_stop_requested();
        }) {}

  int run(const ResolveJob& resolve) {
    job_ = share(resolve);
    shared_ = true;
    int code = 0;
    try {
      for (; job_.run < job_.experiment.runs && code == 0; ++job_.run) {
        begin();
        code = rank::run_session(context_, job_, hooks());
      }
    } catch (...) {
      in_session_ = false;
      if (world_.self.world == 1) {  // in a world of one, fail() is never called, so it cannot
                                     // print
        show("");
      }
      throw;
    }
    in_session_ = false;
    const std::string ended = record_if_ended(code);
    show(stop_.requested() && ended.empty() ? ended_by_signal_text(stop_.signal()) : ended);
    return code == 0 && results_ ? results_->status() : code;
  }

  /// Called before a failure ends this process.  Records the running case, and on rank 0 prints the
  /// results.
  void fail(launch::FailureNotice& cause) {
    if (!shared_) {
      return;
    }
    std::call_once(recorded_, [&] { record(cause); });
    // Does not wait for the lock: the thread that prints may be the one that hangs.
    const std::unique_lock lock(front_mutex_, std::try_to_lock);
    if (!lock) {
      return;
    }
    try {
      print(cause.exit_code == kUsageErrorStatus ? "" : "paceline: the run failed: ");
    } catch (const std::exception& error) {  // such as a full disk
      fmt::print(stderr, "warning: {}\n", error.what());
    }
    if (!in_session_) {
      results_.reset();
    }
  }

 private:
  // Begins one repetition of the job. No rank is in a session at this time. On rank 0 this process
  // also collects the results.
  void begin() {
    if (results_) {
      results_->begin(*world_.store, job_.run);
    }
    store_.barrier(fmt::format("begin/{}", job_.run), world_.self.world);
  }

  rank::SessionHooks hooks() {
    return {.finished =
                [this] {
                  const std::lock_guard lock(front_mutex_);
                  results_->take(*world_.store);
                },
            .on_failure = [this](auto& cause) { fail(cause); }};
  }

  // Resolves the job on this rank and returns the one that rank 0 resolved and published, with the
  // network interface of this host.
  cases::JobSpec share(const ResolveJob& resolve) {
    const rank::HostCores cores = rank::host_cores(world_, store_);
    cases::JobSpec job = resolve(world_.hosts, cores.usable);
    if (world_.self.rank == 0) {
      results_ = make_front(job);
      job.is_only_case = job.experiment.cases.size() == 1;
      store_.set(rank::kJobKey, cases::to_text(job));
      return job;
    }
    cases::JobSpec shared = cases::job_spec_from(store_.wait(rank::kJobKey));
    shared.settings.interface = job.settings.interface;
    return shared;
  }

  // Records the case that the failure of a rank ends.  Launchers end all ranks once one has ended,
  // so that the other ranks wait here until rank 0 has recorded it.
  void record(const launch::FailureNotice& cause) {
    launch::KeyValueStore& store = *world_.store;
    if (!launch::answers(world_.store, kAnswerTimeout)) {
      return;
    }
    try {
      if (results_) {
        const std::unique_lock lock(front_mutex_, std::try_to_lock);
        if (lock) {
          results_->take(store);
          results_->add_failed(store, launch::failure_message(cause));
        }
        store.set(kFailureRecordedKey, "1");
      } else {
        launch::wait_for(store, kFailureRecordedKey, kRecordTimeout);
      }
    } catch (const std::exception& error) {  // such as a full disk
      fmt::print(stderr, "warning: the case that failed is not recorded: {}\n", error.what());
    }
  }

  // Records a failure that made the launcher stop all ranks.  Returns the sentence about the rank
  // that failed; empty if there is none or if it is this rank.
  std::string record_if_ended(int code) {
    if (code != kSignalStatus + SIGTERM || !(results_ || engines::is_killed_soon(world_))) {
      return "";
    }
    const launch::FailureNotice cause = engines::stop_cause_notice(world_);
    std::call_once(recorded_, [&] { record(cause); });
    return cause.rank == world_.self.rank
               ? ""
               : fmt::format("paceline: {}\n", launch::failure_message(cause));
  }

  void show(const std::string& ended) {
    const std::lock_guard lock(front_mutex_);
    print(ended);
  }

  void print(const std::string& ended) {
    if (results_ && !shown_) {
      shown_ = true;
      results_->show(ended);
    }
  }

  engines::RankContext context_;
  const engines::World& world_;
  const launch::StopSignals& stop_;
  launch::PrefixStore store_;
  cases::JobSpec job_;
  std::atomic<bool> shared_ = false;  // whether job_ has been received from rank 0
  std::atomic<bool> in_session_ = true;
  std::once_flag recorded_;
  std::mutex front_mutex_;  // guards the members below
  bool shown_ = false;
  std::unique_ptr<Front> results_;  // null except on rank 0
};

}  // namespace

std::vector<int> count_by_host(const std::vector<std::string>& hosts) {
  std::vector<std::string> seen;
  for (const std::string& host : hosts) {
    if (!seen.empty() && seen.back() == host) {
      continue;
    }
    if (std::ranges::count(seen, host) > 0) {
      throw UsageError(
          fmt::format("the ranks of host {} do not follow each other; start them host by host "
                      "(mpirun --map-by slot, srun --distribution=block)",
                      host));
    }
    seen.push_back(host);
  }
  return ranks_per_host<std::string>(hosts);
}

int run_launched_rank(const launch::Launch& launch, milliseconds timeout,
                      const ResolveJob& resolve) {
  const launch::StopSignals stop;
  std::optional<LaunchedRank> rank;
  std::atomic<LaunchedRank*> joined = nullptr;
  return engines::run_rank(
      launch, timeout,
      [&](const engines::RankContext& context) {
        joined = &rank.emplace(context, stop);
        return rank->run(resolve);
      },
      [&](launch::FailureNotice& cause) {
        if (LaunchedRank* const it = joined) {
          it->fail(cause);
        }
      });
}

}  // namespace paceline::front
