// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "paceline/base/text.h"
#include "paceline/report/diff_runs.h"
#include "paceline/report/diff_steps.h"
#include "paceline/report/operations.h"
#include "paceline/stats/mean.h"
#include "paceline/stats/permutation.h"

namespace paceline::report {
namespace {

// Whether the case has enough runs for a significant result.
bool can_be_significant(const DiffRow& row, bool interleaved, const DiffOptions& options) {
  const std::size_t runs = interleaved ? run_pairs_of(row.cases, options.step_time).base.size()
                                       : std::min(row.base_runs, row.test_runs);
  return stats::smallest_p(runs, interleaved) < options.significance;
}

// Returns the resolution of the clock in nanoseconds: the greatest common divisor of all samples.
// For one or two distinct values it is the largest power of ten that divides them all, because so
// few values, which may be computed ones, do not show the resolution.
std::int64_t clock_tick(const CasePair& pair) {
  std::int64_t tick = 0;
  std::set<std::int64_t> values;
  for (const CaseRecords* side : {&pair.base, &pair.test}) {
    for (const records::RunRecord* run : side->measured()) {
      for (const records::RankSamples& rank : run->ranks) {
        for (const std::int64_t ns : rank.step_ns) {
          tick = std::gcd(tick, ns);
          if (values.size() < 3) {
            values.insert(ns);
          }
        }
      }
    }
  }
  if (values.size() >= 3) {
    return tick;
  }
  std::int64_t power = 1;
  while (tick > 0 && tick % (10 * power) == 0) {
    power *= 10;
  }
  return power;
}

// Whether rounding to a tick of the clock changes a step time by more than the change that is
// looked for.  The mean of a run's steps is rounded only once for all of them.
bool is_clock_too_coarse(const DiffRow& row, const DiffOptions& options) {
  const double wanted = options.margin() > 0 ? options.margin() : kDefaultDetectableChange;
  double steps = 1;
  if (options.step_time == StepTime::kMean) {
    for (const records::RunRecord* run : row.cases.base.measured()) {
      for (const records::RankSamples& rank : run->ranks) {
        steps = std::max(steps, static_cast<double>(rank.step_ns.size()));
      }
    }
  }
  const double rounding = static_cast<double>(clock_tick(row.cases)) / 1e9 / 2 / steps;
  return rounding > wanted * row.base_s->value;
}

bool has_invalid_run(const CaseRecords& one) {
  return !is_valid(one) || std::ranges::any_of(one.runs, [](const records::RunRecord* run) {
    return std::ranges::any_of(run->warnings, [](const records::Warning& warning) {
      return warning.code == kInvalidOperation;
    });
  });
}

std::optional<Verdict> proven(const DiffRow& row, const DiffOptions& options) {
  if (!row.change->interval || !(*row.corrected_p < options.significance)) {
    return std::nullopt;
  }
  if (row.change->interval->low > options.threshold) {
    return Verdict::kSlower;
  }
  return row.change->interval->high < -options.threshold ? std::optional(Verdict::kFaster)
                                                         : std::nullopt;
}

// Adds, for each verdict that decides nothing, a clause with the names of its rows.
void add_verdicts(const Diff& diff, std::vector<std::string>& missing) {
  for (const auto& [verdict, why] : std::initializer_list<std::pair<Verdict, std::string>>{
           {Verdict::kNotComparable, "not comparable"},
           {Verdict::kInvalid, "INVALID"},
           {Verdict::kNoSamples, "no samples on a side"},
           {Verdict::kCoarseClock, "a clock whose tick is longer than what is looked for"},
           {Verdict::kUndecided,
            fmt::format("no interval within the margin of {:g} %", 100 * diff.options.margin())},
           {Verdict::kTooFewRuns, fmt::format("too few runs ({} a side are needed for p < {})",
                                              diff.needed_runs, diff.options.significance)}}) {
    if (const auto names = names_with(diff, verdict); !names.empty()) {
      missing.push_back(fmt::format("{}: {}", why, fmt::join(names, ", ")));
    }
  }
}

void add_runs(const Diff& diff, std::vector<std::string>& missing) {
  for (const DiffRow& row : diff.rows) {
    const std::size_t pairs = run_pairs_of(row.cases, diff.options.step_time).base.size();
    if (row.verdict == Verdict::kNoSamples) {
      continue;
    }
    if (row.base_runs != row.test_runs) {
      missing.push_back(fmt::format("{} has {} of the base and {} of the test", row.name,
                                    counted(std::int64_t(row.base_runs), "run"), row.test_runs));
    } else if (diff.order == RunOrder::kInterleaved && pairs < row.base_runs && pairs > 0) {
      missing.push_back(fmt::format(
          "{} of {} of {} have no run in the same "
          "turn",
          row.base_runs - pairs, counted(std::int64_t(row.base_runs), "run"), row.name));
    }
  }
}

constexpr double kPower = 0.9;

// Returns the standard deviation of values; nothing for fewer than three of them.
std::optional<double> deviation_of(std::span<const double> values) {
  if (values.size() < stats::kFewestRuns) {
    return std::nullopt;
  }
  return stats::standard_error(values) * std::sqrt(static_cast<double>(values.size()));
}

// Returns the scatter of a case's times from run to run: the standard deviation of the logarithm
// of one pair's ratio.
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

Verdict verdict_of(const DiffRow& row, bool interleaved, const DiffOptions& options) {
  if (row.not_comparable) {
    return Verdict::kNotComparable;
  }
  if (!row.change) {
    return Verdict::kNoSamples;
  }
  if (has_invalid_run(row.cases.base) || has_invalid_run(row.cases.test)) {
    return Verdict::kInvalid;
  }
  if (const auto found = proven(row, options)) {
    return *found;
  }
  if (!options.until && !(*row.corrected_p < options.significance) &&
      !can_be_significant(row, interleaved, options)) {
    return Verdict::kTooFewRuns;
  }
  if (is_clock_too_coarse(row, options)) {
    return Verdict::kCoarseClock;
  }
  if (!(options.margin() > 0)) {
    return Verdict::kUnproven;
  }
  const auto& interval = row.change->interval;
  return interval && interval->low >= -options.margin() && interval->high <= options.margin()
             ? Verdict::kUnchanged
             : Verdict::kUndecided;
}

std::vector<std::string> missing_data_of(const Diff& diff) {
  std::vector<std::string> missing;
  if (diff.rows.empty()) {
    missing.emplace_back("no case of one side is in the other");
  }
  add_verdicts(diff, missing);
  add_runs(diff, missing);
  if (const std::size_t alone = diff.only_base.size() + diff.only_test.size();
      alone > 0 && !diff.rows.empty()) {
    missing.push_back(fmt::format("{} {} no partner", counted(std::int64_t(alone), "case"),
                                  alone == 1 ? "has" : "have"));
  }
  return missing;
}

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

std::vector<std::string> names_with(const Diff& diff, Verdict verdict) {
  std::vector<std::string> names;
  for (const DiffRow& row : diff.rows) {
    if (row.verdict == verdict) {
      names.push_back(row.name);
    }
  }
  return names;
}

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 10> kNames{
      "slower",       "faster",           "not changed", "no proven change", "not decided",
      "too few runs", "clock too coarse", "INVALID",     "no samples",       "not comparable"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view name_of(Decision decision) {
  static constexpr std::array<std::string_view, 3> kNames{"changed", "not changed", "not decided"};
  return kNames.at(static_cast<std::size_t>(decision));
}

bool Diff::regression() const {
  return std::ranges::any_of(rows,
                             [](const DiffRow& row) { return row.verdict == Verdict::kSlower; });
}

bool Diff::changed() const { return std::ranges::any_of(rows, is_change, &DiffRow::verdict); }

Decision Diff::decision() const {
  if (changed()) {
    return Decision::kChanged;
  }
  return missing.empty() ? Decision::kUnchanged : Decision::kUndecided;
}

double Diff::unchanged_within() const {
  double within = 0;
  for (const DiffRow& row : rows) {
    if (row.verdict == Verdict::kUnchanged) {
      return options.margin();
    }
    if (row.verdict == Verdict::kUnproven && row.change->interval) {
      within = std::max(
          {within, std::abs(row.change->interval->low), std::abs(row.change->interval->high)});
    }
  }
  return within;
}

}  // namespace paceline::report
