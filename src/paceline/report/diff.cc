// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/report/diff_runs.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/operations.h"
#include "paceline/report/wall_time.h"
#include "paceline/stats/permutation.h"

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

}  // namespace paceline::report
