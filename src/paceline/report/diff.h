// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paceline/records/run_record.h"
#include "paceline/report/pairing.h"
#include "paceline/stats/interval.h"
#include "paceline/stats/permutation.h"

namespace paceline::report {

/// The statistic of a run's step times that is compared.
enum class StepTime : std::uint8_t {
  kMedian,  // the median over the steps; the time of a step is its slowest rank's
  kMean     // the wall time of all steps divided by their number, as for examples/s
};

/// Options for adding pairs of runs, one of each side, until every case is decided.
struct UntilOptions {
  double within = 0;      // a change proven to be below this share counts as none
  std::size_t most = 50;  // the largest number of runs per side
};

struct DiffOptions {
  StepTime step_time = StepTime::kMedian;
  /// The smallest relative change of time that counts: 0.01 is 1 %.
  double threshold = 0;
  double significance = 0.05;  // chance of any false finding among all cases
  std::uint64_t seed = 0;      // seed of the random draws
  /// The largest number of permutations of the runs' labels that the test enumerates. If there are
  /// more, it draws `draws` of them at random.
  std::uint64_t most_arrangements = stats::PermutationOptions{}.most_arrangements;
  std::uint64_t draws = stats::PermutationOptions{}.draws;
  /// If set, the comparison is evaluated after each pair of runs and may end after any of them.
  /// Its intervals and p are valid at every such end (stats/sequential.h).
  std::optional<UntilOptions> until{};

  /// Returns the largest change that counts as none, as a fraction; 0 if the user gave no limit.
  double margin() const { return until ? until->within : threshold; }
};

enum class Verdict : std::uint8_t {
  kSlower,        // a slowdown beyond the threshold is proven
  kFaster,        // a speedup beyond the threshold is proven
  kUnchanged,     // the interval of the change lies within the margin
  kUnproven,      // the user gave no margin, and no change is proven
  kUndecided,     // no change is proven, and the interval does not lie within the margin
  kTooFewRuns,    // no outcome of so few runs could have been significant
  kCoarseClock,   // the clock is too coarse for the change that is to be detected
  kInvalid,       // a side is INVALID: its times are not those of its strategy
  kNoSamples,     // a side has no step samples: all of its runs failed
  kNotComparable  // the two sides do not do the same training
};

/// Whether a change is proven, in either direction.
constexpr bool is_change(Verdict verdict) {
  return verdict == Verdict::kSlower || verdict == Verdict::kFaster;
}

/// Returns the verdict in words, in the order of the enum: slower, faster, not changed, no proven
/// change, not decided, too few runs, clock too coarse, INVALID, no samples, not comparable.
std::string_view name_of(Verdict verdict);

/// The result of a comparison over all of its cases.
enum class Decision : std::uint8_t {
  kChanged,    // a change beyond the threshold is proven in some case
  kUnchanged,  // no change is proven, and nothing is missing for a decision
  kUndecided   // no change is proven, and something is missing (Diff::missing)
};

/// Returns the decision in words: changed, not changed, not decided.
std::string_view name_of(Decision decision);

/// One pair of cases, base and test, with the result of their comparison.
struct DiffRow {
  /// The name of the base, followed by "-> test" if the name of the test differs.  It is unique
  /// among the rows with the same model and batch size.
  std::string label;
  /// The label; if there are several tables, the model and, where needed, the batch size precede
  /// it.
  std::string name;
  CasePair cases;
  std::size_t base_runs = 0, test_runs = 0;  // numbers of runs that left samples
  /// Seconds per step, taken as DiffOptions::step_time says.
  std::optional<stats::Estimate> base_s, test_s;
  /// The test's time divided by the base's, minus 1: positive is slower.
  std::optional<stats::Estimate> change;
  std::optional<double> p, corrected_p;
  /// With DiffOptions::until: about how many more pairs of runs are needed for a decision; absent
  /// if that cannot be estimated.
  std::optional<std::size_t> pairs_to_go{};
  /// Why `change` is absent: the two sides did not do the same training.
  std::optional<std::string> not_comparable{};
  Verdict verdict = Verdict::kNoSamples;

  const cases::Case& configuration() const { return cases.base.configuration(); }
};

/// The order in time of the runs of both sides.
enum class RunOrder : std::uint8_t {
  kInterleaved,  // run k of both sides comes before run k + 1 of either
  kApart,        // one side came after the other, or the runs are mixed otherwise
  kUnknown       // the records do not state when the runs began
};

/// The comparison of all cases.  Points into the records that it was made from.
struct Diff {
  std::string base_name = "base", test_name = "test";  // names of files, or commands
  std::vector<DiffRow> rows;                           // in the order of the cases of the base
  std::vector<CaseRecords> only_base, only_test;       // cases that are not paired
  DiffOptions options;
  std::span<const records::RunRecord> base_records, test_records;

  /// Whether whole commands were compared by their wall time; there are no steps then.
  bool wall_times = false;
  /// Whether operations of engines were compared, by ranges of message sizes (operations.h).
  bool operations = false;
  RunOrder order = RunOrder::kUnknown;
  bool exact = true;            // whether the test evaluated all permutations
  double arrangements = 1;      // number of permutations of the runs' labels
  std::size_t needed_runs = 0;  // least runs per side with which a change can be proven
  /// About how many runs per side are needed to prove a change of `power_change` with probability
  /// 0.9 in the case whose runs scatter most; absent if no case has 3 runs.  A change is proven if
  /// its interval lies beyond the threshold.
  std::optional<std::size_t> runs_for_power;
  double power_change = 0;  // twice the threshold, 1 % without one; with `until`: its `within`

  std::vector<Difference> software;  // software versions and settings that differ between the sides
  std::vector<records::Warning> warnings;
  /// What is missing for a decision, one clause each.
  std::vector<std::string> missing;

  bool regression() const;  // whether some case is slower
  bool changed() const;     // whether some case is slower or faster
  Decision decision() const;
  /// Returns a bound on the change of the cases without a proven change: the margin, or, if the
  /// user gave none, the end of their intervals that is farthest from 0.  Returns 0 if all cases
  /// have a proven change.
  double unchanged_within() const;
};

/// Compares the records of two sides case by case (docs/measuring.md, "Comparisons").  The records
/// must outlive the result.
Diff diff_records(std::span<const records::RunRecord> base,
                  std::span<const records::RunRecord> test, const DiffOptions& options = {});

/// Whether no further pair of runs is needed: every row is decided, or there are no rows.
bool is_decided(const Diff& diff);

/// Describes the case that takes longest to decide: "after 5 pairs: +4.1 % [+1.2, +7.1], about 2
/// more pairs".  With several cases, adds that case's name and how many cases are decided.
std::string sequential_progress_text(const Diff& diff);

}  // namespace paceline::report
