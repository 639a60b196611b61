// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "paceline/case/field.h"
#include "paceline/cli/job_flags.h"
#include "paceline/predict/predict_request.h"
#include "paceline/records/configuration.h"

namespace paceline::cli {

/// The keys of embedding tables as flags, for whoever predicts a job.
class TableFlags {
 public:
  /// Adds them to the subcommand `app`.
  explicit TableFlags(CLI::App& app);

  void exclude_beside(CLI::Option& records);

  /// Completes a request for `job`, where its network has tables.  Returns the worlds to predict.
  /// Throws UsageError for what does not belong together.
  std::vector<plan::Rank> complete(const JobFlags& job, predict::PredictRequest& request) const;

  /// What `paceline run` measures of a network with tables: what its experiment says, with the
  /// flags over it.  Throws UsageError for a batch that it does not have.
  records::Configuration configuration(const JobFlags& job) const;

 private:
  records::Configuration tables_;
  std::vector<const cases::Field*> given_;  // the flags that set these
  std::vector<CLI::Option*> options_;
};

}  // namespace paceline::cli
