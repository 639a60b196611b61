// SPDX-License-Identifier: Apache-2.0
#include "paceline/front/run_job.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/clock.h"
#include "paceline/base/exit_status.h"
#include "paceline/base/text.h"
#include "paceline/case/outside.h"
#include "paceline/front/front.h"
#include "paceline/launch/job_launch.h"
#include "paceline/rank/case_record.h"
#include "paceline/rank/estimate.h"
#include "paceline/rank/known_times.h"
#include "paceline/rank/rank.h"

namespace paceline::front {
namespace {

/// Keys of the job's store whose values are copied from the first repetition to later ones.
constexpr std::array<const char*, 2> kCarriedKeys{rank::kEstimateKey, rank::kTimesKey};
using Carried = std::map<std::string, std::string>;

using Variables = std::map<std::string, std::string>;

// Returns the environment variables that must be set when Paceline's own ranks start, since
// libraries read many of them only once. An external program gets its variables separately.
Variables variables_of(const cases::Case& c) {
  return cases::runs_external_program(c) ? Variables{} : c.env;
}

/// Cases that the same rank processes can run, because they need the same environment variables.
struct LaunchGroup {
  cases::JobSpec job;
  Variables variables;
  Carried carried{};
};

std::vector<LaunchGroup> launch_groups_of(const cases::JobSpec& job) {
  std::vector<LaunchGroup> groups;
  for (const cases::Case& c : job.experiment.cases) {
    const Variables variables = variables_of(c);
    auto group = std::ranges::find(groups, variables, &LaunchGroup::variables);
    if (group == groups.end()) {
      group = groups.insert(group, {.job = job, .variables = variables});
      group->job.experiment.cases.clear();
    }
    group->job.experiment.cases.push_back(c);
  }
  return groups;
}

/// What all launch groups of a sweep share while they run.
struct JobContext {
  const launch::JobLaunch& launch;
  Results& results;
};

struct LaunchEnd {
  launch::Outcome outcome;
  std::string last_case{};    // key of the case that began last
  std::string failed_case{};  // key of the case whose failure was recorded
};

// Whether a case that failed in this way may succeed if it is run again.
bool may_be_repeated(const launch::Outcome& outcome) {
  return outcome.exit_code == kWorldErrorStatus && outcome.stop_signal == 0;
}

// Keeps the first `ranks` ranks.
void shrink_to(int ranks, std::vector<launch::HostRanks>& hosts) {
  for (launch::HostRanks& host : hosts) {
    host.ranks = std::min(host.ranks, ranks);
    ranks -= host.ranks;
  }
  std::erase_if(hosts, [](const launch::HostRanks& host) { return host.ranks == 0; });
}

LaunchEnd run_once(launch::JobLaunch launch, Front& front, LaunchGroup& group) {
  LaunchEnd ended;
  shrink_to(cases::ranks_of(group.job), launch.hosts);
  launch.rank_variables = group.variables;
  launch::KeyValueStore* served = nullptr;
  launch.before = [&](launch::KeyValueStore& store) {
    served = &store;
    front.begin(store, group.job.run);
    store.set(rank::kJobKey, cases::to_text(group.job));
    for (const auto& [key, value] : group.carried) {
      store.set(key, value);
    }
  };
  launch.supervise.on_tick = [&] { front.take(*served); };
  launch.after = [&](launch::KeyValueStore& store, const launch::Outcome& outcome) {
    front.take(store);
    ended.last_case = store.get(rank::kCurrentCaseKey).value_or("");
    if (may_be_repeated(outcome)) {
      ended.failed_case = front.add_failed(store, outcome.message).value_or("");
    }
    for (const char* key : kCarriedKeys) {
      if (auto value = store.get(key)) {
        group.carried[key] = *std::move(value);
      }
    }
  };
  ended.outcome = launch::launch_job(launch);
  return ended;
}

// Removes the cases that need not run again: those that have a record, and those that have failed
// as often as --retries allows.
void keep_unfinished(const Results::CaseOutcomes& tries, cases::JobSpec& job) {
  std::erase_if(job.experiment.cases, [&](const cases::Case& c) {
    const std::string key = c.key();
    const auto failed = tries.failed.find(key);
    return (!c.discard && tries.done.contains(key)) ||
           (failed != tries.failed.end() && failed->second > job.settings.retries);
  });
}

// Returns the text that says what happens after a failure: to the case that failed, or, if
// `between`, to the remaining cases after a failure between two cases.
std::string outcome_text(bool between, int failures, int retries, bool more) {
  if (between) {
    return more ? "no case was under way; the others go on" : "no case was under way";
  }
  if (failures <= retries) {
    return "that case is tried again";
  }
  return more ? "that case is recorded as failed; the others go on"
              : "that case is recorded as failed";
}

// Returns whether cases remain to be run: after a failure every case that is not discarded,
// otherwise only the cases that have failed before.
bool has_remaining_cases(const cases::JobSpec& job, const Results::CaseOutcomes& tries,
                         bool after_failure) {
  return std::ranges::any_of(job.experiment.cases, [&](const cases::Case& c) {
    return after_failure ? !c.discard : tries.failed.contains(c.key());
  });
}

// Runs one repetition of a group.  A case that failed is tried again as often as --retries says;
// then the remaining cases run.  They also run after a failure between two cases, if a case was
// finished since the last such failure.
launch::Outcome run_repetition(const JobContext& context, LaunchGroup& group) {
  const int retries = group.job.settings.retries;
  LaunchGroup left = group;
  std::size_t done_before = 0;  // finished cases at the last failure between two cases
  for (;;) {
    const LaunchEnd ended = run_once(context.launch, context.results, left);
    group.carried = left.carried;
    const launch::Outcome& outcome = ended.outcome;
    const bool failed = may_be_repeated(outcome);
    Results::CaseOutcomes tries = context.results.tries(group.job.run);
    const std::size_t done = tries.done.size();
    const bool between = failed && tries.done.contains(ended.last_case);
    if ((retries == 0 && group.job.is_only_case) ||
        (between  ? done == std::exchange(done_before, done)
         : failed ? ended.failed_case.empty()
                  : outcome.exit_code != 0 || outcome.stop_signal != 0)) {
      return outcome;
    }
    keep_unfinished(tries, left.job);
    const bool more = has_remaining_cases(left.job, tries, failed);
    if (failed) {
      const int failures = tries.failed[ended.failed_case];
      fmt::print(stderr, "paceline: {}\n{}\n", outcome.message,
                 outcome_text(between, failures, retries, more));
    }
    if (!more) {
      return {};
    }
  }
}

// Runs every repetition of every group.  The groups run alternately, and each comes first equally
// often.
launch::Outcome run_all(cases::JobSpec& job, const JobContext& context) {
  std::vector<LaunchGroup> groups = launch_groups_of(job);
  launch::Outcome outcome;
  for (; job.run < job.experiment.runs; ++job.run) {
    for (LaunchGroup& group : groups) {
      group.job.run = job.run;
      outcome = run_repetition(context, group);
      if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
        return outcome;
      }
    }
    std::ranges::rotate(groups, groups.begin() + (groups.empty() ? 0 : 1));
  }
  return outcome;
}

// Repeats single cases, the one with the widest interval first, until each interval is narrow
// enough.
launch::Outcome narrow_all(const cases::JobSpec& job, const JobContext& context,
                           const NarrowingOptions& wanted) {
  std::vector<LaunchGroup> groups = launch_groups_of(job);
  const Stopwatch watch;
  for (;;) {
    const auto widths = widths_of(context.results.records_of_run());
    const CaseWidth* const next = widest(widths, wanted);
    const bool is_spent = wanted.time && watch.elapsed() >= *wanted.time;
    fmt::print(stderr, "{}{}\n", interval_width_text(widths, wanted),
               next != nullptr && !is_spent ? fmt::format("; {} runs again", next->name) : "");
    if (next == nullptr || is_spent) {
      return {};
    }
    for (LaunchGroup group : groups) {
      group.job.run = next->next_run;
      group.job.experiment.runs = next->next_run + 1;
      std::erase_if(group.job.experiment.cases,
                    [&](const cases::Case& c) { return c.discard || c.key() != next->key; });
      if (group.job.experiment.cases.empty()) {
        continue;
      }
      launch::Outcome outcome = run_repetition(context, group);
      if (outcome.exit_code != 0 || outcome.stop_signal != 0) {
        return outcome;
      }
    }
  }
}

// Returns the message of a run that ended early; empty if it did not.
std::string early_end_message(const launch::Outcome& outcome) {
  if (outcome.stop_signal != 0 && outcome.message.empty()) {
    return ended_by_signal_text(outcome.stop_signal);
  }
  return outcome.message.empty() ? "" : fmt::format("paceline: {}\n", outcome.message);
}

// Prints the results of a run with this outcome.  Returns the exit code.
int finish(const launch::Outcome& outcome, Front& front) {
  if (!outcome.message.empty() && !front.has_samples()) {
    fmt::print(stderr, "paceline: {}\n", outcome.message);
    if (const std::string path = front.failures_in(); !path.empty()) {
      fmt::print(stderr, "records: {}\n", path);
    }
  } else {
    front.show(early_end_message(outcome));
  }
  if (outcome.stop_signal != 0) {
    return kSignalStatus + outcome.stop_signal;
  }
  return outcome.exit_code != 0 ? outcome.exit_code : front.status();
}

}  // namespace

int run_job(cases::JobSpec job, const launch::JobLaunch& launch, Results& results,
            const std::optional<NarrowingOptions>& narrowing) {
  if (!narrowing && results.print_if_complete()) {
    results.show("");
    return results.status();
  }
  job.is_only_case = job.experiment.cases.size() == 1;
  launch::Outcome outcome;
  try {
    const JobContext context{launch, results};
    outcome = run_all(job, context);
    if (narrowing && outcome.exit_code == 0 && outcome.stop_signal == 0) {
      outcome = narrow_all(job, context, *narrowing);
    }
  } catch (const WorldError& error) {  // such as a full disk
    outcome = {.exit_code = kWorldErrorStatus, .message = error.what()};
  }
  return finish(outcome, results);
}

int run_operations(const cases::JobSpec& job, const launch::JobLaunch& launch,
                   OperationResults& results) {
  LaunchGroup group{.job = job, .variables = {}};
  return finish(run_once(launch, results, group).outcome, results);
}

}  // namespace paceline::front
