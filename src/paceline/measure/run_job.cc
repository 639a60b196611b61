// SPDX-License-Identifier: Apache-2.0
#include "paceline/measure/run_job.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/experiment/outside.h"
#include "paceline/launch/job_launch.h"
#include "paceline/measure/case_record.h"
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

using Variables = std::map<std::string, std::string>;

// The variables with which Paceline's own ranks must start: libraries read many
// of them only once.  A program outside gets its own.
Variables variables_of(const records::Configuration& c) {
  return experiment::is_outside(c) ? Variables{} : c.env;
}

/// Cases whose ranks can be the same processes.
struct Part {
  experiment::JobSpec job;
  Variables variables;
  Carried carried{};
};

std::vector<Part> parts_of(const experiment::JobSpec& job) {
  std::vector<Part> parts;
  for (const records::Configuration& c : job.experiment.cases) {
    const Variables variables = variables_of(c);
    auto part = std::ranges::find(parts, variables, &Part::variables);
    if (part == parts.end()) {
      part = parts.insert(part, {.job = job, .variables = variables});
      part->job.experiment.cases.clear();
    }
    part->job.experiment.cases.push_back(c);
  }
  return parts;
}

/// What all parts have in common.
struct Whole {
  const experiment::Experiment& experiment;
  const std::optional<cluster::Cluster>& cluster;
  Results& results;
};

struct Ended {
  launch::Outcome outcome;
  std::string last_case{};  // key of the one that was begun last
  std::vector<records::RankSamples> so_far{};  // of a case that failed
};

Ended run_once(const Whole& whole, Part& part) {
  Ended ended;
  launch::JobLaunch launch =
      launch_of_ranks(experiment::most_processes(part.job.experiment),
                      whole.cluster,
                      access_of(part.job.settings),
                      part.job.settings.timeout);
  for (const records::Configuration& c : part.job.experiment.cases) {
    if (!experiment::is_outside(c)) {
      for (const std::string& engine : c.engines()) {
        serve_by_mpirun(engine, launch);
      }
    }
  }
  launch.rank_variables = part.variables;
  launch.supervise.on_tick = [&] { whole.results.show_rows(whole.experiment); };
  launch.before = [&](launch::KeyValueStore& store) {
    store.set(kJobKey, experiment::to_text(part.job));
    for (const auto& [key, value] : part.carried) {
      store.set(key, value);
    }
  };
  launch.after = [&](launch::KeyValueStore& store) {
    ended.last_case = store.get(kCurrentCaseKey).value_or("");
    ended.so_far =
        gather_so_far(store, experiment::most_processes(part.job.experiment));
    for (const char* key : kCarriedKeys) {
      if (auto value = store.get(key)) {
        part.carried[key] = *std::move(value);
      }
    }
  };
  ended.outcome = launch::launch_job(launch);
  return ended;
}

constexpr int kFailedExit = 3;

// Of a failure that trying again may mend.
bool may_be_repeated(const launch::Outcome& outcome) {
  return outcome.exit_code == kFailedExit && outcome.stop_signal == 0;
}

// The cases that are tried again; the others have a record or failed for good.
void keep_unfinished(const std::map<std::string, int>& failed_tries,
                     experiment::JobSpec& job) {
  std::erase_if(job.experiment.cases, [&](const records::Configuration& c) {
    const auto tries = failed_tries.find(c.key());
    return tries != failed_tries.end() && tries->second > job.settings.retries;
  });
}

// Records the failure of the case that was under way; false where none was.
bool record_failure(const experiment::JobSpec& job,
                    Ended& ended,
                    const Results& results) {
  const auto failed = std::ranges::find(
      job.experiment.cases, ended.last_case, &records::Configuration::key);
  if (failed == job.experiment.cases.end()) {
    return false;
  }
  results.add_failed(job.experiment,
                     *failed,
                     job.run,
                     ended.outcome.message,
                     std::move(ended.so_far));
  return true;
}

// One repetition of a part, with --retries those of its cases that failed
// again.
launch::Outcome run_repetition(const Whole& whole, Part& part) {
  if (part.job.settings.retries == 0) {
    Ended ended = run_once(whole, part);
    if (may_be_repeated(ended.outcome) && !ended.so_far.empty()) {
      record_failure(part.job, ended, whole.results);
    }
    return ended.outcome;
  }
  Part left = part;
  for (;;) {
    Ended ended = run_once(whole, left);
    part.carried = left.carried;
    const bool failed = may_be_repeated(ended.outcome);
    if (failed
            ? !record_failure(left.job, ended, whole.results)
            : ended.outcome.exit_code != 0 || ended.outcome.stop_signal != 0) {
      return ended.outcome;
    }
    const auto tries = whole.results.failed_tries(left.job.run);
    const std::size_t before = left.job.experiment.cases.size();
    keep_unfinished(tries, left.job);
    const bool again = std::ranges::any_of(
        left.job.experiment.cases, [&](const records::Configuration& c) {
          return tries.contains(c.key());
        });
    if (!again && !(failed && !left.job.experiment.cases.empty())) {
      return {};
    }
    if (failed) {
      fmt::print(stderr,
                 "paceline: {}\n{}\n",
                 ended.outcome.message,
                 left.job.experiment.cases.size() < before
                     ? "that case is recorded as failed; the others go on"
                     : "that case is tried again");
    }
    left.job.settings.resume = true;  // what has its record is done
  }
}

// Every repetition of every part, the parts in turn and each of them first as
// often as the others.
launch::Outcome run_all(experiment::JobSpec& job, const Whole& whole) {
  std::vector<Part> parts = parts_of(job);
  launch::Outcome outcome;
  for (; job.run < job.experiment.runs; ++job.run) {
    for (Part& part : parts) {
      part.job.run = job.run;
      outcome = run_repetition(whole, part);
      if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
        return outcome;
      }
    }
    std::ranges::rotate(parts, parts.begin() + (parts.empty() ? 0 : 1));
  }
  return outcome;
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
  try {
    outcome = run_all(job, {job.experiment, cluster, results});
  } catch (const WorldError& error) {  // a full disk
    outcome = {.exit_code = kFailedExit, .message = error.what()};
  }
  if (!outcome.message.empty() && results.tally(job.experiment).finished == 0) {
    fmt::print(stderr, "paceline: {}\n", outcome.message);
    if (results.count_failed(job.experiment) > 0) {
      fmt::print(stderr, "records: {}\n", job.settings.records);
    }
  } else {
    results.show(job.experiment, ending_of(outcome));
  }
  if (outcome.stop_signal != 0) {
    return 128 + outcome.stop_signal;
  }
  if (outcome.exit_code != 0) {
    return outcome.exit_code;
  }
  const std::int64_t failed = results.count_failed(job.experiment);
  if (failed > 0) {
    fmt::print(stderr,
               "paceline: {} failed; --resume tries {} again\n",
               counted(failed, "case"),
               failed == 1 ? "it" : "them");
  }
  return failed > 0 ? kFailedCasesStatus : 0;
}

}  // namespace paceline::measure
