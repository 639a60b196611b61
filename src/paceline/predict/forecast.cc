// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/random.h"
#include "paceline/predict/calibrate.h"
#include "paceline/stats/bootstrap.h"

namespace paceline::predict {
namespace {

/// Hosts as those of the records, or one that holds everybody.
cluster::Cluster cluster_for(const Calibration& calibration, plan::Rank ranks) {
  if (calibration.cluster) {
    return *calibration.cluster;
  }
  cluster::Cluster cluster;
  cluster.name = "as the records";
  cluster.device.name = calibration.measured.common().device;
  int most_local = 1;
  bool hosts = false;
  for (const MeasuredCase& measured : calibration.measured.several_ranks) {
    const auto& local = measured.configuration.ranks_per_host;
    hosts = hosts || local.size() > 1;
    for (const int count : local) {
      most_local = std::max(most_local, count);
    }
  }
  const int slots = hosts ? most_local : ranks;
  for (int i = 0; i * slots < ranks; ++i) {
    cluster.hosts.push_back({.name = fmt::format("host{}", i), .slots = slots});
  }
  return cluster;
}

/// What resampled runs say of the step.
records::ErrorBar bar_of(const stats::Interval& step_s,
                         double level,
                         bool widened) {
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  return {.low_ns = ns(step_s.low),
          .high_ns = ns(step_s.high),
          .level = level,
          .validated = true,
          .of = "the records",
          .how = std::string("fits to resampled runs and their residuals") +
                 (widened ? ", widened to the predicted step" : "")};
}

/// As the records' own cases, so that a run of it can be paired with it.
void name_case(const Calibration& calibration,
               records::Configuration& predicted) {
  records::Configuration c = calibration.measured.common();
  c.label.clear();
  c.ranks = predicted.ranks;
  const auto& hosts =
      calibration.measured.several_ranks.front().configuration.ranks_per_host;
  c.ranks_per_host =
      hosts.empty() ? std::vector<int>{} : predicted.ranks_per_host;
  c.strategy = predicted.strategy;
  c.bucket_mb = predicted.bucket_mb;
  predicted = std::move(c);
}

}  // namespace

Forecast forecast(const Calibration& calibration,
                  plan::Rank ranks,
                  const std::string& strategy,
                  double bucket_mb,
                  bool with_spans) {
  PredictRequest request = calibration.job;
  request.cluster = cluster_for(calibration, ranks);
  request.ranks = ranks;
  request.strategy = strategy;
  request.bucket_mb = bucket_mb;
  request.steps = std::max(3, calibration.measured.common().steps);
  Forecast forecast{.prediction = predict(request, with_spans)};
  Prediction& prediction = forecast.prediction;
  name_case(calibration, prediction.record.configuration);
  for (const records::Warning& warning : calibration.measured.warnings) {
    prediction.record.warnings.push_back(warning);
  }
  simulator::Simulator simulator(*prediction.job);
  std::vector<double> steps;
  Random random(calibration.seed, calibration.replicates.size());
  for (const simulator::Costs& costs : calibration.replicates) {
    const double residual =
        calibration.residuals[random.below(calibration.residuals.size())];
    steps.push_back(plan::seconds_of(simulator.run(costs).step) *
                    std::exp(residual));
  }
  const double step = plan::seconds_of(prediction.times.step);
  if (steps.empty()) {
    forecast.step_s = {step, step};
    return forecast;
  }
  const stats::Interval drawn =
      stats::percentile_interval(steps, calibration.level);
  forecast.step_s = drawn.reaching(step);
  prediction.record.predicted->error_bar =
      bar_of(forecast.step_s, calibration.level, !drawn.contains(step));
  return forecast;
}

std::string summary_of(const Forecast& forecast) {
  const records::RunRecord& record = forecast.prediction.record;
  const auto& bar = record.predicted->error_bar;
  return fmt::format("{} ranks, {}: {}\n{}",
                     record.configuration.ranks,
                     record.configuration.strategy,
                     bar ? records::words_of(*bar) : "no interval",
                     summary_of(forecast.prediction));
}

}  // namespace paceline::predict
