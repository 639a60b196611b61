// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/predict/engine_choice.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/measured_fit.h"
#include "paceline/predict/profile_batches.h"
#include "paceline/predict/roofline.h"

// Computes the step time that given values of the unknowns predict.

namespace paceline::predict {
namespace {

constexpr double kLongestTime = 100;  // seconds; the longest time that a search may try
constexpr double kStartOfKernel = 5e-6;
constexpr double kMaxFixedShare = 0.5;  // as a share of a measured step

std::int64_t rate_from(double bytes_per_s) {
  return std::llround(
      std::clamp(bytes_per_s, 1.0, static_cast<double>(cluster::kMostBytesPerSecond)));
}

/// Returns hosts like the cluster's first one, with `ranks_per_host` slots.
std::vector<cluster::ClusterHost> hosts_of(const std::vector<int>& ranks_per_host,
                                           const cluster::Cluster& cluster) {
  std::vector<cluster::ClusterHost> hosts;
  for (const int ranks : ranks_per_host) {
    hosts.push_back({.name = fmt::format("host{}", hosts.size()),
                     .slots = ranks,
                     .interface = {},
                     .memory_bytes = cluster.hosts.empty() ? std::nullopt
                                                           : cluster.hosts.front().memory_bytes});
  }
  return hosts;
}

}  // namespace

PredictRequest MeasuredFit::request_of(const MeasuredFigure& figure) const {
  PredictRequest request = job_;
  request.ranks = figure.ranks;
  request.batch_size = figure.batch_size;
  request.accumulate = figure.accumulate;
  request.bucket_mb = figure.bucket_mb.value_or(request.bucket_mb);
  request.planned_by = figure.planned_by;
  if (!figure.strategy.empty()) {
    request.strategy = figure.strategy;
  }
  if (!figure.ranks_per_host.empty()) {
    request.cluster.hosts = hosts_of(figure.ranks_per_host, job_.cluster);
  } else if (request.cluster.hosts.empty()) {
    request.cluster.hosts = hosts_of({figure.ranks}, job_.cluster);
  }
  return request;
}

PredictRequest MeasuredFit::without_fitted_costs(const MeasuredFigure& figure) const {
  PredictRequest request = request_of(figure);
  if (!described_) {
    request.machine = cluster::Machine{};
  }
  return request;
}

/// Returns the seconds that do not change with the batch: the update, and the start of each
/// module's kernels.
double MeasuredFit::fixed_s() const {
  const double kernels = (1 + job_.cost_table().roofline.backward_per_forward) *
                         static_cast<double>(job_.network.model.modules.size());
  return update_seconds_of(without_fitted_costs(checked_.front().figure)) +
         kStartOfKernel * kernels;
}

double MeasuredFit::seconds_at_batch(double measured_s, int measured, int batch_size) const {
  double ratio = static_cast<double>(batch_size) / measured;
  if (!job_.network.work.empty()) {
    const RooflineOptions options =
        roofline_of(job_.cluster.device, job_.cost_table().roofline, job_.network.model.dtype);
    const auto total = [&](int batch) {
      const plan::LayerProfile profile = roofline_profile(job_.network, batch, options);
      return static_cast<double>(profile.forward_total() + profile.backward_total());
    };
    ratio = total(batch_size) / total(measured);
  }
  const double fixed = std::min(fixed_s_, kMaxFixedShare * measured_s);
  return fixed + (measured_s - fixed) * ratio;
}

double MeasuredFit::one_device_s(int batch_size, const Values& at) const {
  const double least = compute_guess_s_ * std::exp(value(Unknown::kCompute, at));
  if (most_batch_ == least_batch_) {
    return batch_size == least_batch_ ? least : seconds_at_batch(least, least_batch_, batch_size);
  }
  const double most = compute_guess_s_ * std::exp(value(Unknown::kComputeOfMore, at));
  return interpolated_time({least_batch_, least}, {most_batch_, most}, batch_size);
}

double MeasuredFit::compute_slowdown_of(const MeasuredFigure& figure) const {
  if (!figure.compute_only_s || figure.ranks == 1) {
    return 1;
  }
  for (const CheckedFigure& it : checked_) {
    if (it.figure.batch_size == figure.batch_size && it.figure.accumulate == figure.accumulate &&
        (it.figure.ranks == 1 || it.figure.compute_only_s)) {
      const double alone = it.figure.ranks == 1 ? *it.figure.step_s : *it.figure.compute_only_s;
      return *figure.compute_only_s / alone;
    }
  }
  return 1;
}

/// Returns whether over a tenth of the measured step may be communication on the described network.
/// Such a measurement determines compute no better than the network's rates are known.
bool MeasuredFit::waits_for_network(const MeasuredFigure& figure) const {
  PredictRequest request = without_fitted_costs(figure);
  request.samples_per_s = figure.batch_size / *figure.step_s;
  constexpr double kMuch = 0.1;
  try {
    const Prediction prediction = predict(request);
    return plan::seconds_of(prediction.exposed()) > kMuch * *figure.step_s;
  } catch (const UsageError&) {
    return true;  // the update alone takes longer than the step
  }
}

void MeasuredFit::set_machine(const Values& at, PredictRequest& request) const {
  cluster::Machine machine;
  machine.network.sharing = cluster::LinkSharing::kHost;
  machine.device.sharing = link_sharing_;
  machine.algorithm = job_.cost_table().engine(engine_of(job_.engine, job_.cluster)).algorithm;
  const auto rate = [&](Unknown unknown) {
    return rate_from(kUsualRate * std::exp(value(unknown, at)));
  };
  // A link over which no measured job communicates is taken to be like the other link.
  machine.network.bytes_per_s =
      rate(fits(Unknown::kNetworkRate) ? Unknown::kNetworkRate : Unknown::kDeviceRate);
  machine.device.bytes_per_s =
      rate(fits(Unknown::kDeviceRate) ? Unknown::kDeviceRate : Unknown::kNetworkRate);
  machine.network.latency = machine.device.latency = plan::picoseconds_of(
      std::min(kLongestTime, kUsualLatency * std::exp(value(Unknown::kLatency, at))));
  request.machine = machine;
}

PredictRequest MeasuredFit::priced(PredictRequest request, const Values& at,
                                   double crowding) const {
  request.batch_size = batch_size_of(request);
  const int micro_batch = std::max(1, request.batch_size / request.accumulate);
  const double shared =
      std::exp(value(Unknown::kHostShare, at) * std::log2(most_ranks_on_a_host(request)));
  request.samples_per_s = micro_batch / (crowding * shared * one_device_s(micro_batch, at));
  request.micro_batches_of_measured_rate = 1;
  request.measured.collective =
      plan::picoseconds_of(std::min(kLongestTime, std::abs(value(Unknown::kStart, at))));
  if (value(Unknown::kStart, at) < 0) {
    request.measured.collective = -request.measured.collective;
  }
  if (fits(Unknown::kSlowdown)) {
    request.measured.slowdown = kUsualSlowdown * std::exp(value(Unknown::kSlowdown, at));
  }
  if (described_) {
    request.measured.network_share = std::exp(value(Unknown::kNetworkRate, at));
    request.measured.device_share = std::exp(value(Unknown::kDeviceRate, at));
  } else {
    set_machine(at, request);
  }
  return request;
}

/// Returns hosts with as many ranks each as in the measured jobs; one host if all of these ran on
/// one host.
std::vector<int> MeasuredFit::hosts_of_measured_size(plan::Rank ranks) const {
  int ranks_on_fullest_host = 0;
  for (const CheckedFigure& it : checked_) {
    const auto& local = it.figure.ranks_per_host;
    if (local.size() > 1) {
      ranks_on_fullest_host = std::max(ranks_on_fullest_host, std::ranges::max(local));
    }
  }
  std::vector<int> ranks_per_host;
  for (plan::Rank left = ranks; left > 0; left -= ranks_per_host.back()) {
    ranks_per_host.push_back(ranks_on_fullest_host > 0 ? std::min(ranks_on_fullest_host, left)
                                                       : left);
  }
  return ranks_per_host;
}

PredictRequest MeasuredFit::priced(PredictRequest request) const {
  if (request.cluster.hosts.empty()) {
    request.cluster.hosts = hosts_of(hosts_of_measured_size(request.ranks), job_.cluster);
  }
  const double crowding = request.ranks > 1 ? compute_slowdown_ : 1;
  return priced(std::move(request), at_, crowding);
}

double MeasuredFit::simulated_s(const MeasuredFigure& figure, const Values& at) const {
  return plan::seconds_of(
      step_of(priced(request_of(figure), at, compute_slowdown_of(figure))).step);
}

}  // namespace paceline::predict
