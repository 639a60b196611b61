// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_runs.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/text.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/sequential.h"

namespace paceline::report {
namespace {

stats::SequentialGoal goal_of(const DiffOptions& options, std::size_t cases) {
  return {.threshold = options.threshold,
          .low = std::log1p(-options.until->within),
          .high = std::log1p(options.until->within),
          .significance = options.significance / static_cast<double>(cases)};
}

bool is_decided(const DiffRow& row) {
  return is_change(row.verdict) || row.verdict == Verdict::kUnchanged ||
         row.verdict == Verdict::kNotComparable || row.verdict == Verdict::kInvalid;
}

// Returns the row that needs the most further pairs of runs. An unknown number counts as infinite.
const DiffRow& slowest_row(const Diff& diff) {
  const auto left = [](const DiffRow& row) {
    return is_decided(row) ? 0 : row.pairs_to_go.value_or(std::numeric_limits<std::size_t>::max());
  };
  return *std::ranges::max_element(diff.rows, {}, left);
}

}  // namespace

void estimate_sequentially(std::vector<DiffRow>& rows, const DiffOptions& options) {
  if (rows.empty()) {
    return;
  }
  const stats::SequentialGoal goal = goal_of(options, rows.size());
  for (DiffRow& row : rows) {
    const std::vector<double> ratios = log_ratios(run_pairs_of(row.cases, options.step_time));
    if (row.not_comparable || ratios.empty()) {
      continue;
    }
    row.change = {.value = std::expm1(stats::mean(ratios)),
                  .basis = stats::IntervalBasis::kRuns,
                  .runs = ratios.size()};
    if (const auto interval = stats::sequential_interval(ratios, goal.significance);
        interval && std::isfinite(interval->low)) {
      row.change->interval = {std::expm1(interval->low), std::expm1(interval->high)};
    }
    const double evidence = stats::sequential_evidence(ratios).value_or(0);
    row.p = std::min(1.0, 1 / evidence);
    row.corrected_p = std::min(1.0, static_cast<double>(rows.size()) * *row.p);
    row.pairs_to_go = stats::remaining_sequential_differences(ratios, goal);
  }
}

bool is_decided(const Diff& diff) {
  return std::ranges::all_of(diff.rows, [](const DiffRow& row) { return is_decided(row); });
}

std::string sequential_progress_text(const Diff& diff) {
  if (diff.rows.empty()) {
    return "no case of one side is in the other";
  }
  const DiffRow& row = slowest_row(diff);
  const std::size_t pairs = row.change ? row.change->runs : 0;
  std::string text = fmt::format("after {}: ", counted(std::int64_t(pairs), "pair"));
  if (diff.rows.size() > 1) {
    const auto decided =
        std::ranges::count_if(diff.rows, [](const DiffRow& one) { return is_decided(one); });
    text += fmt::format("{} of {} decided; {}: ", decided,
                        counted(std::ssize(diff.rows), diff.operations ? "range" : "case"),
                        printable(row.name));
  }
  if (!row.change) {
    return text + std::string(name_of(row.verdict));
  }
  text += fmt::format("{:+.1f} %", 100 * row.change->value);
  if (row.change->interval) {
    text += fmt::format(" [{:+.1f}, {:+.1f}]", 100 * row.change->interval->low,
                        100 * row.change->interval->high);
  }
  if (is_decided(row)) {
    return text + fmt::format(": {}", name_of(row.verdict));
  }
  if (!row.pairs_to_go) {
    return text + ", too early to say how many more";
  }
  return text + ", about " + counted(std::int64_t(*row.pairs_to_go), "more pair");
}

}  // namespace paceline::report
