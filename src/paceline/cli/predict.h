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

/// `paceline predict MODEL --cluster FILE`: executes the job's plan in virtual time on the
/// described cluster. With --measured, its constants are fitted to measured figures
/// (predict/measured_fit.h). `paceline predict --requests FILE` predicts many jobs
/// (cli/predict_requests.h). No ranks are started.
class PredictCommand {
 public:
  /// Adds the flags to the subcommand `app`.
  explicit PredictCommand(CLI::App& app);

  /// To be called after the parsing. Prints the prediction and returns the exit code.
  int run() const;

  /// The record of the single prediction that the flags ask for. Prints nothing except warnings of
  /// a long simulation. Throws UsageError if the flags ask for several predictions.
  records::RunRecord record(simulator::JobCache& jobs) const;

 private:
  /// The prediction of one case, and the text that is printed for it.
  struct PredictionText {
    predict::Prediction prediction;
    std::string text;
  };
  /// The predictions that the flags ask for: every strategy with every number of ranks.
  struct RequestedPredictions {
    predict::PredictRequest request;
    std::vector<plan::Rank> worlds{};
    std::vector<std::string> strategies{};
    std::optional<predict::MeasuredFit> fit{};  // the fit to the figures of --measured
  };
  /// `jobs` caches the compiled jobs of --requests. It is null for predictions of the command line,
  /// which also print the constants of measured figures.
  std::vector<PredictionText> predictions(simulator::JobCache* jobs) const;
  /// `own` caches the jobs of measured figures if `jobs` is null.  Throws UsageError for several
  /// predictions where only one is allowed: for a line of --requests, which a non-null `jobs`
  /// indicates, and with --trace.
  RequestedPredictions requested(simulator::JobCache* jobs, simulator::JobCache& own) const;
  /// Throws UsageError for flags that contradict each other.
  void check_combinations() const;
  PredictionText predicted(const predict::PredictRequest& request,
                           const std::optional<predict::MeasuredFit>& fit) const;
  static PredictionText rejected(const predict::PredictRequest& request, const std::string& why);
  static bool is_rejected(const PredictionText& it);
  std::string on_hosts(const std::string& strategy, double bucket_mb) const;
  /// The strategies of --strategy, or `usual` if it is not given. Throws UsageError for a text that
  /// is no strategy, and for --bucket-mb with a strategy that does not use it.
  std::vector<std::string> chosen_strategies(std::vector<std::string> usual) const;

  JobFlags job_;
  TableFlags tables_;
  MeasuredFlags measured_;
  std::vector<std::string> strategy_;
  std::string format_ = "table", trace_, records_, requests_;
  int steps_ = 10;
  int local_size_ = 0;  // 0: as many as the hosts have
  std::optional<double> bucket_mb_;
  double sigma_ = 0;
  std::optional<std::uint64_t> seed_;
};

}  // namespace paceline::cli
