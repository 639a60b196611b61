// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "paceline/report/diff_runs.h"
#include "paceline/report/diff_steps.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/permutation.h"

namespace paceline::report {
namespace {

constexpr double kPower = 0.9;

/// The scatter of a case's times from run to run, and the number of runs per side.
struct RunScatter {
  double log_sd = 0;  // standard deviation of the logarithm of one pair's ratio
  std::size_t runs = 0;
};

/// Returns the standard deviation of values; nothing for fewer than three of them.
std::optional<double> deviation_of(std::span<const double> values) {
  if (values.size() < stats::kFewestRuns) {
    return std::nullopt;
  }
  return stats::standard_error(values) * std::sqrt(static_cast<double>(values.size()));
}

std::optional<RunScatter> scatter_of(const DiffRow& row, bool interleaved, StepTime what) {
  if (interleaved) {
    const std::vector<double> ratios = log_ratios(pairs_of(row.cases, what));
    const auto deviation = deviation_of(ratios);
    return deviation ? std::optional(RunScatter{*deviation, ratios.size()}) : std::nullopt;
  }
  const auto side = [what](const CaseRecords& one) {
    return deviation_of(log_medians(all_runs(steps_by_run(one, what))));
  };
  const auto base = side(row.cases.base);
  const auto test = side(row.cases.test);
  if (!base || !test) {
    return std::nullopt;
  }
  return RunScatter{std::hypot(*base, *test), std::min(row.base_runs, row.test_runs)};
}

}  // namespace

void plan_runs(Diff& diff, bool interleaved) {
  const DiffOptions& options = diff.options;
  diff.needed_runs = stats::fewest_runs(options.significance, interleaved);
  const double beyond = options.until ? 0 : options.threshold;
  diff.power_change = options.until ? options.until->within
                      : beyond > 0  ? 2 * beyond
                                    : kUsualChange;
  const double log_beyond = std::log1p(beyond);
  bool all_found = !diff.rows.empty();
  for (const DiffRow& row : diff.rows) {
    const auto scatter = scatter_of(row, interleaved, options.step_time);
    if (!scatter) {
      all_found = false;
      continue;
    }
    diff.runs_for_power =
        std::max(diff.runs_for_power.value_or(0),
                 stats::runs_for_power(scatter->log_sd, std::log1p(diff.power_change) - log_beyond,
                                       diff.rows.size(), kPower, options.significance));
    const auto found = stats::change_for_power(scatter->log_sd, scatter->runs, diff.rows.size(),
                                               kPower, options.significance);
    all_found = all_found && found;
    diff.found_change =
        std::max(diff.found_change.value_or(0), (1 + beyond) * (1 + found.value_or(0)) - 1);
  }
  if (!all_found) {
    diff.found_change.reset();
  }
}

}  // namespace paceline::report
