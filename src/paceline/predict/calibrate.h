// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/link_spec.h"
#include "paceline/cluster/profile_file.h"
#include "paceline/predict/measured_cases.h"
#include "paceline/predict/predict.h"
#include "paceline/stats/interval.h"

// Constants of the simulator from a user's own runs, and what larger worlds
// would be with them.

namespace paceline::predict {

struct CalibrationOptions {
  /// The network and its layers; left out: the profile that records replay.
  std::optional<cluster::ProfiledModel> profile{};
  /// Where ranks of larger worlds go; its links, if it names some, are those
  /// that no record tells of.
  std::optional<cluster::Cluster> cluster{};
  /// Each rank's own; left out: the emulated link of the records.
  std::optional<cluster::LinkSpec> link{};
  std::size_t resamples = 100;
  double level = 0.95;
  std::uint64_t seed = 0;

  bool gives_links() const { return cluster && !cluster->links.empty(); }
};

struct CalibratedConstant {
  std::string name, unit;
  double value = 0;
  std::optional<stats::Interval> interval{};  // nothing: it was given
  std::string from;                           // where it comes from
};

/// A measured case as the fitted constants explain it.
struct ExplainedCase {
  records::Configuration configuration;
  std::size_t runs = 0;
  double measured_s = 0, simulated_s = 0;
};

struct Calibration {
  MeasuredJob measured;
  PredictRequest job;  // all but ranks, strategy and cluster
  std::optional<cluster::Cluster> cluster;
  std::vector<CalibratedConstant> constants;
  std::vector<ExplainedCase> cases;
  std::vector<double> residuals;  // logarithms; scaled for what was fitted
  std::vector<simulator::Costs> replicates;  // the constants of resampled runs
  double level = 0.95;
  std::uint64_t seed = 0;
};

/// Constants from records of one job on 1, 2 and more ranks.
///
/// One rank's runs give the time of forward, backward and update; the given
/// profile, else the one by which a record's strategy was planned, else the
/// roofline, gives its shape over the layers.  What all ranks cost each other
/// while they compute is measured in each case (its steps without
/// communication).  The rest is fitted to the steps of all cases, each
/// simulated with its own plan, by least squares of their logarithms: the rate
/// of the link; with two cases or more the latency of a hop; with three what
/// compute loses while a transfer is under way; with four, of two worlds, a
/// collective's start.  A constant that none of the cases depends on is left
/// out.  Whether the ranks of a host share a link is what explains the cases
/// better, where no cluster says it.  Of a link that is known, only the last
/// two are fitted.
///
/// Intervals come from fits to resampled runs (MeasuredCase::drawn).
/// Throws UsageError, one sentence, where the records are not enough.
Calibration calibrate(std::span<const records::RunRecord> records,
                      const CalibrationOptions& options = {});

struct Forecast {
  Prediction prediction;
  stats::Interval step_s{};
};

/// A world of `ranks` with the constants of a calibration.  The interval holds
/// what resampled runs say, times a residual of the fit drawn at random, and
/// reaches to the predicted step.
Forecast forecast(const Calibration& calibration,
                  plan::Rank ranks,
                  const std::string& strategy,
                  double bucket_mb,
                  bool with_spans = false);

/// summary_of its prediction, with the interval.
std::string summary_of(const Forecast& forecast);

}  // namespace paceline::predict
