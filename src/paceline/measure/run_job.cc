// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/run_job.h"

#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "paceline/launch/job_launch.h"
#include "paceline/measure/estimate.h"
#include "paceline/measure/job_hosts.h"
#include "paceline/measure/known_times.h"
#include "paceline/measure/rank.h"
#include "paceline/measure/results.h"

namespace paceline::measure {
namespace {

/// Keys of the job's store that later repetitions take over from the first.
constexpr std::array<const char*, 2> kCarriedKeys{kEstimateKey, kTimesKey};
using Carried = std::map<std::string, std::string>;

launch::Outcome run_repetition(const experiment::JobSpec& job,
                               const std::optional<cluster::Cluster>& cluster,
                               Carried& carried,
                               Results& results) {
  launch::JobLaunch launch =
      launch_of_ranks(experiment::largest_world(job.experiment),
                      cluster,
                      access_of(job.settings),
                      job.settings.timeout);
  for (const records::Configuration& c : job.experiment.cases) {
    serve_by_mpirun(c.engine, launch);
  }
  launch.supervise.on_tick = [&] { results.show_rows(job.experiment); };
  launch.before = [&](launch::KeyValueStore& store) {
    store.set(kJobKey, experiment::to_text(job));
    for (const auto& [key, value] : carried) {
      store.set(key, value);
    }
  };
  launch.after = [&carried](launch::KeyValueStore& store) {
    for (const char* key : kCarriedKeys) {
      if (auto value = store.get(key)) {
        carried[key] = *std::move(value);
      }
    }
  };
  return launch::launch_job(launch);
}

// What to print of a run that ended early; empty where it did not.
std::string ending_of(const launch::Outcome& outcome) {
  if (outcome.stop_signal != 0 && outcome.message.empty()) {
    return ended_by(outcome.stop_signal);
  }
  return outcome.message.empty()
             ? ""
             : fmt::format("paceline: {}\n", outcome.message);
}

}  // namespace

int run_job(experiment::JobSpec job,
            const std::optional<cluster::Cluster>& cluster) {
  Results results(job.settings);
  if (results.print_if_complete(job.experiment)) {
    results.show(job.experiment);
    return 0;
  }
  launch::Outcome outcome;
  Carried carried;
  for (; job.run < job.experiment.runs; ++job.run) {
    outcome = run_repetition(job, cluster, carried, results);
    if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
      break;
    }
  }
  if (!outcome.message.empty() && results.tally(job.experiment).finished == 0) {
    fmt::print(stderr, "paceline: {}\n", outcome.message);
  } else {
    results.show(job.experiment, ending_of(outcome));
  }
  return outcome.stop_signal != 0 ? 128 + outcome.stop_signal
                                  : outcome.exit_code;
}

}  // namespace paceline::measure
