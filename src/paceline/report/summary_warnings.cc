// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/summary.h"
#include "paceline/stats/bootstrap.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/steady.h"

namespace paceline::report {
namespace {

using records::Warning;

/// With fewer steps, the 95th percentile lies between the two slowest steps.
constexpr std::size_t kFewSteps = 21;

// Returns a warning if at least half of the runs are not steady from their first step.  Fewer runs
// give no warning, because one of fifteen series of steady noise looks unsteady at first
// (docs/measuring.md).
std::optional<Warning> unsteady_warning(const RunSeconds& runs) {
  std::size_t late = 0, latest = 0;
  std::size_t steps = 0;  // number of steps of the run that becomes steady last
  for (const std::vector<double>& run : runs) {
    const std::size_t first = stats::first_steady_step(run).value_or(run.size());
    late += first > 0 ? 1 : 0;
    if (first > latest) {
      latest = first;
      steps = run.size();
    }
  }
  if (late == 0 || 2 * late < runs.size()) {
    return std::nullopt;
  }
  const bool never = latest == steps;
  return Warning{
      "not-steady",
      fmt::format("{} of {} not steady at first: one {}", late, counted(std::ssize(runs), "run"),
                  never ? fmt::format("never settles in {} steps", steps)
                        : fmt::format("settles after {} of {} steps", latest, steps)),
      "the figures mix different states",
      never ? "look for what else the machine does, or measure longer (--steps)"
            : "warm up longer (--warmup)"};
}

// Returns a warning only for fewer than kFewestRuns runs.  With more runs, each run is one sample
// of the interval, so that correlated steps do not matter.
std::optional<Warning> correlated(const RunSeconds& runs) {
  const auto found = std::ranges::count_if(runs, [](const auto& run) {
    return run.size() >= stats::kFewestSteps && stats::is_interval_too_narrow(run);
  });
  if (found == 0 || runs.size() >= stats::kFewestRuns) {
    return std::nullopt;
  }
  return Warning{
      "correlated-steps",
      fmt::format("in {} of {} each step resembles the one before", found,
                  counted(std::ssize(runs), "run")),
      "so few of such steps say less than their number, and the interval may be too narrow",
      "repeat the run (--runs 3 or more), or measure 300 steps (--steps)"};
}

}  // namespace

std::vector<Warning> sample_warnings(const CaseSummary& row, const RunSeconds& runs) {
  std::vector<Warning> all;
  if (row.link_check && !row.link_check->valid()) {
    all.push_back(slower_than_link(*row.link_check));
  }
  // Number and steadiness of simulated steps follow from the plan and deserve no warning.
  const bool simulated = row.source == records::Source::kPredicted;
  for (const auto& depends_on_steps : {unsteady_warning(runs), correlated(runs)}) {
    if (depends_on_steps && !simulated) {
      all.push_back(*depends_on_steps);
    }
  }
  if (!simulated && row.step_s && row.step_s->steps < kFewSteps) {
    all.push_back({"few-samples", steps_text(row),
                   fmt::format("p95 lies between the two slowest of {}{}",
                               row.configuration.steps_per_line == 1 ? "them" : "these lines",
                               row.exposed_s && !row.exposed_s->interval
                                   ? ", and exposed communication has no interval"
                                   : ""),
                   "measure more (--steps, --runs)"});
  }
  if (row.source == records::Source::kImported) {
    for (Warning& warning : all) {
      warning.advice = "import more of its runs, or longer ones";
    }
  }
  if (row.wire_bytes_per_step && row.planned_wire_bytes_per_step &&
      row.wire_bytes_per_step != row.planned_wire_bytes_per_step) {
    all.push_back({"bytes-differ-from-plan",
                   fmt::format("{} B a step, planned {} B", *row.wire_bytes_per_step,
                               *row.planned_wire_bytes_per_step),
                   "the engine was given other bytes than the plan says",
                   "predictions of this case are off by as much"});
  }
  return all;
}

std::string steps_text(const CaseSummary& row) {
  const std::string steps = counted(static_cast<std::int64_t>(row.measured_steps()), "step");
  return row.configuration.steps_per_line == 1
             ? steps
             : fmt::format("{} in {}", steps,
                           counted(static_cast<std::int64_t>(row.step_s->steps), "line"));
}

records::Warning slower_than_link(const records::LinkCheck& check) {
  const auto share = check.overdue_share();
  return {"slower-than-link",
          fmt::format(
              "{} of {} operations ended after the emulated link would have delivered them, one by "
              "{:.3f} ms{}",
              check.late, check.operations, static_cast<double>(-check.slack_ns) * 1e-6,
              share ? fmt::format("; the steps are too long by up to {:.1f} % for it", *share * 100)
                    : ""),
          "the case is INVALID: its times are those of this machine, not of the link",
          "slow both down with --stretch, take fewer ranks or a slower --link"};
}

}  // namespace paceline::report
