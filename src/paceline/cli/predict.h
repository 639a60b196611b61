// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "paceline/cli/job_flags.h"
#include "paceline/cli/measured_flags.h"
#include "paceline/cli/table_flags.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/predict/predict.h"
#include "paceline/simulator/job_cache.h"

namespace paceline::cli {

/// `paceline predict MODEL --cluster FILE`: the job's plan, executed in virtual
/// time on the described cluster.  With --measured its constants
/// are those of figures that somebody holds (predict/measured_fit.h). `paceline predict --requests
/// FILE`: the same of many jobs (cli/predict_requests.h). Starts nothing.
class PredictCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit PredictCommand(CLI::App& app);

  /// After the parsing.  Prints the prediction; returns the exit code.
  int run() const;

  /// The record of the one prediction that the flags ask for; nothing is printed but warnings of a
  /// long simulation.  Throws UsageError where the flags ask for more than one.
  records::RunRecord record(simulator::JobCache& jobs) const;

 private:
  /// A prediction and the text that is printed of it.
  struct PredictionText {
    predict::Prediction prediction;
    std::string text;
  };
  void add_noise_flags(CLI::App& app);
  /// What is predicted: every strategy in every world.
  struct Asked {
    predict::PredictRequest request;
    std::vector<plan::Rank> worlds{};
    std::vector<std::string> strategies{};
    std::optional<predict::MeasuredFit> fit{};  // of --measured
  };
  /// Throws UsageError for several predictions where one is allowed: of a request, which `jobs`
  /// says, and beside --trace.
  void check_number(const Asked& asked, const simulator::JobCache* jobs) const;
  /// `jobs`: of --requests; null: of the command line alone, which prints the
  /// constants of measured figures.
  std::vector<PredictionText> predictions(simulator::JobCache* jobs) const;
  Asked of_cluster(simulator::JobCache* jobs) const;
  /// `own`: the jobs of the command line alone.
  Asked of_figures(simulator::JobCache* jobs, simulator::JobCache& own) const;
  PredictionText predicted(const predict::PredictRequest& request,
                           const std::optional<predict::MeasuredFit>& fit) const;
  static PredictionText rejected(const predict::PredictRequest& request, const std::string& why);
  static bool is_rejected(const PredictionText& it);
  void put_flags(simulator::JobCache* jobs, predict::PredictRequest& request) const;
  std::string on_hosts(const std::string& strategy, double bucket_mb) const;
  cluster::Noise noise() const;
  /// Strategies of --strategy, or `usual` where none is given.  Throws UsageError for a text that
  /// names none, and for a size of buckets that a strategy does not have.
  std::vector<std::string> chosen(std::vector<std::string> usual) const;

  JobFlags job_;
  TableFlags tables_;
  MeasuredFlags measured_;
  std::vector<std::string> strategy_;
  std::string format_ = "table", trace_, records_, requests_;
  int steps_ = 10;
  int local_size_ = 0;  // 0: as the hosts have
  std::optional<double> bucket_mb_;
  double sigma_ = 0;
  std::optional<double> straggler_probability_, straggler_factor_;
  std::optional<std::uint64_t> seed_;
};

}  // namespace paceline::cli
