// SPDX-License-Identifier: Apache-2.0
#include "paceline/predict/collective_time.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "paceline/cluster/nccl_tuning.h"
#include "paceline/plan/wire_bytes.h"
#include "paceline/predict/engines.h"
#include "paceline/predict/link_calibration.h"

namespace paceline::predict {

double collective_s(const cluster::CollectiveCall& call, const cluster::Machine& machine,
                    const cluster::SoftwareCosts& software) {
  const bool included = cluster::measured_fit(call, machine) != nullptr ||
                        cluster::launch_is_calibrated(call.group.hosts > 1, machine);
  const plan::Picoseconds start = included ? 0
                                           : software.issue + software.collective +
                                                 call.group.ranks * software.collective_per_rank;
  return plan::seconds_of(
      start + cluster::alone(cluster::collective_cost(call, machine), call.group, machine));
}

double least_possible_s(const cluster::CollectiveCall& call, const cluster::Cluster& cluster) {
  cluster::Machine machine = cluster::machine_of(cluster, "");
  machine.link_rates_only = true;
  double least = INFINITY;
  for (const EngineCosts& engine : shipped_costs().engines) {
    machine.algorithm = engine.algorithm;
    least = std::min(least, collective_s(call, machine, {}));
  }
  return least;
}

namespace {

using cluster::CollectiveCall;

/// The measured times with which the model was compared: their sizes and numbers of ranks.
struct ComparedTimes {
  std::int64_t from_bytes = 0, to_bytes = 0;
  int least_ranks = 0, most_ranks = 0;
};

/// Returns by how many doublings or halvings the modelled time of the call differs from that of the
/// nearest compared size.
double doublings_of_time(const CollectiveCall& call, const ComparedTimes& compared,
                         const cluster::Machine& model, const EngineCosts& engine) {
  CollectiveCall nearest = call;
  nearest.bytes = std::clamp(call.bytes, compared.from_bytes, compared.to_bytes);
  return std::abs(std::log2(collective_s(call, model, engine.costs) /
                            collective_s(nearest, model, engine.costs)));
}

std::optional<double> log_error_of(std::optional<double> percent) {
  return percent ? std::optional(std::log1p(*percent / 100)) : std::nullopt;
}

}  // namespace

const cluster::LinkCalibration* calibration_of(const CollectiveCall& call,
                                               const cluster::Cluster& cluster,
                                               const EngineCosts& engine) {
  const cluster::ClusterLink* link = cluster.link(
      call.group.hosts > 1 ? cluster::LinkScope::kHosts : cluster::LinkScope::kDevices);
  if (link == nullptr || !link->calibration || link->calibration->engine != engine.name) {
    return nullptr;
  }
  const bool measured = std::ranges::any_of(link->fits, [&](const cluster::LinkFit& fit) {
    return fit.operation == plan::name_of(call.pattern) && fit.engine == engine.name;
  });
  return measured ? &*link->calibration : nullptr;
}

std::optional<double> error_of_collective(const CollectiveCall& call,
                                          const cluster::Cluster& cluster,
                                          const EngineCosts& engine,
                                          const cluster::Machine& model) {
  const cluster::LinkCalibration* calibration = calibration_of(call, cluster, engine);
  std::optional<double> published, own, of_ranks;
  ComparedTimes compared;
  if (cluster::uses_nccl_model(engine.algorithm)) {
    const cluster::NcclModelError& error = cluster::nccl_model_error(call.group.hosts > 1);
    published = error.of(call.bytes);
    own = published;
    of_ranks = published;
    compared = {.from_bytes = error.from_bytes,
                .to_bytes = error.to_bytes,
                .least_ranks = error.least_ranks,
                .most_ranks = error.most_ranks};
  }
  if (calibration != nullptr) {
    own = calibration->error_percent ? log_error_of(calibration->error_percent) : own;
    of_ranks =
        calibration->doubling_percent ? log_error_of(calibration->doubling_percent) : of_ranks;
    const auto [least, most] = std::ranges::minmax(calibration->ranks);
    compared = {.from_bytes = calibration->from_bytes,
                .to_bytes = calibration->to_bytes,
                .least_ranks = least,
                .most_ranks = most};
  }
  if (!own) {
    return std::nullopt;
  }
  const double sizes = doublings_of_time(call, compared, model, engine);
  const double ranks = doublings(call.group.ranks, compared.least_ranks, compared.most_ranks);
  if ((sizes > 0 && !published) || (ranks > 0 && !of_ranks)) {
    return std::nullopt;
  }
  const auto square = [](std::optional<double> value) { return value ? *value * *value : 0; };
  return std::sqrt(square(own) + square(published) * sizes + square(of_ranks) * ranks);
}

}  // namespace paceline::predict
