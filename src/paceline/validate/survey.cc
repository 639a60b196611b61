// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/survey.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "paceline/predict/hosted.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/published_setup.h"
#include "paceline/validate/survey_job.h"

namespace paceline::validate {
namespace {

using plan::Picoseconds;

constexpr double kGiga = 1e9, kMilli = 1e-3, kMicro = 1e-6;

Picoseconds ps(double seconds) {
  return plan::picoseconds_of(seconds);
}

bool over_tcp(const SurveyCell& cell) {
  const Wire wire = wire_of(cell);
  return wire == Wire::kTcp10 || wire == Wire::kTcp100;
}

/// Over TCP a worker's requests to pull stand behind its pushes on the one
/// connection to a server.  A fused tensor is pushed at once, so that pushes
/// and pulls take turns: a card carries one way at a time.
bool takes_turns(const SurveyCell& cell) {
  return cell.method == "BSP-PS" && over_tcp(cell);
}

/// Bytes/s of messages between hosts, each way: the line's, and where
/// InfiniBand hardware is used as TCP/IP what NCCL reaches of it on 2 hosts.
double each_way(const SurveyCell& cell, const Constants& constants) {
  switch (wire_of(cell)) {
    case Wire::kTcp10:
      return kTenGigabit;
    case Wire::kTcp100:
      return constants[Constant::kIpoibRate] * kGiga;
    default:
      return kInfiniBand;
  }
}

/// Bytes/s that the processors of a host that computes send and receive over
/// TCP; beyond both ways of the fastest line they limit nothing.
std::int64_t copied_by_worker(const SurveyCell& cell,
                              const Constants& constants) {
  const double rate =
      wire_of(cell) == Wire::kTcp10
          ? constants[Constant::kServerTcp10Rate] * kGiga
          : constants[Constant::kServerIpoibRate] * kGiga *
                std::pow(cell.hosts() / 2.0,
                         constants[Constant::kServerIpoibGrowth]);
  return rate_of(std::min(2 * kInfiniBand, rate));
}

/// No device reaches another's memory: all passes the host's, which carries
/// both ways together.  An all-reduce sends as much as it receives.
void set_bus(double gigabytes_each_way, cluster::Machine& machine) {
  machine.device.full_duplex = false;
  machine.device.bytes_per_s = rate_of(2 * gigabytes_each_way * kGiga);
}

/// BytePS: a bus, a line, and over TCP/IP what a worker copies.
void set_server_costs(const SurveyCell& cell,
                      const Constants& constants,
                      simulator::Costs& costs) {
  cluster::Machine& machine = costs.machine;
  set_bus(constants[Constant::kServerBusRate], machine);
  machine.network.bytes_per_s = rate_of(each_way(cell, constants));
  if (over_tcp(cell)) {
    machine.network.full_duplex = !takes_turns(cell);
    machine.copies_bytes_per_s = copied_by_worker(cell, constants);
  }
  costs.software.kernels = {
      {.prefix = "update", .launch_per_tensor = ps(kSgdLaunch)}};
}

/// Horovod on NCCL.
void set_ring_costs(const SurveyCell& cell,
                    const Constants& constants,
                    simulator::Costs& costs) {
  cluster::Machine& machine = costs.machine;
  cluster::SoftwareCosts& software = costs.software;
  machine.algorithm =
      cluster::Algorithm::kTree;  // NCCL 2.4's, of small messages
  set_bus(constants[Constant::kBusRate], machine);
  const Wire wire = wire_of(cell);
  if (wire == Wire::kTcp10) {
    machine.network.bytes_per_s =
        rate_of(constants[Constant::kTcp10Rate] * kGiga);
  } else if (wire == Wire::kTcp100) {
    machine.network.bytes_per_s = rate_of(
        constants[Constant::kIpoibRate] * kGiga *
        std::pow(cell.hosts() / 2.0, -constants[Constant::kIpoibDecline]));
  }
  if (depends_on(cell, Constant::kSchedulerTcp)) {
    machine.network.bytes_per_s = predict::slowed_rate(
        machine.network.bytes_per_s, constants[Constant::kSchedulerTcp] * 1e-9);
  }
  if (cell.is_scheduled()) {
    return;  // Horovod's fusion is on: a start carries up to 64 MB
  }
  if (over_tcp(cell)) {
    machine.network.latency = ps(kTcpStep);
  }
  software.collective_per_rank =
      ps(constants[Constant::kCollectivePerRank] * kMicro);
  software.collective_under_compute =
      ps(constants[Constant::kWaitUnderCompute] * kMilli);
  const bool adam = published(cell.model).adam;
  const double launch =
      adam ? constants[Constant::kAdamLaunch] * kMilli : kSgdLaunch;
  software.kernels = {
      {.prefix = "update",
       .launch_per_tensor = ps(launch),
       .bytes_per_s = adam ? kMemoryRate * kPlanPasses / kAdamPasses : 0}};
}

simulator::Costs costs_of(const SurveyCell& cell, const Constants& constants) {
  simulator::Costs costs;
  costs.profile = timed(cell).profile;
  costs.machine.network = {.bytes_per_s = rate_of(kInfiniBand),
                           .sharing = cluster::LinkSharing::kHost};
  double& left = costs.machine.interference.device_link_under_compute;
  left = std::min(1.0,
                  constants[cell.serves() ? Constant::kServerBusUnderCompute
                                          : Constant::kBusUnderCompute]);
  if (cell.is_scheduled()) {  // Python launches its modules' calls
    predict::launch_from_host(timed(cell).shape,
                              constants[Constant::kSchedulerCall] * kMilli,
                              constants[Constant::kSchedulerSpread] * 0.01,
                              cell.gpus,
                              costs);
  }
  if (cell.serves()) {
    set_server_costs(cell, constants, costs);
  } else {
    set_ring_costs(cell, constants, costs);
  }
  return costs;
}

}  // namespace

bool depends_on(const SurveyCell& cell, Constant constant) {
  const bool serves = cell.serves();
  const bool scheduler = cell.is_scheduled();
  const bool fused = cell.is_fused();
  const Wire wire = wire_of(cell);
  switch (constant) {
    case Constant::kBusRate:
      return !serves;
    case Constant::kCollectivePerRank:
      return !serves && !scheduler;
    case Constant::kBusUnderCompute:
      return !serves && !fused;
    case Constant::kWaitUnderCompute:
      return !serves && !scheduler && !fused;
    case Constant::kAdamLaunch:
      return !serves && !scheduler && published(cell.model).adam;
    case Constant::kTcp10Rate:
      return !serves && wire == Wire::kTcp10;
    case Constant::kIpoibRate:
      return wire == Wire::kTcp100;
    case Constant::kIpoibDecline:
      return !serves && wire == Wire::kTcp100;
    case Constant::kSchedulerCall:
    case Constant::kSchedulerSpread:
      return scheduler;
    case Constant::kSchedulerTcp:
      return scheduler && over_tcp(cell);
    case Constant::kServerBusRate:
      return serves;
    case Constant::kServerBusUnderCompute:
      return serves && !fused;
    case Constant::kServerTcp10Rate:
      return serves && wire == Wire::kTcp10;
    case Constant::kServerIpoibRate:
    case Constant::kServerIpoibGrowth:
      return serves && wire == Wire::kTcp100;
    default:
      return false;
  }
}

double SurveyModel::step_seconds(const SurveyCell& cell,
                                 const Constants& constants) {
  const std::string plan = fmt::format("{} {} {} {}",
                                       simulated_as(cell.method),
                                       cell.model,
                                       cell.gpus,
                                       planning_table(cell));
  std::vector<double> used;
  for (const Constant constant : constants_of(Table::kSurvey)) {
    if (depends_on(cell, constant)) {
      used.push_back(constants[constant]);
    }
  }
  Last& last = last_[{plan, wire_of(cell)}];
  if (last.constants != used) {
    last.seconds = plans_.step_seconds(
        plan, [&] { return case_of(cell); }, costs_of(cell, constants));
    last.constants = used;
  }
  return last.seconds;
}

double SurveyModel::samples_per_s(const SurveyCell& cell,
                                  const Constants& constants) {
  return cell.gpus * published(cell.model).batch_size /
         step_seconds(cell, constants);
}

}  // namespace paceline::validate
