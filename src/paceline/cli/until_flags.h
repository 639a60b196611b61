// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace paceline::cli {

/// `--until PERCENT` and `--budget RUNS|TIME`.
class UntilFlags {
 public:
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
