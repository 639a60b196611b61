// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "paceline/base/error.h"
#include "paceline/base/random.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/plan/profile.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {
namespace {

using cluster::LinkSharing;

/// Returns the number of links of a kind. With full duplex each direction is a link of its own.
std::size_t link_count(const cluster::LinkModel& link, std::size_t actors, std::size_t hosts) {
  const auto each = static_cast<std::size_t>(link.links());
  return each * (link.sharing == LinkSharing::kDevice ? actors : hosts);
}

std::uint32_t link_index(const cluster::LinkModel& link, std::uint32_t actor, std::uint32_t host,
                         bool out) {
  const std::uint32_t one = link.sharing == LinkSharing::kDevice ? actor : host;
  return link.full_duplex ? 2 * one + (out ? 0 : 1) : one;
}

bool same_layout(const cluster::LinkModel& a, const cluster::LinkModel& b) {
  return a.sharing == b.sharing && a.full_duplex == b.full_duplex;
}

bool same_layout(const cluster::Machine& a, const cluster::Machine& b) {
  return same_layout(a.device, b.device) && same_layout(a.network, b.network) &&
         (a.copies_bytes_per_s > 0) == (b.copies_bytes_per_s > 0) &&
         a.servers_have_links == b.servers_have_links;
}

}  // namespace

void Simulator::set_costs(const Costs& costs) {
  cluster::check_costs(costs.machine, costs.software);
  plan::check_profile(job_.input.model, costs.profile);
  const bool folds = job_.classes.world() > static_cast<plan::Rank>(job_.actors.size());
  if (folds && costs.machine.noise.any()) {
    throw UsageError(
        "ranks with noise of their own cannot be folded; compile the job with fold off");
  }
  costs_ = costs;
  program_order_ = plan::issues_in_program_order(job_.queues, costs.software.one_issue_order);
  varies_ = costs.machine.interference.compute_under_transfer < 1;
  set_links();
  if (first_load_.empty() || !same_layout(linked_, costs.machine)) {
    set_loads();
  }
  set_transfer_costs();
}

void Simulator::set_links() {
  const cluster::Machine& machine = costs_.machine;
  const auto hosts = static_cast<std::size_t>(job_.classes.host_classes);
  const std::size_t actors = job_.actors.size();
  network_links_ = static_cast<std::uint32_t>(link_count(machine.device, actors, hosts));
  capacities_.assign(network_links_, machine.device.bytes_per_s);
  capacities_.resize(network_links_ + link_count(machine.network, actors, hosts),
                     machine.network.bytes_per_s);
  first_copies_ = static_cast<std::uint32_t>(capacities_.size());
  if (machine.copies_bytes_per_s > 0) {
    capacities_.resize(capacities_.size() + hosts, machine.copies_bytes_per_s);
  }
}

void Simulator::set_loads() {
  const cluster::Machine& machine = costs_.machine;
  linked_ = machine;
  loads_.clear();
  first_load_.clear();
  const std::vector<bool> copying = copying_hosts();
  for (const Transfer& transfer : job_.transfers) {
    first_load_.push_back(static_cast<std::uint32_t>(loads_.size()));
    for (const DeviceEnd& end : job_.device_ends_of(transfer)) {
      if (!machine.servers_have_links && !job_.actors[end.actor].trains) {
        continue;
      }
      const bool own = machine.device.sharing == LinkSharing::kDevice;
      loads_.push_back({.link = link_index(machine.device, end.actor, end.host, end.out),
                        .device = true,
                        .times = own ? end.flows : end.count_on_host});
    }
    for (const NetworkEnd& end : job_.network_ends_of(transfer)) {
      const TransferLoad load = network_load(end);
      if (load.times > 0) {
        loads_.push_back(load);
      }
      if (transfer.message && end.first_on_host && copying[end.host]) {
        loads_.push_back({.link = first_copies_ + end.host, .device = false, .times = end.flows});
      }
    }
  }
  first_load_.push_back(static_cast<std::uint32_t>(loads_.size()));
}

/// Returns, for each host class, whether its hosts copy messages at a limited rate. Only hosts with
/// model work do.
std::vector<bool> Simulator::copying_hosts() const {
  std::vector<bool> copying(static_cast<std::size_t>(job_.classes.host_classes));
  if (costs_.machine.copies_bytes_per_s > 0) {
    for (const Actor& actor : job_.actors) {
      copying[actor.host] = copying[actor.host] || actor.trains;
    }
  }
  return copying;
}

Simulator::TransferLoad Simulator::network_load(const NetworkEnd& end) const {
  const cluster::LinkModel& network = costs_.machine.network;
  TransferLoad load{.link = network_links_ + link_index(network, end.actor, end.host, end.out),
                    .device = false};
  if (network.sharing == LinkSharing::kDevice) {
    load.times = end.device_flows;
    load.of = end.cards;
  } else {
    load.times = end.first_on_host ? end.flows : 0;
  }
  return load;
}

void Simulator::set_transfer_costs() {
  const cluster::Machine& machine = costs_.machine;
  const cluster::SoftwareCosts& software = costs_.software;
  collective_costs_.clear();
  for (const cluster::CollectiveCall& call : job_.collective_shapes) {
    auto& cost = collective_costs_.emplace_back();
    if (!costs_.free_communication) {
      cost = cluster::collective_cost(call, machine);
    }
    if (cost && cluster::measured_fit(call, machine) == nullptr) {
      cost->latency += software.collective + call.group.ranks * software.collective_per_rank;
    }
  }
  message_costs_.clear();
  for (const MessageShape& shape : job_.message_shapes) {
    auto& cost = message_costs_.emplace_back();
    if (!costs_.free_communication) {
      cost = cluster::message_cost(shape.bytes, shape.remote, machine);
      cost->latency +=
          cluster::message_fit(shape.remote, machine) == nullptr ? software.message : 0;
    }
  }
  kernel_times_.clear();
  for (const KernelShape& shape : job_.kernel_shapes) {
    kernel_times_.push_back(kernel_time(shape));
  }
}

plan::Picoseconds Simulator::kernel_time(const KernelShape& shape) const {
  const plan::KernelTraits* traits = plan::find_kernel_traits(shape.name);
  if (traits != nullptr && traits->aliases) {
    return 0;
  }
  const double passes = traits == nullptr ? 1 : traits->passes;
  for (const cluster::KernelCost& cost : costs_.software.kernels) {
    const bool of_this = cost.kernel.empty()
                             ? !cost.optimizer_step || (traits != nullptr && traits->optimizer_step)
                             : cost.kernel == shape.name;
    if (!of_this) {
      continue;
    }
    const double seconds =
        cost.bytes_per_s > 0 ? passes * static_cast<double>(shape.bytes) / cost.bytes_per_s : 0;
    return cost.launch + shape.tensors * cost.launch_per_tensor + plan::picoseconds_of(seconds);
  }
  return 0;
}

/// Returns the log-normal factor by which noise lengthens a rank's step.
double Simulator::noise(const Actor& actor, std::int32_t step) const {
  const cluster::Noise& noise = costs_.machine.noise;
  Random random(noise.seed, static_cast<std::uint64_t>(actor.rank));
  random.seek(static_cast<std::uint64_t>(step) * 16);
  return std::exp(noise.sigma * random.normal());
}

plan::Picoseconds Simulator::duration_of(const Item& item) const {
  const auto subject = static_cast<std::size_t>(item.subject);
  if (item.kind == ItemKind::kKernel) {
    return kernel_times_[subject];
  }
  return item.kind == ItemKind::kForward ? costs_.profile.forward[subject]
                                         : costs_.profile.backward[subject];
}

}  // namespace paceline::simulator
