// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/job_flags.h"
#include "paceline/predict/predict.h"

namespace paceline::cli {

/// `paceline predict MODEL --cluster FILE`: the job's plan, executed in virtual
/// time on the described cluster.  `paceline predict --from RECORDS`: larger
/// worlds by the constants of one's own runs.  Starts nothing.
class PredictCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit PredictCommand(CLI::App& app);

  /// After the parsing.  Prints the prediction; returns the exit code.
  int run() const;

 private:
  /// Each of the predictions, with what people are told of it.
  struct Told {
    predict::Prediction prediction;
    std::string text;
  };
  void add_noise_flags(CLI::App& app);
  void check_from() const;
  void check_traced(std::size_t predictions) const;
  std::vector<Told> from_cluster() const;
  std::vector<Told> from_records() const;
  cluster::Noise noise() const;

  JobFlags job_;
  std::vector<std::string> from_;
  std::string strategy_, format_ = "table", trace_, records_, profile_;
  int steps_ = 10;
  std::optional<double> bucket_mb_;
  double sigma_ = 0;
  std::optional<double> straggler_probability_, straggler_factor_;
  std::optional<std::uint64_t> seed_;
  std::vector<const CLI::Option*> simulated_;  // that no record is asked for
};

}  // namespace paceline::cli
