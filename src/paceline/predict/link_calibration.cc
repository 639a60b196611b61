// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/link_calibration.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/collective_time.h"
#include "paceline/predict/link_model_fit.h"
#include "paceline/stats/distribution.h"

namespace paceline::predict {
namespace {

using cluster::LinkScope;

/// The largest factor by which the fitted model may differ from the measured times (root mean
/// square).  Beyond it the fit is rejected.
constexpr double kMostMissed = 1.5;
constexpr double kLevel = 0.9;

void check_rate(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                const cluster::Cluster& cluster) {
  if (!of.rate_is_given) {
    return;
  }
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
  if (of.rate_is_given && missed > std::log(kMostMissed)) {
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
    const double published =
        cluster::nccl_model_error(of.scope == LinkScope::kHosts).from_2_mib / kNineOfTen;
    return percent_of(kNineOfTen * std::sqrt((variance + published * published) / (worlds + 1)));
  }
  return percent_of(stats::student_t_quantile(kLevel, worlds) * std::sqrt(variance / worlds));
}

}  // namespace

CalibratedLink calibrate_link(const LinkToCalibrate& of, std::span<const MeasuredTime> times,
                              cluster::Cluster& cluster) {
  const cluster::Cluster before = cluster;
  check_rate(of, times, cluster);
  LinkModelFit fit(of, times, cluster);
  fit.fit();
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
  cluster::LinkCalibration& calibration = *fitted_link(of.scope, cluster).calibration;
  const auto [least, most] =
      std::ranges::minmax(times, {}, [](const MeasuredTime& time) { return time.call.bytes; });
  calibration.from_bytes = least.call.bytes;
  calibration.to_bytes = most.call.bytes;
  calibration.ranks = ranks_of(times);
  const auto free = static_cast<int>(times.size()) - static_cast<int>(found.constants.size());
  if (free > 0) {
    calibration.error_percent = percent_of(stats::student_t_quantile(kLevel, free) *
                                           std::sqrt(sum_of_squares(errors) / free));
  }
  calibration.doubling_percent = doubling_percent(of, times, before);
  return found;
}

}  // namespace paceline::predict
