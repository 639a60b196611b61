// SPDX-License-Identifier: Apache-2.0
#include "paceline/validate/survey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "paceline/base/error.h"
#include "paceline/plan/strategy.h"
#include "paceline/sim/hosted.h"
#include "paceline/validate/fenced.h"
#include "paceline/validate/fixed.h"
#include "paceline/validate/published_setup.h"

namespace paceline::validate {
namespace {

using plan::Picoseconds;
using plan::Rank;

constexpr Rank kLocal = 4;
constexpr double kGiga = 1e9, kMilli = 1e-3, kMicro = 1e-6;

plan::AlphaBeta planned_with(const SurveyCell& cell) {
  for (const PublishedLine& line :
       planning_lines(cell.network == "10GbE" ? "10GbE" : "56GbIB")) {
    if (line.ranks == cell.gpus) {
      plan::AlphaBeta model;
      model.origin = "ddl-benchmarks' tables";
      model.world = cell.gpus;
      model.all_reduce = plan::line_of(line.alpha, line.beta);
      return model;
    }
  }
  throw UsageError(fmt::format("no table of {} workers", cell.gpus));
}

Picoseconds ps(double seconds) {
  return plan::picoseconds_of(seconds);
}

struct Timed {
  TimedNetwork without_optimizer, with_optimizer;
};

Timed timed_of(const Published& one) {
  const double step = one.batch_size / one.samples_per_s;
  const auto elements =
      static_cast<double>(plan::network_shape(one.shape).elements());
  const double optimizer =
      one.adam ? kAdamPasses * 4 * elements / kMemoryRate : 0;
  return {timed_network(one.shape, one.batch_size, step - optimizer),
          timed_network(one.shape, one.batch_size, step)};
}

bool is_scheduled(const SurveyCell& cell) {
  return cell.method == "ByteScheduler-A2A";
}

/// One device's step; splitting it over layers takes longer than a simulation.
const TimedNetwork& timed(const SurveyCell& cell) {
  static const std::map<std::string, Timed> all = [] {
    std::map<std::string, Timed> networks;
    for (const Published& one : published_models()) {
      networks.emplace(one.model, timed_of(one));
    }
    return networks;
  }();
  const Timed& networks = all.at(cell.model);
  // ByteScheduler's poller launches AdamW's kernels amid the others, so that
  // the device's time for them is part of computing.
  return is_scheduled(cell) ? networks.with_optimizer
                            : networks.without_optimizer;
}

/// The network that the cell's bytes cross; empty within one node.
const std::string& wire_of(const SurveyCell& cell) {
  static const std::string none, tcp10 = "10GbE";
  return cell.nodes() == 1 ? none : ran_over_10gbe(cell) ? tcp10 : cell.network;
}

bool is_fused(const SurveyCell& cell) {  // behind all computing
  return cell.method.starts_with("BSP");
}

std::string server_schedule(const SurveyCell& cell) {
  return is_fused(cell) ? "bsp" : "wfbp";
}

std::unique_ptr<plan::Planner> planner_of(const SurveyCell& cell) {
  const auto named = [](std::string_view text) {
    return plan::make_planner(plan::parse_strategy(text));
  };
  if (cell.serves()) {
    return named(cell.nodes() > 1 ? server_strategy(cell)
                                  : server_schedule(cell) + "+ps:local=0");
  }
  if (is_scheduled(cell)) {  // 4 and 16 million parameters
    return named(
        "bytescheduler:order=priority,partition-mb=15.2587890625,"
        "credit-mb=61.03515625");
  }
  if (cell.method == "MG-WFBP") {
    return fenced(named("mg-wfbp:small-elements=8192"));
  }
  return named(is_fused(cell) ? "bsp" : "wfbp");
}

Case case_of(const SurveyCell& cell) {
  Case one;
  one.input = input_of(timed(cell), cell.nodes(), kLocal);
  one.input.alpha_beta = planned_with(cell);
  if (published(cell.model).adam && !cell.serves()) {
    one.input.optimizer = {.name = "adamw", .state_buffers = 2};
  }
  if (cell.serves() && cell.nodes() > 1) {  // as many servers
    one.input.world += cell.nodes();
    one.input.local_world.add(cell.nodes(), 1);
  }
  one.planner = planner_of(cell);
  if (cell.serves()) {
    one.steps = 2;  // each waits for all of the one before
  }
  if (is_scheduled(cell)) {
    one.steps = 8;  // crosses the step border, so it settles later
  }
  return one;
}

bool over_tcp(const SurveyCell& cell) {
  return !wire_of(cell).empty() && wire_of(cell) != "100GbIB";
}

/// Over TCP a worker's requests to pull stand behind its pushes on the one
/// connection to a server.  A fused tensor is pushed at once: pushes and pulls
/// take turns, and one way alone carries less than both together.  It is priced
/// as one rate for both ways: the line's over 10GbE, and that share of what is
/// copied over 100GbE.
bool takes_turns(const SurveyCell& cell) {
  return cell.method == "BSP-PS" && over_tcp(cell);
}

/// Bytes/s that the processors of a host that computes send and receive; beyond
/// both ways of the fastest line they limit nothing.
std::int64_t copied_by_worker(const SurveyCell& cell,
                              const Constants& constants) {
  const double slow = constants[Constant::kServerTcp10Rate] * kGiga;
  const double rate =
      wire_of(cell) == "10GbE"
          ? slow
          : constants[Constant::kServerIpoibRate] * kGiga *
                std::pow(cell.nodes() / 2.0,
                         constants[Constant::kServerIpoibGrowth]);
  const double share = takes_turns(cell) ? kTenGigabit / slow : 1;
  return rate_of(std::min(2 * kInfiniBand, share * rate));
}

/// No device reaches another's memory: all passes the host's, which carries
/// both ways together.  An all-reduce sends as much as it receives.
void set_bus(double gigabytes_each_way, sim::Machine& machine) {
  machine.device.full_duplex = false;
  machine.device.bytes_per_s = rate_of(2 * gigabytes_each_way * kGiga);
}

/// BytePS: a bus, a line, and over TCP/IP what a worker copies.
void set_server_costs(const SurveyCell& cell,
                      const Constants& constants,
                      sim::Costs& costs) {
  sim::Machine& machine = costs.machine;
  set_bus(constants[Constant::kServerBusRate], machine);
  const std::string& wire = wire_of(cell);
  if (wire == "10GbE") {
    machine.network.bytes_per_s = rate_of(kTenGigabit);
  }
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
                    sim::Costs& costs) {
  sim::Machine& machine = costs.machine;
  sim::SoftwareCosts& software = costs.software;
  machine.algorithm = sim::Algorithm::kTree;  // NCCL 2.4's, of small messages
  set_bus(constants[Constant::kBusRate], machine);
  const std::string& wire = wire_of(cell);
  if (wire == "10GbE") {
    machine.network.bytes_per_s =
        rate_of(constants[Constant::kTcp10Rate] * kGiga);
  } else if (wire == "100GbE") {
    machine.network.bytes_per_s = rate_of(
        constants[Constant::kIpoibRate] * kGiga *
        std::pow(cell.nodes() / 2.0, -constants[Constant::kIpoibDecline]));
  }
  if (depends_on(cell, Constant::kSchedulerTcp)) {
    machine.network.bytes_per_s = sim::slowed_rate(
        machine.network.bytes_per_s, constants[Constant::kSchedulerTcp] * 1e-9);
  }
  if (is_scheduled(cell)) {
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

sim::Costs costs_of(const SurveyCell& cell, const Constants& constants) {
  sim::Costs costs;
  costs.profile = timed(cell).profile;
  costs.machine.network = {.bytes_per_s = rate_of(kInfiniBand),
                           .sharing = plan::LinkSharing::kHost};
  double& left = costs.machine.interference.device_link_under_compute;
  left = std::min(1.0,
                  constants[cell.serves() ? Constant::kServerBusUnderCompute
                                          : Constant::kBusUnderCompute]);
  if (is_scheduled(cell)) {  // Python launches its modules' calls
    sim::launch_from_host(timed(cell).shape,
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

std::string server_strategy(const SurveyCell& cell) {
  std::string strategy =
      fmt::format("{}+ps:local=0,placement=apart,assign=hash,servers={}",
                  server_schedule(cell),
                  cell.nodes());
  if (is_fused(cell)) {
    const std::size_t gradients = timed(cell).shape.model.parameters.size();
    const std::size_t beside =
        cell.model == "ResNet-50" ? kImageState : kTextState;
    strategy += fmt::format(",first-key={}", 2 * gradients + beside);
  }
  return strategy;
}

bool depends_on(const SurveyCell& cell, Constant constant) {
  const bool serves = cell.serves();
  const bool scheduler = is_scheduled(cell);
  const bool fused = is_fused(cell);
  const std::string& network = wire_of(cell);
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
      return !serves && network == "10GbE";
    case Constant::kIpoibRate:
    case Constant::kIpoibDecline:
      return !serves && network == "100GbE";
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
      return serves && network == (fused ? "100GbE" : "10GbE");
    case Constant::kServerIpoibRate:
    case Constant::kServerIpoibGrowth:
      return serves && network == "100GbE";
    default:
      return false;
  }
}

double SurveyModel::step_seconds(const SurveyCell& cell,
                                 const Constants& constants) {
  const char* table = cell.network == "10GbE" ? "10" : "56";
  const std::string plan = fmt::format(
      "{} {} {} {}", simulated_as(cell.method), cell.model, cell.gpus, table);
  std::vector<double> used;
  for (const Constant constant : constants_of(Table::kSurvey)) {
    if (depends_on(cell, constant)) {
      used.push_back(constants[constant]);
    }
  }
  Last& last = last_[plan + " " + wire_of(cell)];
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
