// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/rank.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/engines/run_rank.h"
#include "paceline/launch/stop_signals.h"
#include "paceline/measure/comm_session.h"
#include "paceline/measure/host_cores.h"
#include "paceline/measure/results.h"
#include "paceline/measure/session.h"

namespace paceline::measure {
namespace {

using std::chrono::milliseconds;

/// How many ranks each host has, hosts in the order of their first rank.
/// Throws UsageError where a host's ranks do not follow each other, because
/// cases take ranks 0 .. k-1 and mean whole hosts.
std::vector<int> count_by_host(const std::vector<std::string>& hosts) {
  std::vector<std::string> seen;
  for (const std::string& host : hosts) {
    if (!seen.empty() && seen.back() == host) {
      continue;
    }
    if (std::ranges::count(seen, host) > 0) {
      throw UsageError(
          fmt::format("the ranks of host {} do not follow each other; start "
                      "them host by host (mpirun --map-by slot, srun "
                      "--distribution=block)",
                      host));
    }
    seen.push_back(host);
  }
  return engines::ranks_per_host(hosts);
}

/// All repetitions of a job on a rank that another launcher started.
class LaunchedRank {
 public:
  LaunchedRank(const engines::RankContext& context,
               const launch::StopSignals& stop,
               milliseconds timeout)
      : context_(context),
        world_(context.world),
        stop_(stop),
        timeout_(timeout),
        store_(world_.store, world_.self.rank, "", [this] {
          context_.heartbeat.beat(-1, "waiting for the other ranks");
        }) {}

  int run(const ResolveJob& resolve) {
    experiment::JobSpec job = share(resolve);
    int code = 0;
    try {
      for (; job.run < job.experiment.runs && code == 0; ++job.run) {
        code = run_session(context_,
                           job,
                           {.recorded =
                                [&] {
                                  if (results_) {
                                    results_->show_rows(job.experiment);
                                  }
                                },
                            .stop_signal = [this] { return stop_.signal(); },
                            .goes_on_without_refused = true});
      }
    } catch (...) {
      show(job, "");
      throw;
    }
    show(job, stop_.requested() ? ended_by(stop_.signal()) : "");
    return code == 0 && results_ ? results_->status_of_failed(job.experiment)
                                 : code;
  }

 private:
  // Rank 0's job, with the network interface of this host.
  experiment::JobSpec share(const ResolveJob& resolve) {
    const HostCores cores = host_cores(world_, store_, timeout_);
    experiment::JobSpec job =
        resolve(count_by_host(world_.hosts), cores.usable);
    if (world_.self.rank == 0) {
      results_.emplace(job.settings);
      results_->print_if_complete(job.experiment);
      store_.set(kJobKey, experiment::to_text(job));
      return job;
    }
    experiment::JobSpec shared =
        experiment::job_spec_from(store_.wait(kJobKey, timeout_));
    shared.settings.interface = job.settings.interface;
    return shared;
  }

  void show(const experiment::JobSpec& job, const std::string& ended) {
    if (results_) {
      results_->show(job.experiment, ended);
    }
  }

  engines::RankContext context_;
  const engines::World& world_;
  const launch::StopSignals& stop_;
  milliseconds timeout_;
  launch::PrefixStore store_;
  std::optional<Results> results_;  // on rank 0
};

}  // namespace

std::vector<std::string> rank_command(double timeout,
                                      const std::string& interface) {
  std::vector<std::string> words{
      "paceline", kRank, "--timeout", fmt::format("{}", timeout)};
  if (!interface.empty()) {
    words.insert(words.end(), {"--interface", interface});
  }
  return words;
}

int run_rank(milliseconds timeout, const std::string& interface) {
  const launch::Launch launch = launch::detect_launch("");
  if (launch.self.launcher != "paceline") {
    throw UsageError(fmt::format(
        "{} is how paceline run and paceline comm start their ranks", kRank));
  }
  const launch::StopSignals stop;
  return engines::run_rank(
      launch, timeout, [&](const engines::RankContext& context) {
        const auto stop_signal = [&stop] { return stop.signal(); };
        if (const auto comm = context.world.store->get(kCommJobKey)) {
          CommSessionOptions options = comm_session_options_from(*comm);
          options.setting.interface = interface;
          options.timeout = timeout;
          options.stop_signal = stop_signal;
          CommFindings findings(context.world.store);
          return run_comm_session(
              context.world, context.heartbeat, options, findings);
        }
        launch::PrefixStore store(
            context.world.store, context.world.self.rank, "");
        experiment::JobSpec job =
            experiment::job_spec_from(store.wait(kJobKey, timeout));
        job.settings.interface = interface;
        return run_session(context, job, {.stop_signal = stop_signal});
      });
}

int run_launched_rank(const launch::Launch& launch,
                      milliseconds timeout,
                      const ResolveJob& resolve) {
  const launch::StopSignals stop;
  return engines::run_rank(
      launch, timeout, [&](const engines::RankContext& context) {
        return LaunchedRank(context, stop, timeout).run(resolve);
      });
}

}  // namespace paceline::measure
