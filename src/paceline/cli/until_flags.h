// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// What ends runs that go on until they suffice.
struct Budget {
  std::optional<int> runs{};
  std::optional<std::chrono::milliseconds> time{};
};

/// The share of "2%" or "2": 0.02.  Throws UsageError that begins with `flag` for anything that is
/// no percentage above 0 and at most 1000.
double parse_percent(const std::string& flag, const std::string& text);

/// "40": so many runs; "90s", "20min", "2h": so much time.  Throws UsageError that begins with
/// `flag`.
Budget parse_budget(const std::string& flag, const std::string& text);

/// `--until PERCENT` and `--budget RUNS|TIME`.
class UntilFlags {
 public:
  /// Runs where no budget is stated.
  static constexpr int kUsualRuns = 50;
  /// Runs where the budget is a time.
  static constexpr int kMostRuns = 1000;

  /// `until` and `runs` are the help of --until, and whose runs --budget
  /// counts.
  UntilFlags(CLI::App& app, const std::string& until, const std::string& runs);

  /// Throws UsageError for invalid values, and for --budget alone.
  void check() const;

  /// The share; absent without --until.
  std::optional<double> within() const;
  int most_runs() const;
  std::optional<std::chrono::milliseconds> time() const;

 private:
  std::string until_, budget_;
};

}  // namespace paceline::cli
