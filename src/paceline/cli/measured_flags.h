// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/job_flags.h"
#include "paceline/predict/measured_fit.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace paceline::cli {

/// --measured: figures of the job that somebody holds.
class MeasuredFlags {
 public:
  /// Adds the flag to the subcommand `app`.
  explicit MeasuredFlags(CLI::App& app);

  bool given() const { return !given_.empty(); }
  CLI::Option& option() const { return *option_; }

  /// The files among the values.
  std::vector<std::string> files() const;

  /// All figures, and what the records among them say.  Throws UsageError.
  predict::MeasuredRecords read() const;

 private:
  std::vector<std::string> given_;
  CLI::Option* option_ = nullptr;
};

/// The job that `flags` and the records of the figures describe, with the batch of the figures
/// where no flag gives one; its hosts are empty where no flag names a cluster and the records say
/// the job.  Throws UsageError where flags and records differ, or the batch is not known.
predict::PredictRequest measured_job(const JobFlags& flags,
                                     const predict::MeasuredRecords& measured);

/// Fits the constants to the figures and prints on stderr what they are, which figure determines
/// each, and what the figures say of each other.
predict::MeasuredFit fit_measured(const predict::PredictRequest& job,
                                  const predict::MeasuredRecords& measured, bool print);

}  // namespace paceline::cli
