// SPDX-License-Identifier: Apache-2.0
#include "paceline/report/diff_runs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "paceline/records/samples.h"
#include "paceline/stats/quantile.h"

namespace paceline::report {
namespace {

using records::RunRecord;

bool all_positive(const std::vector<double>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](double s) { return s > 0; });
}

std::vector<const RunRecord*> usable_runs(const CaseRecords& one) {
  std::vector<const RunRecord*> runs = one.measured();
  std::erase_if(runs, [](const RunRecord* run) {
    const std::vector<double> steps = slowest_step_s(*run);
    return steps.empty() || !all_positive(steps);
  });
  return runs;
}

std::vector<double> joined(const std::vector<std::vector<double>>& parts) {
  std::vector<double> whole;
  for (const std::vector<double>& part : parts) {
    whole.insert(whole.end(), part.begin(), part.end());
  }
  return whole;
}

}  // namespace

StepsByRun steps_by_run(const CaseRecords& one, StepTime what) {
  StepsByRun steps;
  for (const RunRecord* run : usable_runs(one)) {
    steps[run->run].push_back(what == StepTime::kMean ? std::vector{records::mean_step_s(*run)}
                                                      : slowest_step_s(*run));
  }
  return steps;
}

std::vector<std::vector<double>> all_runs(const StepsByRun& by_run) {
  std::vector<std::vector<double>> runs;
  for (const auto& [number, steps] : by_run) {
    runs.insert(runs.end(), steps.begin(), steps.end());
  }
  return runs;
}

RunOrder run_order_of(const std::vector<CasePair>& pairs) {
  std::vector<std::pair<std::string, int>> runs;
  for (const CasePair& pair : pairs) {
    for (const CaseRecords* one : {&pair.base, &pair.test}) {
      for (const RunRecord* run : usable_runs(*one)) {
        if (run->started_at.empty()) {
          return RunOrder::kUnknown;
        }
        runs.emplace_back(run->started_at, run->run);
      }
    }
  }
  std::sort(runs.begin(), runs.end());
  const bool sorted = std::is_sorted(
      runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return sorted ? RunOrder::kInterleaved : RunOrder::kApart;
}

std::vector<stats::LabeledRun> labeled_runs_of(const std::vector<DiffRow>& rows, bool interleaved,
                                               StepTime what) {
  using Key = std::tuple<int, std::size_t, bool>;  // run number, index among equal numbers, is_test
  std::map<Key, stats::LabeledRun> units;
  const auto add = [&](std::size_t row, const CaseRecords& one, bool test) {
    for (const auto& [run, copies] : steps_by_run(one, what)) {
      for (std::size_t copy = 0; copy < copies.size(); ++copy) {
        stats::LabeledRun& unit = units[{run, copy, test}];
        unit.values.resize(rows.size(), stats::kNoValue);
        unit.values[row] = std::log(stats::median(copies[copy]));
        unit.test = test;
      }
    }
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].not_comparable) {
      continue;
    }
    add(row, rows[row].cases.base, false);
    add(row, rows[row].cases.test, true);
  }
  std::map<int, std::size_t> blocks;
  std::vector<stats::LabeledRun> result;
  for (auto& [key, unit] : units) {
    const int run = interleaved ? std::get<0>(key) : 0;
    unit.block = blocks.try_emplace(run, blocks.size()).first->second;
    result.push_back(std::move(unit));
  }
  return result;
}

std::vector<double> log_medians(const std::vector<std::vector<double>>& runs) {
  std::vector<double> values;
  for (const std::vector<double>& steps : runs) {
    values.push_back(std::log(stats::median(steps)));
  }
  return values;
}

std::vector<double> log_ratios(const RunPairs& pairs) {
  std::vector<double> ratios = log_medians(pairs.test);
  const std::vector<double> base = log_medians(pairs.base);
  std::transform(ratios.begin(), ratios.end(), base.begin(), ratios.begin(), std::minus<>());
  return ratios;
}

RunPairs run_pairs_of(const CasePair& cases, StepTime what) {
  RunPairs pairs;
  const StepsByRun test = steps_by_run(cases.test, what);
  for (const auto& [run, steps] : steps_by_run(cases.base, what)) {
    if (const auto other = test.find(run); other != test.end()) {
      pairs.base.push_back(joined(steps));
      pairs.test.push_back(joined(other->second));
    }
  }
  return pairs;
}

}  // namespace paceline::report
