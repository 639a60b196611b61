// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// The flags `--until PERCENT` and `--budget RUNS|TIME`.
class UntilFlags {
 public:
  /// `until` is the help of --until. `runs` says in the help of --budget whose runs are counted,
  /// such as "a case".
  UntilFlags(CLI::App& app, const std::string& until, const std::string& runs);

  /// Throws UsageError for invalid values, and for --budget alone.
  void check() const;

  /// The share that --until gives, 0.02 for 2%; nothing without --until.
  std::optional<double> within() const;
  int most_runs() const;
  std::optional<std::chrono::milliseconds> time() const;

 private:
  std::string until_, budget_;
};

}  // namespace paceline::cli
