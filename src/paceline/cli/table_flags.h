// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "paceline/case/case.h"
#include "paceline/case/field.h"
#include "paceline/cli/job_flags.h"
#include "paceline/predict/predict_request.h"

namespace paceline::cli {

/// The keys of embedding tables as flags, for the commands that predict jobs.
class TableFlags {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit TableFlags(CLI::App& app);

  void make_exclusive_with(CLI::Option& records);

  /// Completes a request for `job` if its network has embedding tables. Returns the numbers of
  /// ranks to predict. Throws UsageError for flags that contradict each other.
  std::vector<plan::Rank> complete(const JobFlags& job, predict::PredictRequest& request) const;

  /// The case that `paceline run` measures for a network with tables: that of its experiment file,
  /// overridden by the flags. Throws UsageError for a batch size that the network does not allow.
  cases::Case configuration(const JobFlags& job) const;

 private:
  /// Returns the keys whose flags the user has given.
  std::vector<const cases::Field*> given() const;

  cases::Case tables_;
  std::vector<std::string_view> names_{"as_original"};  // of the keys
  std::vector<CLI::Option*> options_;
};

}  // namespace paceline::cli
