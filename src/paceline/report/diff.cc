// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_runs.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/operations.h"
#include "paceline/report/text.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/permutation.h"
#include "paceline/stats/sequential.h"

namespace paceline::report {
namespace {

using records::RunRecord;

void subtract_one(std::optional<stats::Estimate>& ratio) {
  if (ratio) {
    ratio->value -= 1;
    if (ratio->interval) {
      ratio->interval->low -= 1;
      ratio->interval->high -= 1;
    }
  }
}

void estimate(DiffRow& row, bool interleaved, const DiffOptions& diff) {
  const auto base = all_runs(steps_by_run(row.cases.base, diff.step_time));
  const auto test = all_runs(steps_by_run(row.cases.test, diff.step_time));
  const stats::IntervalOptions options{.seed = diff.seed};
  row.base_runs = base.size();
  row.test_runs = test.size();
  row.base_s = stats::median_of_runs(base, options);
  row.test_s = stats::median_of_runs(test, options);
  if (row.not_comparable) {
    return;
  }
  if (diff.until) {
    return;
  }
  const RunPairs pairs = interleaved ? run_pairs_of(row.cases, diff.step_time) : RunPairs{};
  row.change = pairs.base.empty() ? stats::ratio_of_medians(test, base, options)
                                  : stats::paired_ratio(pairs.test, pairs.base, options);
  subtract_one(row.change);
}

// Returns why the two sides did not do the same training, judged by the first run with samples of
// each side. Returns nothing if their trainings are equal.
std::optional<std::string> unequal_training_reason(const CasePair& pair) {
  const auto base = pair.base.measured();
  const auto test = pair.test.measured();
  return base.empty() || test.empty() ? std::nullopt
                                      : unequal_training(*base.front(), *test.front());
}

// Sets the names of the rows, and their labels, which are unique within a table.
void name_rows(std::vector<DiffRow>& rows) {
  std::vector<TableGroup<DiffRow*>> tables;
  for (DiffRow& row : rows) {
    add_to_table(tables, row.configuration(), &row);
  }
  for (const auto& [model, batch_size, members] : tables) {
    std::vector<CaseRecords> bases;
    for (const DiffRow* row : members) {
      bases.push_back(row->cases.base);
    }
    const auto alone = [](const CaseRecords& one) { return unique_labels({one}).front(); };
    std::vector<std::string> labels = unique_labels(bases);
    const auto of_model = std::ranges::count(tables, model, &TableGroup<DiffRow*>::model);
    const std::string table = of_model == 1 ? model : fmt::format("{} batch {}", model, batch_size);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const CasePair& pair = members[i]->cases;
      if (const std::string test = alone(pair.test); test != alone(pair.base)) {
        labels[i] += " -> " + test;
      }
      members[i]->label = labels[i];
      members[i]->name = tables.size() == 1 ? labels[i] : fmt::format("{} {}", table, labels[i]);
    }
  }
}

// Whether there is at least one row, and `is_such` is true for the first record of each side of
// every row.
bool are_all(const std::vector<DiffRow>& rows, bool (*is_such)(const RunRecord& record)) {
  return !rows.empty() && std::ranges::all_of(rows, [&](const DiffRow& row) {
    return is_such(row.cases.base.first()) && is_such(row.cases.test.first());
  });
}

// Sets p and corrected_p by one permutation test, whose permutations all cases share.
void run_permutation_test(Diff& diff, bool interleaved) {
  const DiffOptions& options = diff.options;
  const std::vector<stats::LabeledRun> units =
      labeled_runs_of(diff.rows, interleaved, options.step_time);
  if (units.empty()) {
    return;
  }
  const auto tested =
      stats::permutation_test(units, {.most_arrangements = options.most_arrangements,
                                      .draws = options.draws,
                                      .seed = options.seed});
  diff.exact = tested.exact;
  diff.arrangements = tested.arrangements;
  for (std::size_t i = 0; i < diff.rows.size(); ++i) {
    if (diff.rows[i].change) {
      diff.rows[i].p = tested.p[i];
      diff.rows[i].corrected_p = tested.corrected_p[i];
    }
  }
}

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

// Sets change, p, corrected_p and pairs_to_go of each row from its pairs of runs.  The significance
// is divided equally among the rows, so that the chance of any false decision is at most the
// significance.  A row has an interval as soon as it has enough pairs for one.
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

}  // namespace

Diff diff_records(std::span<const RunRecord> base, std::span<const RunRecord> test,
                  const DiffOptions& options) {
  Pairing pairing = pair_cases(base, test);
  Diff diff;
  diff.options = options;
  diff.base_records = base;
  diff.test_records = test;
  diff.order = run_order_of(pairing.pairs);
  const bool interleaved = diff.order == RunOrder::kInterleaved;
  for (CasePair& pair : pairing.pairs) {
    DiffRow row;
    row.cases = std::move(pair);
    row.not_comparable = unequal_training_reason(row.cases);
    estimate(row, interleaved, options);
    diff.rows.push_back(std::move(row));
  }
  diff.wall_times = are_all(diff.rows, is_wall_time);
  diff.operations = are_all(diff.rows, is_operation);
  name_rows(diff.rows);
  if (diff.wall_times && diff.rows.size() == 1) {
    diff.rows[0].label = diff.rows[0].name = "wall time";
  }
  for (DiffRow& row : diff.rows) {
    if (diff.operations) {
      row.label = row.name = row.configuration().label;
    }
  }
  diff.only_base = std::move(pairing.only_base);
  diff.only_test = std::move(pairing.only_test);
  if (options.until) {
    estimate_sequentially(diff.rows, options);
  } else {
    run_permutation_test(diff, interleaved);
  }
  for (DiffRow& row : diff.rows) {
    row.verdict = verdict_of(row, interleaved, options);
  }
  set_power_analysis(diff, interleaved);
  diff.missing = missing_data_of(diff);
  diff.software = software_differences(base, test);
  diff.warnings = comparison_warnings(diff, base, test);
  return diff;
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
