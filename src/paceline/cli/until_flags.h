// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// The flags `--until PERCENT` and `--budget RUNS|TIME`, which repeat runs until their result is
/// precise enough or the budget is spent.
class UntilFlags {
 public:
  /// `until` is the help text of --until. `runs` names what is repeated, such as "a case"; the help
  /// text of --budget contains it.
  UntilFlags(CLI::App& app, const std::string& until, const std::string& runs);

  /// Throws UsageError for invalid values, and for --budget alone.
  void check() const;

  /// Returns the value of --until as a fraction: 0.02 for 2%. Returns nothing without --until.
  std::optional<double> within() const;
  int most_runs() const;
  std::optional<std::chrono::milliseconds> time() const;

 private:
  std::string until_, budget_;
};

}  // namespace paceline::cli
