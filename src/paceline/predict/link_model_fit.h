// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "paceline/cluster/cluster.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/link_calibration.h"
#include "paceline/stats/prior_fit.h"

namespace paceline::predict {

/// A constant of the model, whose logarithm is fitted.
struct ModelConstant {
  std::string name;
  double before = 0;    // SI
  double prior = 0;     // standard deviation of the logarithm
  bool needed = false;  // the link has no value without it
  double least = 0;     // SI; the link has at least this value
  void (*put)(cluster::ClusterLink& link, double value) = nullptr;
};

/// A fit of the constants of the engine's model to measured times on one link (calibrate_link).
class LinkModelFit {
 public:
  /// Removes the fits and the calibration of the link from `cluster`, which lives longer.
  LinkModelFit(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
               cluster::Cluster& cluster);

  /// Puts the constants that the times determine into the link.
  void fit();

  /// Returns the logarithm of the modelled over the measured time, for each time.
  std::vector<double> errors(std::span<const MeasuredTime> times) const;

  /// Whether the times determine the rate, or its achieved share, even if no other constant is
  /// known.
  bool rate_is_known() const { return rate_is_known_; }

  /// Returns the constants that the times determine, and the names of the others.
  std::vector<FittedConstant> constants() const;
  std::vector<std::string> undetermined() const;

 private:
  void put(const std::vector<double>& at);

  double value_of(std::size_t k, double logarithm) const;

  /// Returns whether the times inform about each constant if the latencies are those before the
  /// times.  A latency that is small beside all of them only makes up for what the model lacks, and
  /// says nothing of short times.
  std::vector<bool> informed_at_prior(const stats::Residuals& residuals) const;

  /// Returns constant `k`'s standard deviation after the fit over that before it.
  double left_of(std::size_t k) const;

  std::vector<ModelConstant>::iterator least_known_constant();

  LinkToCalibrate of_;
  std::span<const MeasuredTime> times_;
  cluster::Cluster& cluster_;
  const EngineCosts& engine_;
  cluster::ClusterLink before_;
  std::vector<ModelConstant> constants_, kept_;
  stats::PriorFit fit_;
  std::vector<bool> informed_;
  bool rate_is_known_ = false;
};

/// Returns the link of the scope, which the cluster has.
cluster::ClusterLink& fitted_link(cluster::LinkScope scope, cluster::Cluster& cluster);

double sum_of_squares(const std::vector<double>& values);

}  // namespace paceline::predict
