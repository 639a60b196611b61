// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/link_calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/alpha_beta.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_time.h"
#include "paceline/predict/request_costs.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/prior_fit.h"

namespace paceline::predict {
namespace {

using cluster::ClusterLink;
using cluster::LinkScope;

// Standard deviations of logarithms: of a rate that was given or is unknown, and of a latency,
// before anything is measured; and of a measured time around the model.
constexpr double kGivenRateDeviation = 0.35, kUnknownRateDeviation = 1.5;
constexpr double kOfALatency = 1, kOfATime = 0.1;
/// A constant is determined if the fit reduces its standard deviation to at most this share.
constexpr double kMaxRemainingDeviation = 0.5;
constexpr double kMicroseconds = 1e-6;

/// A fitted model that differs from the times by a larger factor (root mean square) is rejected.
constexpr double kMaxErrorFactor = 1.5;
constexpr double kLevel = 0.9;

/// Returns the link of the scope, which the cluster has.
ClusterLink& fitted_link(LinkScope scope, cluster::Cluster& cluster) {
  return *std::ranges::find(cluster.links, scope, &ClusterLink::scope);
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

/// A constant of the model, whose logarithm is fitted.
struct ModelConstant {
  std::string name;
  double before = 0;    // value before the fit, in SI units
  double prior = 0;     // prior standard deviation of the logarithm
  bool needed = false;  // whether the link has no value unless this is fitted
  double least = 0;     // lower bound of the value, in SI units
  void (*put)(cluster::ClusterLink& link, double value) = nullptr;
};

plan::Picoseconds at_most_1_s(double seconds) {
  return plan::picoseconds_of(std::min(1.0, seconds));
}

/// Returns the lowest link rate, in bytes/s, at which any algorithm takes the measured time.
double least_rate(const LinkToCalibrate& of, const MeasuredTime& time, cluster::Cluster cluster) {
  constexpr double kSlow = 1e6;  // bytes/s; so slow that the other link's rate does not matter
  fitted_link(of.scope, cluster).bytes_per_s = kSlow;
  return kSlow * least_possible_s(time.call, cluster) / time.seconds;
}

std::vector<ModelConstant> constants_of(const LinkToCalibrate& of, const cluster::Cluster& cluster,
                                        const EngineCosts& engine, double least) {
  const ClusterLink& link = *cluster.link(of.scope);
  std::vector<ModelConstant> constants{
      {.name = "rate",
       .before = link.bytes_per_s,
       .prior = of.rate_is_given ? kGivenRateDeviation : kUnknownRateDeviation,
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
        .prior = kGivenRateDeviation,
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
      const std::vector<double> off = residuals(trial);
      sum = std::inner_product(off.begin(), off.end(), off.begin(), sum);
      if (sum < least) {
        least = sum;
        best = trial;
      }
    }
  }
  return best;
}

/// A fit of the constants of the engine's model to measured times on one link (calibrate_link).
class LinkModelFit {
 public:
  /// Removes the fits and the calibration of the link from `cluster`, which lives longer.
  LinkModelFit(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
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

  /// Puts the constants that the times determine into the link.
  void fit() {
    const stats::Residuals residuals = [&](const std::vector<double>& at) {
      put(at);
      std::vector<double> out = errors(times_);
      for (double& error : out) {
        error /= kOfATime;
      }
      return out;
    };
    kept_ = constants_;
    while (!kept_.empty()) {
      std::vector<double> prior;
      std::ranges::transform(kept_, std::back_inserter(prior), &ModelConstant::prior);
      std::vector<double> at =
          stats::fit_with_priors(residuals, prior, best_start(residuals, prior)).at;
      at.front() = std::log(value_of(0, at.front()) / kept_.front().before);
      fit_ = stats::posterior_at(residuals, prior, at);
      rate_is_known_ |= kept_.size() == constants_.size() &&
                        remaining_deviation_ratio(0) <= kMaxRemainingDeviation;
      const auto least_known = least_known_constant(residuals);
      put(fit_.at);
      if (least_known == kept_.end()) {
        return;
      }
      kept_.erase(least_known);
    }
    fit_ = {};
    put({});
  }

  /// Returns the logarithm of the modelled over the measured time, for each time.
  std::vector<double> errors(std::span<const MeasuredTime> times) const {
    const cluster::Machine machine = machine_for(cluster_, engine_);
    std::vector<double> out;
    for (const MeasuredTime& time : times) {
      out.push_back(std::log(collective_s(time.call, machine, engine_.costs) / time.seconds));
    }
    return out;
  }

  /// Whether the times determine the rate, or its achieved share, even if no other constant is
  /// known.
  bool rate_is_known() const { return rate_is_known_; }

  /// Adds the constants that the times determine, and the names of the others.
  void put_constants(CalibratedLink& out) const {
    const std::vector<double> missed = errors(times_);
    const double scatter = std::sqrt(sum_of_squares(missed) / static_cast<double>(missed.size()));
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const double value = value_of(k, fit_.at[k]);
      const double deviation = std::sqrt(fit_.covariance[k][k]) * std::max(1.0, scatter / kOfATime);
      const double reach = std::exp(1.96 * std::min(deviation, kept_[k].prior));
      out.constants.push_back(
          {.name = kept_[k].name,
           .value = value,
           .before = kept_[k].before,
           .interval = {std::max(value / reach, kept_[k].least), value * reach}});
    }
    for (const ModelConstant& constant : constants_) {
      if (std::ranges::find(kept_, constant.name, &ModelConstant::name) == kept_.end()) {
        out.undetermined.push_back(constant.name);
      }
    }
  }

 private:
  void put(const std::vector<double>& at) {
    ClusterLink& link = fitted_link(of_.scope, cluster_);
    link = before_;
    for (std::size_t k = 0; k < at.size(); ++k) {
      kept_[k].put(link, value_of(k, at[k]));
    }
  }

  double value_of(std::size_t k, double logarithm) const {
    return std::max(kept_[k].before * std::exp(logarithm), kept_[k].least);
  }

  /// Returns the share of constant `k`'s prior standard deviation that is left after the fit.
  double remaining_deviation_ratio(std::size_t k) const {
    return std::sqrt(fit_.covariance[k][k]) / kept_[k].prior;
  }

  /// Returns the constant that the times determine least; the end if they determine all.  Times
  /// that do not inform about a constant if the latencies are those before the times say nothing of
  /// it: a latency that is small beside all of them only makes up for what the model lacks.
  std::vector<ModelConstant>::iterator least_known_constant(const stats::Residuals& residuals) {
    constexpr double kStep = 1e-3;
    std::vector<double> at(kept_.size());
    at.front() = kept_.front().name == constants_.front().name ? fit_.at.front() : 0;
    const std::vector<double> before = residuals(at);
    auto found = kept_.end();
    double most = kMaxRemainingDeviation;
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      at[k] += kStep;
      std::vector<double> slopes = residuals(at);
      at[k] -= kStep;
      std::ranges::transform(slopes, before, slopes.begin(), std::minus<>());
      const double information = sum_of_squares(slopes) / (kStep * kStep);
      const double at_prior = 1 / std::sqrt(1 + kept_[k].prior * kept_[k].prior * information);
      const double left = at_prior <= kMaxRemainingDeviation ? remaining_deviation_ratio(k) : 1;
      if (!kept_[k].needed && left > most) {
        most = left;
        found = kept_.begin() + static_cast<std::ptrdiff_t>(k);
      }
    }
    return found;
  }

  LinkToCalibrate of_;
  std::span<const MeasuredTime> times_;
  cluster::Cluster& cluster_;
  const EngineCosts& engine_;
  ClusterLink before_;
  std::vector<ModelConstant> constants_, kept_;
  stats::PriorFit fit_;
  bool rate_is_known_ = false;
};

void check_rate(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                const cluster::Cluster& cluster) {
  constexpr double kRounding = 1.01;
  for (const MeasuredTime& time : times) {
    const double least = least_possible_s(time.call, cluster);
    if (least > time.seconds * kRounding) {
      throw UsageError(fmt::format(
          "{} of {} B among {} ranks took {:.4g} us, and the rates of the links alone need {:.4g} "
          "us: an efficiency of {:.3g}, which is at most 1; check the rate of link '{}', {:.4g} "
          "GB/s",
          plan::name_of(time.call.pattern), time.call.bytes, time.call.group.ranks,
          time.seconds * 1e6, least * 1e6, least / time.seconds, cluster.link(of.scope)->name,
          cluster.link(of.scope)->bytes_per_s * 1e-9));
    }
  }
}

/// Throws UsageError if the times do not determine the rate of the link, or if the fitted model
/// does not reproduce them.  `errors` are the logarithms of modelled over measured times.
void check_fit(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
               const LinkModelFit& fit, const std::vector<double>& errors,
               const std::string& link) {
  if (!of.rate_is_given && !fit.rate_is_known()) {
    throw UsageError(
        fmt::format("the times do not determine the rate of link '{}'; give it with --cluster, or "
                    "times of larger sizes",
                    link));
  }
  const double missed = std::sqrt(sum_of_squares(errors) / static_cast<double>(errors.size()));
  if (of.rate_is_given && missed > std::log(kMaxErrorFactor)) {
    const auto worst =
        std::ranges::max_element(errors, {}, [](double error) { return std::abs(error); });
    const MeasuredTime& time = times[static_cast<std::size_t>(worst - errors.begin())];
    throw UsageError(fmt::format(
        "engine {}'s model does not give the times of link '{}': {} of {} B among {} ranks took "
        "{:.4g} us, and its best constants give {:.4g} us; check the hosts, the device and the "
        "links, which --cluster describes",
        of.engine, link, plan::name_of(time.call.pattern), time.call.bytes, time.call.group.ranks,
        time.seconds * 1e6, time.seconds * std::exp(*worst) * 1e6));
  }
}

/// Returns the distinct numbers of ranks in ascending order.
std::vector<int> ranks_of(std::span<const MeasuredTime> times) {
  std::set<int> ranks;
  for (const MeasuredTime& time : times) {
    ranks.insert(time.call.group.ranks);
  }
  return {ranks.begin(), ranks.end()};
}

/// Returns the error that each doubling of the ranks adds, by cross-validation: each number of
/// ranks is predicted from the other numbers of ranks.  The error on published times counts as one
/// more sample.  `cluster` is as it was before anything was fitted on the link.
std::optional<double> doubling_percent(const LinkToCalibrate& of,
                                       std::span<const MeasuredTime> times,
                                       const cluster::Cluster& cluster) {
  double variance = 0;
  int worlds = 0;
  for (const int ranks : ranks_of(times)) {
    std::vector<MeasuredTime> left_out, others;
    for (const MeasuredTime& time : times) {
      (time.call.group.ranks == ranks ? left_out : others).push_back(time);
    }
    const std::vector<int> known = ranks_of(others);
    const double distance = known.empty() ? 0 : doublings(ranks, known.front(), known.back());
    if (distance > 0) {
      cluster::Cluster without = cluster;
      LinkModelFit fit(of, others, without);
      fit.fit();
      variance +=
          sum_of_squares(fit.errors(left_out)) / (static_cast<double>(left_out.size()) * distance);
      ++worlds;
    }
  }
  if (worlds == 0) {
    return std::nullopt;
  }
  if (cluster::uses_nccl_model(engine_costs_named(of.engine).algorithm)) {
    const double published = cluster::nccl_model_error(of.scope == LinkScope::kHosts).from_2_mib /
                             kDeviationsOf90Percent;
    return 100 * std::expm1(kDeviationsOf90Percent *
                            std::sqrt((variance + published * published) / (worlds + 1)));
  }
  return 100 * std::expm1(stats::student_t_quantile(kLevel, worlds) * std::sqrt(variance / worlds));
}

}  // namespace

CalibratedLink calibrate_link(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                              cluster::Cluster& cluster) {
  const cluster::Cluster before = cluster;
  if (of.rate_is_given) {
    check_rate(of, times, cluster);
  }
  LinkModelFit fit(of, times, cluster);
  fit.fit();
  const std::vector<double> errors = fit.errors(times);
  check_fit(of, times, fit, errors, cluster.link(of.scope)->name);
  CalibratedLink found{.name = cluster.link(of.scope)->name, .points = times.size()};
  fit.put_constants(found);
  for (const double error : errors) {
    const double share = std::abs(std::expm1(error));
    found.mean_error += share / static_cast<double>(times.size());
    found.worst_error = std::max(found.worst_error, share);
  }
  cluster::LinkCalibration& calibration = *fitted_link(of.scope, cluster).calibration;
  const auto [least, most] =
      std::ranges::minmax(times, {}, [](const MeasuredTime& time) { return time.call.bytes; });
  calibration.from_bytes = least.call.bytes;
  calibration.to_bytes = most.call.bytes;
  calibration.ranks = ranks_of(times);
  const auto free = static_cast<int>(times.size()) - static_cast<int>(found.constants.size());
  if (free > 0) {
    calibration.error_percent = 100 * std::expm1(stats::student_t_quantile(kLevel, free) *
                                                 std::sqrt(sum_of_squares(errors) / free));
  }
  calibration.doubling_percent = doubling_percent(of, times, before);
  return found;
}

}  // namespace paceline::predict
