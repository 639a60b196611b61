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

/// What of the steps of a run is compared.
enum class StepTime : std::uint8_t {
  kMedian,  // the median step, each step being its slowest rank's
  kMean     // the wall time of all steps over their number, as examples/s
};

/// Runs that go on in turns until each case is decided.
struct UntilOptions {
  double within = 0;      // a change that is proven smaller counts as none
  std::size_t most = 50;  // runs a side, the stated budget
};

struct DiffOptions {
  StepTime step_time = StepTime::kMedian;
  /// A slowdown (or speedup) counts only beyond this share: 0.01 is 1 %.
  double threshold = 0;
  double significance = 0.05;  // of any false finding among all cases
  std::uint64_t seed = 0;      // of what has to be drawn
  /// With more arrangements of the labels than these, `draws` are drawn.
  std::uint64_t most_arrangements = stats::PermutationOptions{}.most_arrangements;
  std::uint64_t draws = stats::PermutationOptions{}.draws;
  /// The runs are looked at after each pair: intervals and p then hold at whatever pair somebody
  /// stops (stats/sequential.h).
  std::optional<UntilOptions> until{};

  /// The share that counts as no change; 0: none was stated.
  double margin() const { return until ? until->within : threshold; }
};

enum class Verdict : std::uint8_t {
  kSlower,        // proven, and beyond the threshold
  kFaster,        // proven the other way, and beyond the threshold
  kUnchanged,     // the interval lies within the margin
  kUnproven,      // no margin was stated, and no change is proven
  kUndecided,     // the interval reaches beyond the margin, on one side of it
  kTooFewRuns,    // no outcome could have been proven
  kCoarseClock,   // a tick of the clock is longer than what is looked for
  kInvalid,       // a side is INVALID: its figures are not of its strategy
  kNoSamples,     // a side has none: all of its runs failed
  kNotComparable  // the sides do not train the same
};

/// Whether a change is proven, in either direction.
constexpr bool is_change(Verdict verdict) {
  return verdict == Verdict::kSlower || verdict == Verdict::kFaster;
}

/// slower, faster, not changed, no proven change, not decided, too few runs, clock too coarse,
/// INVALID, no samples, not comparable.
std::string_view name_of(Verdict verdict);

/// What a comparison comes to.
enum class Decision : std::uint8_t {
  kChanged,    // in some case, beyond the threshold
  kUnchanged,  // in no case by more than the margin, or than would be found
  kUndecided   // something is missing (Diff::missing)
};

/// changed, not changed, not decided.
std::string_view name_of(Decision decision);

/// One pair of cases.
struct DiffRow {
  /// Unique in its table (equal model and batch size): the base's name, and "base -> test" where
  /// the test has another.
  std::string label;
  /// The label, behind model and batch size where tables differ in them.
  std::string name;
  CasePair cases;
  std::size_t base_runs = 0, test_runs = 0;  // with samples
  /// Seconds of a step, as DiffOptions::step_time says.
  std::optional<stats::Estimate> base_s, test_s;
  /// Test over base, less 1: positive is slower.
  std::optional<stats::Estimate> change;
  std::optional<double> p, corrected_p;
  /// Of runs that go on until they are decided: about how many more pairs that takes; nothing where
  /// it cannot be told.
  std::optional<std::size_t> pairs_to_go{};
  /// Why there is no change: the sides do not train the same.
  std::optional<std::string> not_comparable{};
  Verdict verdict = Verdict::kNoSamples;

  const records::Configuration& configuration() const { return cases.base.configuration(); }
};

/// How the runs of the two sides were taken.
enum class RunOrder : std::uint8_t {
  kInterleaved,  // run k of both before run k + 1 of either
  kApart,        // one side after the other, or mixed otherwise
  kUnknown       // the records do not say when
};

/// What became of all cases.  Points into the records it was made from.
struct Diff {
  std::string base_name = "base", test_name = "test";  // files, commands
  std::vector<DiffRow> rows;                           // in the base's order
  std::vector<Case> only_base, only_test;              // cases without a partner
  DiffOptions options;
  std::span<const records::RunRecord> base_records, test_records;

  /// Whole commands were compared by their wall time; there are no steps.
  bool wall_times = false;
  /// Operations of engines were compared, by ranges of sizes (operations.h).
  bool operations = false;
  RunOrder order = RunOrder::kUnknown;
  bool exact = true;            // all arrangements were looked at
  double arrangements = 1;      // of the labels of all runs
  std::size_t needed_runs = 0;  // a side, below which nothing can be proven
  /// About how many runs a side find power_change with power 0.9 in the case that scatters most;
  /// absent below 3 runs.  A change of twice the threshold is found where the interval lies beyond
  /// the threshold.
  std::optional<std::size_t> runs_for_power;
  double power_change = 0;  // twice the threshold; 1 % where there is none
  /// The change that these runs find with power 0.9 in the case that scatters most; absent where a
  /// case has too few runs to prove any.
  std::optional<double> found_change;

  std::vector<Difference> software;  // of the environments
  std::vector<records::Warning> warnings;
  /// What keeps the comparison from a decision, a clause each.
  std::vector<std::string> missing;

  bool regression() const;  // some case is slower
  bool changed() const;     // some case is slower or faster
  Decision decision() const;
  /// By how much no case without a proof has changed: the margin, or without one the farthest end
  /// of their intervals; 0: there is no such case.
  double unchanged_within() const;
};

/// Compares the records of two sides case by case (docs/measuring.md, "Comparisons").  The records
/// must outlive the result.
Diff diff_records(std::span<const records::RunRecord> base,
                  std::span<const records::RunRecord> test, const DiffOptions& options = {});

/// Whether no further pair is needed: every row is decided, or there is none.
bool is_decided(const Diff& diff);

/// "after 5 pairs: +4.1 % [+1.2, +7.1], about 2 more pairs", of the case that takes longest; with
/// several cases its name, and how many are decided.
std::string until_text(const Diff& diff);

}  // namespace paceline::report
