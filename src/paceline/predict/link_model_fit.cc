// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/link_model_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/predict/collective_time.h"
#include "paceline/predict/request_costs.h"

namespace paceline::predict {
using cluster::ClusterLink;
using cluster::LinkScope;

ClusterLink& fitted_link(LinkScope scope, cluster::Cluster& cluster) {
  return *std::ranges::find(cluster.links, scope, &ClusterLink::scope);
}

namespace {

// Standard deviations of logarithms: of a rate that was given or is unknown, and of a latency,
// before anything is measured; and of a measured time around the model.
constexpr double kOfGivenRate = 0.35, kOfUnknownRate = 1.5;
constexpr double kOfALatency = 1, kOfATime = 0.1;
/// A constant counts as determined if the fit reduces its standard deviation to at most this share.
constexpr double kMostLeft = 0.5;
constexpr double kMicroseconds = 1e-6;

plan::Picoseconds at_most_1_s(double seconds) {
  return plan::picoseconds_of(std::min(1.0, seconds));
}

/// Returns the rate of the link that the call's bytes need to take `seconds`, by the algorithm that
/// moves the fewest of them over the link.
double least_rate(const LinkToCalibrate& of, const MeasuredTime& time, cluster::Cluster cluster) {
  constexpr double kSlow = 1e6;  // bytes/s; the other link's rate does not matter beside it
  fitted_link(of.scope, cluster).bytes_per_s = kSlow;
  return kSlow * least_possible_s(time.call, cluster) / time.seconds;
}

std::vector<ModelConstant> constants_of(const LinkToCalibrate& of, const cluster::Cluster& cluster,
                                        const EngineCosts& engine, double least) {
  const ClusterLink& link = *cluster.link(of.scope);
  std::vector<ModelConstant> constants{
      {.name = "rate",
       .before = link.bytes_per_s,
       .prior = of.rate_is_given ? kOfGivenRate : kOfUnknownRate,
       .needed = true,
       .least = least,
       .put = [](auto& to, double rate) { to.bytes_per_s = rate; }}};
  if (!cluster::uses_nccl_model(engine.algorithm)) {
    constants.push_back({.name = "latency",
                         .before = std::max(1e-7, plan::seconds_of(link.latency_ps)),
                         .prior = kOfALatency,
                         .put = [](auto& to, double s) { to.latency_ps = at_most_1_s(s); }});
    return constants;
  }
  const auto tuning = cluster::nccl_tuning_of(cluster);
  const bool devices = of.scope == LinkScope::kDevices;
  const cluster::NcclLink& own = devices ? tuning->device : tuning->network;
  const cluster::NcclTimes& hops = devices ? tuning->device_hop_us : tuning->network_hop_us;
  if (of.rate_is_given) {
    constants.front() = {
        .name = "share",
        .before = own.share,
        .prior = kOfGivenRate,
        .put = [](auto& to, double part) { to.calibration->share = std::min(1.0, part); }};
  }
  constants.push_back(
      {.name = "base",
       .before = plan::seconds_of(engine.costs.issue) + tuning->base_us[0][0] * kMicroseconds,
       .prior = kOfALatency,
       .put = [](auto& to, double s) { to.calibration->base_ps = at_most_1_s(s); }});
  constants.push_back({.name = "hop",
                       .before = (hops[0][0] + own.extra_us) * kMicroseconds,
                       .prior = kOfALatency,
                       .put = [](auto& to, double s) { to.calibration->hop_ps = at_most_1_s(s); }});
  return constants;
}

/// Returns the pair of a rate and of latencies with the smallest objective, from which the fit
/// starts.
std::vector<double> best_start(const stats::Residuals& residuals,
                               const std::vector<double>& prior) {
  std::vector<double> best(prior.size());
  double least = INFINITY;
  for (const double rate : {0.0, -0.7, 0.7, 1.4}) {
    for (const double latency : {0.0, -1.4, -0.7, 0.7, 1.4, 2.1, 2.8}) {
      std::vector<double> trial(prior.size(), latency);
      trial.front() = rate;
      double sum = 0;
      for (std::size_t k = 0; k < prior.size(); ++k) {
        sum += std::pow(trial[k] / prior[k], 2);
      }
      for (const double residual : residuals(trial)) {
        sum += residual * residual;
      }
      if (sum < least) {
        least = sum;
        best = trial;
      }
    }
  }
  return best;
}

}  // namespace

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return sum;
}

LinkModelFit::LinkModelFit(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                           cluster::Cluster& cluster)
    : of_(of), times_(times), cluster_(cluster), engine_(engine_costs_named(of.engine)) {
  ClusterLink& link = fitted_link(of_.scope, cluster_);
  link.fits.clear();
  link.calibration.reset();
  double least = 0;
  for (const MeasuredTime& time : times) {
    least = std::max(least, least_rate(of_, time, cluster_));
  }
  constants_ = constants_of(of_, cluster_, engine_, least);
  link.calibration = cluster::LinkCalibration{.engine = of_.engine};
  before_ = link;
}

void LinkModelFit::fit() {
  kept_ = constants_;
  for (;;) {
    const stats::Residuals residuals = [&](const std::vector<double>& at) {
      put(at);
      std::vector<double> out = errors(times_);
      for (double& error : out) {
        error /= kOfATime;
      }
      return out;
    };
    std::vector<double> prior;
    std::ranges::transform(kept_, std::back_inserter(prior), &ModelConstant::prior);
    std::vector<double> at =
        stats::fit_with_priors(residuals, prior, best_start(residuals, prior)).at;
    at.front() = std::log(value_of(0, at.front()) / kept_.front().before);
    fit_ = stats::posterior_at(residuals, prior, at);
    informed_ = informed_at_prior(residuals);
    put(fit_.at);
    if (kept_.size() == constants_.size()) {
      rate_is_known_ = left_of(0) <= kMostLeft;
    }
    const auto least_known = least_known_constant();
    if (least_known == kept_.end()) {
      return;
    }
    kept_.erase(least_known);
    if (kept_.empty()) {
      fit_ = {};
      put({});
      return;
    }
  }
}

std::vector<double> LinkModelFit::errors(std::span<const MeasuredTime> times) const {
  const cluster::Machine machine = machine_for(cluster_, engine_);
  std::vector<double> out;
  for (const MeasuredTime& time : times) {
    out.push_back(std::log(collective_s(time.call, machine, engine_.costs) / time.seconds));
  }
  return out;
}

std::vector<FittedConstant> LinkModelFit::constants() const {
  std::vector<FittedConstant> out;
  const std::vector<double> missed = errors(times_);
  const double scatter = std::sqrt(sum_of_squares(missed) / static_cast<double>(missed.size()));
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const double value = value_of(k, fit_.at[k]);
    const double deviation = std::sqrt(fit_.covariance[k][k]) * std::max(1.0, scatter / kOfATime);
    const double reach = std::exp(1.96 * std::min(deviation, kept_[k].prior));
    out.push_back({.name = kept_[k].name,
                   .value = value,
                   .before = kept_[k].before,
                   .interval = {std::max(value / reach, kept_[k].least), value * reach}});
  }
  return out;
}

std::vector<std::string> LinkModelFit::undetermined() const {
  std::vector<std::string> names;
  for (const ModelConstant& constant : constants_) {
    if (std::ranges::find(kept_, constant.name, &ModelConstant::name) == kept_.end()) {
      names.push_back(constant.name);
    }
  }
  return names;
}

void LinkModelFit::put(const std::vector<double>& at) {
  ClusterLink& link = fitted_link(of_.scope, cluster_);
  link = before_;
  for (std::size_t k = 0; k < at.size(); ++k) {
    kept_[k].put(link, value_of(k, at[k]));
  }
}

double LinkModelFit::value_of(std::size_t k, double logarithm) const {
  return std::max(kept_[k].before * std::exp(logarithm), kept_[k].least);
}

std::vector<bool> LinkModelFit::informed_at_prior(const stats::Residuals& residuals) const {
  constexpr double kStep = 1e-3;
  std::vector<double> at(kept_.size());
  at.front() = kept_.front().name == constants_.front().name ? fit_.at.front() : 0;
  const std::vector<double> before = residuals(at);
  std::vector<bool> informed;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    at[k] += kStep;
    std::vector<double> slopes = residuals(at);
    at[k] -= kStep;
    std::ranges::transform(slopes, before, slopes.begin(), std::minus<>());
    const double information = sum_of_squares(slopes) / (kStep * kStep);
    const double left = 1 / std::sqrt(1 + kept_[k].prior * kept_[k].prior * information);
    informed.push_back(left <= kMostLeft);
  }
  return informed;
}

double LinkModelFit::left_of(std::size_t k) const {
  return std::sqrt(fit_.covariance[k][k]) / kept_[k].prior;
}

std::vector<ModelConstant>::iterator LinkModelFit::least_known_constant() {
  auto found = kept_.end();
  double most = kMostLeft;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const double left = informed_[k] ? left_of(k) : 1;
    if (!kept_[k].needed && left > most) {
      most = left;
      found = kept_.begin() + static_cast<std::ptrdiff_t>(k);
    }
  }
  return found;
}

}  // namespace paceline::predict
