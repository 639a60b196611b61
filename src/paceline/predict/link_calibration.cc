// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/link_calibration.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/request_costs.h"
#include "paceline/stats/distribution.h"
#include "paceline/stats/prior_fit.h"

namespace paceline::predict {
namespace {

using cluster::ClusterLink;
using cluster::LinkScope;

// Standard deviations of logarithms: of the constants before anything is measured, and of a
// measured time around the model.
constexpr double kOfGivenRate = 0.35, kOfUnknownRate = 1.5;
constexpr double kOfALatency = 1, kOfATime = 0.1;
/// A constant is determined if the fit leaves at most this share of its standard deviation.
constexpr double kMostLeft = 0.5;
/// The model is not what was measured where it is further from the times (root mean square).
constexpr double kMostMissed = 1.5;
constexpr double kLevel = 0.9;
constexpr double kMicroseconds = 1e-6;

/// A constant of the model, whose logarithm is fitted.
struct Constant {
  std::string name;
  double before = 0;    // SI
  double prior = 0;     // standard deviation of the logarithm
  bool needed = false;  // the link has no value without it
  void (*put)(ClusterLink& link, double value) = nullptr;
};

plan::Picoseconds at_most_1_s(double seconds) {
  return plan::picoseconds_of(std::min(1.0, seconds));
}

ClusterLink& link_of(LinkScope scope, cluster::Cluster& cluster) {
  return *std::ranges::find(cluster.links, scope, &ClusterLink::scope);
}

std::vector<Constant> constants_of(const LinkToCalibrate& of, const cluster::Cluster& cluster,
                                   const EngineCosts& engine) {
  const ClusterLink& link = *cluster.link(of.scope);
  std::vector<Constant> constants{{.name = "rate",
                                   .before = link.bytes_per_s,
                                   .prior = of.rate_is_given ? kOfGivenRate : kOfUnknownRate,
                                   .needed = true,
                                   .put = [](auto& to, double rate) { to.bytes_per_s = rate; }}};
  if (!cluster::runs_nccl(engine.algorithm)) {
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

class LinkModelFit {
 public:
  LinkModelFit(const LinkToCalibrate& of, cluster::Cluster& cluster)
      : of_(of), cluster_(cluster), engine_(engine_costs_named(of.engine)) {
    ClusterLink& link = link_of(of_.scope, cluster_);
    link.fits.clear();
    link.calibration.reset();
    constants_ = constants_of(of_, cluster_, engine_);
    link.calibration = cluster::LinkCalibration{.engine = of_.engine};
    before_ = link;
  }

  /// Puts the constants that the times determine into the link.
  void fit(std::span<const MeasuredTime> times) {
    kept_ = constants_;
    for (;;) {
      const stats::Residuals residuals = [&](const std::vector<double>& at) {
        put(at);
        std::vector<double> out = errors(times);
        for (double& error : out) {
          error /= kOfATime;
        }
        return out;
      };
      std::vector<double> prior;
      std::ranges::transform(kept_, std::back_inserter(prior), &Constant::prior);
      fit_ = stats::fit_with_priors(residuals, prior, best_start(residuals, prior));
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

  /// Returns the logarithm of the modelled over the measured time, for each time.
  std::vector<double> errors(std::span<const MeasuredTime> times) const {
    const cluster::Machine machine = machine_for(cluster_, engine_);
    std::vector<double> out;
    for (const MeasuredTime& time : times) {
      out.push_back(std::log(collective_s(time.call, machine, engine_.costs) / time.seconds));
    }
    return out;
  }

  /// Whether the times determine the rate or its share if every other constant is unknown, too.
  bool rate_is_known() const { return rate_is_known_; }

  std::vector<FittedConstant> constants() const {
    std::vector<FittedConstant> out;
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      const double value = kept_[k].before * std::exp(fit_.at[k]);
      const double reach = std::exp(1.96 * std::sqrt(fit_.covariance[k][k]));
      out.push_back({.name = kept_[k].name,
                     .value = value,
                     .before = kept_[k].before,
                     .interval = {value / reach, value * reach}});
    }
    return out;
  }

  std::vector<std::string> undetermined() const {
    std::vector<std::string> names;
    for (const Constant& constant : constants_) {
      if (std::ranges::find(kept_, constant.name, &Constant::name) == kept_.end()) {
        names.push_back(constant.name);
      }
    }
    return names;
  }

 private:
  void put(const std::vector<double>& at) {
    ClusterLink& link = link_of(of_.scope, cluster_);
    link = before_;
    for (std::size_t k = 0; k < at.size(); ++k) {
      kept_[k].put(link, kept_[k].before * std::exp(at[k]));
    }
  }

  /// Of the standard deviation before the times.
  double left_of(std::size_t k) const { return std::sqrt(fit_.covariance[k][k]) / kept_[k].prior; }

  std::vector<Constant>::iterator least_known_constant() {
    auto found = kept_.end();
    double most = kMostLeft;
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      if (!kept_[k].needed && left_of(k) > most) {
        most = left_of(k);
        found = kept_.begin() + static_cast<std::ptrdiff_t>(k);
      }
    }
    return found;
  }

  LinkToCalibrate of_;
  cluster::Cluster& cluster_;
  const EngineCosts& engine_;
  ClusterLink before_;
  std::vector<Constant> constants_, kept_;
  stats::PriorFit fit_;
  bool rate_is_known_ = false;
};

void check_rate(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                const cluster::Cluster& cluster) {
  if (!of.rate_is_given) {
    return;
  }
  constexpr double kRounding = 1.01;
  cluster::Machine machine = machine_for(cluster, engine_costs_named(of.engine));
  machine.link_rates_only = true;
  for (const MeasuredTime& time : times) {
    const double least = collective_s(time.call, machine, {});
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

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value * value;
  }
  return sum;
}

/// Throws UsageError where constants were fitted that do not give the times: `errors` are those of
/// the model.
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
  if (missed > std::log(kMostMissed)) {
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

double percent_of(double reach) { return 100 * std::expm1(reach); }

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
    if (others.empty()) {
      continue;
    }
    const std::vector<int> known = ranks_of(others);
    const double distance = doublings(ranks, known.front(), known.back());
    if (distance > 0) {
      cluster::Cluster without = cluster;
      LinkModelFit fit(of, without);
      fit.fit(others);
      variance +=
          sum_of_squares(fit.errors(left_out)) / (static_cast<double>(left_out.size()) * distance);
      ++worlds;
    }
  }
  if (worlds == 0) {
    return std::nullopt;
  }
  if (cluster::runs_nccl(engine_costs_named(of.engine).algorithm)) {
    const double published =
        cluster::nccl_model_error(of.scope == LinkScope::kHosts).from_2_mib / kNineOfTen;
    return percent_of(kNineOfTen * std::sqrt((variance + published * published) / (worlds + 1)));
  }
  return percent_of(stats::student_t_quantile(kLevel, worlds) * std::sqrt(variance / worlds));
}

void put_measured_range(std::span<const MeasuredTime> times,
                        cluster::LinkCalibration& calibration) {
  const auto [least, most] =
      std::ranges::minmax(times, {}, [](const MeasuredTime& time) { return time.call.bytes; });
  calibration.from_bytes = least.call.bytes;
  calibration.to_bytes = most.call.bytes;
  calibration.ranks = ranks_of(times);
}

}  // namespace

double doublings(double value, double least, double most) {
  return std::max({0.0, std::log2(value / most), std::log2(least / value)});
}

double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software) {
  const bool included = cluster::measured_fit(call, machine) != nullptr ||
                        cluster::launch_is_calibrated(call.group.hosts > 1, machine);
  const plan::Picoseconds start = included ? 0
                                           : software.issue + software.collective +
                                                 call.group.ranks * software.collective_per_rank;
  return plan::seconds_of(start +
                          cluster::alone(cluster::staged_cost(call, machine), call.group, machine));
}

double ideal_s(const cluster::CollectiveCall& call, const cluster::Cluster& cluster) {
  cluster::Machine machine = cluster::machine_of(cluster, "");
  machine.link_rates_only = true;
  double least = INFINITY;
  for (const EngineCosts& engine : shipped_costs().engines) {
    machine.algorithm = engine.algorithm;
    least = std::min(least, collective_s(call, machine, {}));
  }
  return least;
}

CalibratedLink calibrate_link(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                              cluster::Cluster& cluster) {
  const cluster::Cluster before = cluster;
  LinkModelFit fit(of, cluster);
  check_rate(of, times, cluster);
  fit.fit(times);
  const std::vector<double> errors = fit.errors(times);
  check_fit(of, times, fit, errors, cluster.link(of.scope)->name);
  CalibratedLink found{.name = cluster.link(of.scope)->name,
                       .constants = fit.constants(),
                       .undetermined = fit.undetermined(),
                       .points = times.size()};
  for (const double error : errors) {
    const double share = std::abs(std::expm1(error));
    found.mean_error += share / static_cast<double>(times.size());
    found.worst_error = std::max(found.worst_error, share);
  }
  cluster::LinkCalibration& calibration = *link_of(of.scope, cluster).calibration;
  put_measured_range(times, calibration);
  const auto free = static_cast<int>(times.size()) - static_cast<int>(found.constants.size());
  if (free > 0) {
    calibration.error_percent = percent_of(stats::student_t_quantile(kLevel, free) *
                                           std::sqrt(sum_of_squares(errors) / free));
  }
  calibration.doubling_percent = doubling_percent(of, times, before);
  return found;
}

}  // namespace paceline::predict
