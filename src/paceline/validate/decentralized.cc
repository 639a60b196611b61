// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/decentralized.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/validate/fixed.h"
#include "paceline/validate/published_setup.h"

namespace paceline::validate {
namespace {

/// Horovod fuses; BlueFog sends parameters after the forward pass, fused, to
/// one peer.  How much each fuses is chosen by how well the cells are told.
std::string strategy_of(const std::string& algorithm, int machines) {
  if (algorithm == "horovod") {
    return fmt::format("fusion:bucket-mb={}", kCloudHorovodMebibytes);
  }
  const std::string fused =
      fmt::format("fusion:bucket-mb={}", kCloudFusedMebibytes);
  const std::string rest = "+awc:window=backward";
  if (algorithm == "neighbor_allreduce" || machines == 1) {
    return fused + "+neighbor-allreduce:topology=" +
           std::string(machines > 1 ? "inner-outer-exp" : "one-peer-exp") +
           rest;
  }
  return fused +
         "+hierarchical-neighbor-allreduce:topology="
         "one-peer-exp,style=leader" +
         rest;
}

}  // namespace

double DecentralizedModel::samples_per_s(const Cell& cell,
                                         const Constants& constants) {
  const int batch_size = cell.key[0] == "bf_full_benchmark2" ? 32 : 64;
  const bool text = cell.key[0] == "text";  // 4 devices a machine
  const int local = text ? 4 : 8;
  const int gpus = cell.gpus();
  const int machines = std::max(1, gpus / local);
  TimedNetwork& network = networks_[batch_size];
  if (network.profile.forward.empty()) {
    network = timed_network(
        "resnet50", batch_size, batch_size / bluefog_alone(batch_size));
  }
  simulator::Costs costs;
  costs.profile = network.profile;
  costs.machine.device = {.bytes_per_s = rate_of(kNvlink)};
  costs.machine.network = {
      .bytes_per_s = rate_of(constants[Constant::kCloudRingRate] * 1e9),
      .sharing = cluster::LinkSharing::kHost,
      .decline = std::min(1.0, constants[Constant::kCloudDecline])};
  const double message = constants[Constant::kCloudMessage] * 1e-3;
  costs.machine.fits = {
      {.operation = "message",
       .ranks = 2,
       .line =
           plan::line_of(message, 1 / (constants[Constant::kCloudRate] * 1e9)),
       .error_percent = {}}};
  costs.machine.interference.compute_under_transfer =
      std::min(1.0, constants[Constant::kCloudUnderTransfer]);
  if (machines > 1) {
    costs.software.message = plan::picoseconds_of(message);
    if (cell.key[1] != "horovod") {
      costs.software.collective_per_rank =
          plan::picoseconds_of(constants[Constant::kCloudPerRank] * 1e-6);
    }
  }
  const double step =
      plans_.step_seconds({.network = &network,
                           .hosts = machines,
                           .local = gpus / machines,
                           .strategy = strategy_of(cell.key[1], machines),
                           .steps = 8},
                          costs);
  return gpus * batch_size / step;
}

}  // namespace paceline::validate
