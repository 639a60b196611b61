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

/// The flag --measured: measurements of the job's speed, to which its prediction is fitted.
class MeasuredFlags {
 public:
  /// Adds the flag to the subcommand `app`.
  explicit MeasuredFlags(CLI::App& app);

  bool given() const { return !given_.empty(); }
  CLI::Option& option() const { return *option_; }

  /// The values of --measured that are files.
  std::vector<std::string> files() const;

  /// Reads all figures, and the job that the records among them describe. Throws UsageError for
  /// invalid values.
  predict::MeasuredRecords read() const;

 private:
  std::vector<std::string> given_;
  CLI::Option* option_ = nullptr;
};

/// The job that `flags` and the records of the figures describe. If no flag gives a batch size, it
/// is that of the figures. The job has no hosts if no flag names a cluster and the records describe
/// the job. Throws UsageError if flags and records differ, or if the batch size is unknown.
predict::PredictRequest measured_job(const JobFlags& flags,
                                     const predict::MeasuredRecords& measured);

/// Fits the constants of the prediction to the figures. With `print`, prints on stderr the
/// constants, which figure determines each of them, and how well the figures agree with each other.
predict::MeasuredFit fit_measured(const predict::PredictRequest& job,
                                  const predict::MeasuredRecords& measured, bool print);

}  // namespace paceline::cli
