// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/report/diff_environment.h"
#include "paceline/report/diff_runs.h"
#include "paceline/report/equal_training.h"
#include "paceline/report/wall_time.h"
#include "paceline/stats/permutation.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RunRecord;

constexpr double kPower = 0.9;
constexpr double kUsualChange = 0.01;

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
  const RunPairs pairs =
      interleaved ? pairs_of(row.cases, diff.step_time) : RunPairs{};
  row.change = pairs.base.empty()
                   ? stats::ratio_of_medians(test, base, options)
                   : stats::paired_ratio(pairs.test, pairs.base, options);
  subtract_one(row.change);
}

// As of the first runs of both that have samples.
std::optional<std::string> why_unequal(const CasePair& pair) {
  const auto base = pair.base.measured();
  const auto test = pair.test.measured();
  return base.empty() || test.empty()
             ? std::nullopt
             : unequal_training(*base.front(), *test.front());
}

// Whether any outcome of the case's runs could be significant.
bool can_prove(const DiffRow& row,
               bool interleaved,
               const DiffOptions& options) {
  const std::size_t runs =
      interleaved ? pairs_of(row.cases, options.step_time).base.size()
                  : std::min(row.base_runs, row.test_runs);
  return stats::smallest_p(runs, interleaved) < options.significance;
}

Verdict verdict_of(const DiffRow& row,
                   bool interleaved,
                   const DiffOptions& options) {
  if (row.not_comparable) {
    return Verdict::kNotComparable;
  }
  if (!row.change) {
    return Verdict::kNoSamples;
  }
  const bool significant = *row.corrected_p < options.significance;
  if (!significant && !can_prove(row, interleaved, options)) {
    return Verdict::kTooFewRuns;
  }
  if (significant && row.change->interval &&
      row.change->interval->low > options.threshold) {
    return Verdict::kSlower;
  }
  if (significant && row.change->interval &&
      row.change->interval->high < -options.threshold) {
    return Verdict::kFaster;
  }
  return Verdict::kUnproven;
}

// Standard deviation of the logarithm of one pair's ratio.
std::optional<double> log_scatter(const DiffRow& row,
                                  bool interleaved,
                                  StepTime what) {
  const auto logs = [](const std::vector<std::vector<double>>& runs) {
    std::vector<double> values;
    for (const auto& steps : runs) {
      values.push_back(std::log(stats::median(steps)));
    }
    return values;
  };
  const auto variance = [](const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    double mean = 0;
    double sum = 0;
    for (const double value : values) {
      mean += value / n;
    }
    for (const double value : values) {
      sum += (value - mean) * (value - mean);
    }
    return sum / (n - 1);
  };
  if (interleaved) {
    const RunPairs pairs = pairs_of(row.cases, what);
    std::vector<double> ratios = logs(pairs.test);
    const std::vector<double> base = logs(pairs.base);
    std::transform(ratios.begin(),
                   ratios.end(),
                   base.begin(),
                   ratios.begin(),
                   std::minus<>());
    return ratios.size() < stats::kFewestRuns
               ? std::nullopt
               : std::optional(std::sqrt(variance(ratios)));
  }
  if (std::min(row.base_runs, row.test_runs) < stats::kFewestRuns) {
    return std::nullopt;
  }
  return std::sqrt(
      variance(logs(all_runs(steps_by_run(row.cases.base, what)))) +
      variance(logs(all_runs(steps_by_run(row.cases.test, what)))));
}

void plan_runs(Diff& diff, bool interleaved) {
  diff.needed_runs = stats::fewest_runs(diff.options.significance, interleaved);
  diff.power_change =
      diff.options.threshold > 0 ? diff.options.threshold : kUsualChange;
  for (const DiffRow& row : diff.rows) {
    if (const auto scatter =
            log_scatter(row, interleaved, diff.options.step_time)) {
      diff.runs_for_power =
          std::max(diff.runs_for_power.value_or(0),
                   stats::runs_for_power(*scatter,
                                         std::log1p(diff.power_change),
                                         diff.rows.size(),
                                         kPower,
                                         diff.options.significance));
    }
  }
}

// Unique among the cases of one table.
void name_rows(std::vector<DiffRow>& rows) {
  std::vector<TableGroup<DiffRow*>> tables;
  for (DiffRow& row : rows) {
    add_to_table(tables, row.configuration(), &row);
  }
  for (const auto& [model, batch_size, members] : tables) {
    std::vector<Case> bases;
    for (const DiffRow* row : members) {
      bases.push_back(row->cases.base);
    }
    const auto alone = [](const Case& one) {
      return unique_labels({one}).front();
    };
    std::vector<std::string> labels = unique_labels(bases);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const CasePair& pair = members[i]->cases;
      if (const std::string test = alone(pair.test); test != alone(pair.base)) {
        labels[i] += " -> " + test;
      }
      members[i]->label = labels[i];
      members[i]->name = tables.size() == 1
                             ? labels[i]
                             : fmt::format("{} {}", model, labels[i]);
    }
  }
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSlower:
      return "slower";
    case Verdict::kFaster:
      return "faster";
    case Verdict::kUnproven:
      return "no proven change";
    case Verdict::kTooFewRuns:
      return "too few runs";
    case Verdict::kNoSamples:
      return "no samples";
    case Verdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

bool Diff::regression() const {
  return std::any_of(rows.begin(), rows.end(), [](const DiffRow& row) {
    return row.verdict == Verdict::kSlower;
  });
}

Diff diff_records(std::span<const RunRecord> base,
                  std::span<const RunRecord> test,
                  const DiffOptions& options) {
  Pairing pairing = pair_cases(base, test);
  Diff diff;
  diff.options = options;
  diff.base_records = base;
  diff.test_records = test;
  diff.order = order_of(pairing.pairs);
  const bool interleaved = diff.order == RunOrder::kInterleaved;
  for (CasePair& pair : pairing.pairs) {
    DiffRow row;
    row.cases = std::move(pair);
    row.not_comparable = why_unequal(row.cases);
    estimate(row, interleaved, options);
    diff.rows.push_back(std::move(row));
  }
  diff.wall_times =
      !diff.rows.empty() &&
      std::all_of(diff.rows.begin(), diff.rows.end(), [](const DiffRow& row) {
        return is_wall_time(row.cases.base.first()) &&
               is_wall_time(row.cases.test.first());
      });
  name_rows(diff.rows);
  if (diff.wall_times && diff.rows.size() == 1) {
    diff.rows[0].label = diff.rows[0].name = "wall time";
  }
  diff.only_base = std::move(pairing.only_base);
  diff.only_test = std::move(pairing.only_test);
  const std::vector<stats::Unit> units =
      units_of(diff.rows, interleaved, options.step_time);
  if (!units.empty()) {
    const auto tested =
        stats::permutation_test(units,
                                {.most_arrangements = options.most_arrangements,
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
  for (DiffRow& row : diff.rows) {
    row.verdict = verdict_of(row, interleaved, options);
  }
  plan_runs(diff, interleaved);
  diff.software = software_differences(base, test);
  diff.warnings = comparison_warnings(diff, base, test);
  return diff;
}

}  // namespace paceline::report
