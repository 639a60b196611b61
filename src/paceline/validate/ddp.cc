// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/ddp.h"

#include <cmath>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/stats/order_statistics.h"
#include "paceline/validate/fixed.h"

namespace paceline::validate {
namespace {

constexpr int kBatch = 32;

/// NCCL inside a DGX-1: bus bandwidth.
double nvlink(int local) {
  return local <= 2 ? kNvlink2 : local <= 4 ? kNvlink4 : kNvlink;
}

/// By what share a percentile of the pooled samples exceeds the median.
/// benchmark.py times 10 steps on every rank; ranks wait for each other, so a
/// step is as slow on all, and what differs are the 10 steps: by `noise`, and
/// the slowest by `late` more.  Percentiles are numpy's: linear between the
/// nearest two samples.
double excess(int percentile, int world, double noise, double late) {
  const double place = 0.01 * percentile * (kMeasuredSteps * world - 1);
  const auto at = [&](double sample) {
    const int rank = 1 + static_cast<int>(sample) / world;
    return noise * stats::normal_order_statistic(rank, kMeasuredSteps) +
           (rank == kMeasuredSteps ? late : 0);
  };
  const double below = std::floor(place);
  return std::lerp(at(below), at(below + 1), place - below);
}

int percentile_of(const Cell& cell) {
  return std::stoi(cell.key.back().substr(1));
}

}  // namespace

bool DdpModel::is_input(const Cell& cell) {
  return cell.table == Table::kDdp && cell.key[1] == "no ddp" &&
         cell.key[2] == "p50";
}

DdpModel::DdpModel(const std::vector<Cell>& cells) {
  for (const Cell& cell : cells) {
    if (is_input(cell) && cell.published.has_value()) {
      const double seconds = kBatch / *cell.published;
      alone_[cell.key[0]] = {seconds,
                             timed_network(cell.key[0], kBatch, seconds)};
    }
  }
}

const DdpModel::Alone& DdpModel::alone(const std::string& model) const {
  const auto found = alone_.find(model);
  if (found == alone_.end()) {
    throw UsageError(fmt::format(
        "pytorch_ddp.csv has no row '{}|no ddp|p50', which the rest "
        "of the model's rows are predicted from",
        model));
  }
  return found->second;
}

double DdpModel::median_seconds(const std::string& model,
                                int machines,
                                int local,
                                double bucket_mb,
                                const Constants& constants) {
  const TimedNetwork& network = alone(model).network;
  const int world = machines * local;
  simulator::Costs costs;
  costs.profile = network.profile;
  const double hook = constants[Constant::kDdpHook] * 1e-6;
  const double copy = constants[Constant::kDdpCopyRate] * 1e9;
  for (std::size_t p = 0; p < costs.profile.backward.size(); ++p) {
    const auto bytes =
        static_cast<double>(4 * network.shape.model.parameters[p].elements);
    costs.profile.backward[p] += plan::picoseconds_of(hook + bytes / copy);
  }
  costs.machine.device = {.bytes_per_s = rate_of(nvlink(local))};
  costs.machine.network = {.bytes_per_s = rate_of(kAdapters * kInfiniBand),
                           .sharing = cluster::LinkSharing::kHost};
  costs.machine.interference.compute_under_transfer =
      std::min(1.0, constants[Constant::kDdpUnderTransfer]);
  costs.software.collective =
      plan::picoseconds_of(constants[Constant::kDdpLaunch] * 1e-6);
  const double step = plans_.step_seconds(
      {.network = &network,
       .hosts = machines,
       .local = local,
       .strategy = fmt::format(
           "ddp:bucket-mb={},first-bucket-mb={}", bucket_mb, kFirstMebibytes),
       .steps = 4},
      costs);
  return step * (1 + constants[Constant::kDdpStraggler] * 0.01 *
                         stats::slowest_of(world));
}

double DdpModel::samples_per_s(const Cell& cell, const Constants& constants) {
  int machines = 1, local = 1;
  const bool plain = cell.table == Table::kDdp && cell.key[1] == "no ddp";
  const bool buckets = cell.table == Table::kDdpBuckets;
  if (buckets) {
    const int gpus = cell.gpus();
    machines = gpus > 8 ? gpus / 8 : 1;
    local = gpus / machines;
  } else if (!plain) {
    machines = cell.key[1][0] - '0';
    local = cell.key[1][3] - '0';
  }
  const double median =
      plain ? alone(cell.key[0]).seconds
            : median_seconds(cell.key[0],
                             machines,
                             local,
                             buckets ? kSmallMebibytes : kReducerMebibytes,
                             constants);
  const double late = machines > 1 ? constants[Constant::kDdpLateStep] : 0;
  return kBatch / (median * (1 + 0.01 * excess(percentile_of(cell),
                                               machines * local,
                                               constants[Constant::kDdpNoise],
                                               late)));
}

}  // namespace paceline::validate
