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

/// Returns the standard deviation of values; nothing for fewer than three of them.
std::optional<double> deviation_of(std::span<const double> values) {
  if (values.size() < stats::kFewestRuns) {
    return std::nullopt;
  }
  return stats::standard_error(values) * std::sqrt(static_cast<double>(values.size()));
}

/// Returns the scatter of a case's times from run to run: the standard deviation of the logarithm
/// of one pair's ratio.
std::optional<double> run_scatter_of(const DiffRow& row, bool interleaved, StepTime what) {
  if (interleaved) {
    return deviation_of(log_ratios(run_pairs_of(row.cases, what)));
  }
  const auto side = [what](const CaseRecords& one) {
    return deviation_of(log_medians(all_runs(steps_by_run(one, what))));
  };
  const auto base = side(row.cases.base);
  const auto test = side(row.cases.test);
  return base && test ? std::optional(std::hypot(*base, *test)) : std::nullopt;
}

}  // namespace

void set_power_analysis(Diff& diff, bool interleaved) {
  const DiffOptions& options = diff.options;
  diff.needed_runs = stats::fewest_runs(options.significance, interleaved);
  const double beyond = options.until ? 0 : options.threshold;
  diff.power_change = options.until ? options.until->within
                      : beyond > 0  ? 2 * beyond
                                    : kDefaultDetectableChange;
  const double log_beyond = std::log1p(diff.power_change) - std::log1p(beyond);
  for (const DiffRow& row : diff.rows) {
    if (const auto scatter = run_scatter_of(row, interleaved, options.step_time)) {
      diff.runs_for_power = std::max(diff.runs_for_power.value_or(0),
                                     stats::runs_for_power(*scatter, log_beyond, diff.rows.size(),
                                                           kPower, options.significance));
    }
  }
}

}  // namespace paceline::report
