// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>

#include "paceline/base/error.h"
#include "paceline/plan/kernel_traits.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {
namespace {

std::int64_t fixed_point_speed(double share) {
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(cluster::kWeightOne)));
}

}  // namespace

/// Finds the optimizer's kernels that a rank postpones while forward or backward work is ready.
/// These are the kernels whose result no communication of the same step needs.  In sharded updates
/// and parameter averaging, communication needs the update's result.
void Simulator::find_updates() {
  const auto size = static_cast<ItemId>(job_.items.size() - 1);
  std::vector<char> leads(size, 0);
  is_deferrable_update_.assign(size, 0);
  for (ItemId id = size; id-- > 0;) {
    const Item& item = job_.items[id];
    if (item.kind != ItemKind::kKernel) {
      continue;
    }
    for (const ItemId later : job_.dependents_of(id)) {
      const Item& next = job_.items[later];
      const bool on = next.kind == ItemKind::kKernel && leads[later] != 0;
      if (next.step == item.step && (communicates(next) || on)) {
        leads[id] = 1;
      }
    }
    const plan::KernelTraits* traits =
        plan::find_kernel_traits(job_.kernel_shapes[static_cast<std::size_t>(item.subject)].name);
    if (traits != nullptr && traits->optimizer_step && leads[id] == 0) {
      is_deferrable_update_[id] = 1;
    }
  }
}

Simulator::Simulator(const Job& job) : job_(job) {
  PACELINE_CHECK(job.items.size() < (1U << 29U));
  PACELINE_CHECK(job.transfers.size() < (1U << 29U));
  for (std::size_t i = 0; i + 1 < job.items.size(); ++i) {
    fresh_item_.push_back({job.items[i].waits, job.items[i].transfers});
  }
  followers_.resize(job.queues.size());
  for (std::uint32_t q = 0; q < job.queues.size(); ++q) {
    const QueueItems& queue = job.queues[q];
    const bool leads = queue.leader == q;
    fresh_queues_.emplace_back(queue.order, queue.credit, leads);
    for (const ItemId id : queue.items) {
      const Item& item = job.items[id];
      fresh_queues_.back().add(item.kind == ItemKind::kCollective, item.priority, item.bytes);
    }
    if (!leads) {
      followers_[queue.leader].push_back(q);
    }
  }
  for (const Actor& actor : job.actors) {
    for (std::size_t step = 0; step + 1 < actor.steps.size(); ++step) {
      ItemId first = actor.steps[step + 1], last = first;
      for (ItemId id = actor.steps[step]; id < actor.steps[step + 1]; ++id) {
        const bool model = is_model_work(job.items[id]);
        first = model ? std::min(first, id) : first;
        last = model ? id : last;
      }
      first_model_work_.push_back(first);
      last_model_work_.push_back(last);
    }
  }
  find_updates();
}

void Simulator::reset() {
  const auto steps = static_cast<std::size_t>(job_.options.steps);
  events_.clear();
  network_.reset(capacities_);
  now_ = 0;
  item_ = fresh_item_;
  item_intervals_.assign(item_.size(), {});
  transfer_intervals_.assign(job_.transfers.size(), {});
  actors_.assign(job_.actors.size(), {});
  for (std::size_t a = 0; a < actors_.size(); ++a) {
    actors_[a].next_in_order = job_.actors[a].first;
  }
  computing_.assign(actors_.size(), 0);
  queues_ = fresh_queues_;
  transfer_queues_.assign(job_.transfer_queues, {});
  absent_.clear();
  std::ranges::transform(job_.transfers, std::back_inserter(absent_), &Transfer::items);
  dirty_actors_.clear();
  dirty_transfer_queues_.clear();
  left_in_step_.assign(steps, 0);
  for (const Actor& actor : job_.actors) {
    for (std::size_t step = 0; step < steps; ++step) {
      left_in_step_[step] += actor.steps[step + 1] - actor.steps[step];
    }
  }
  ended_steps_ = 0;
  steady_ = false;
}

StepTimes Simulator::run(const Costs& costs) {
  set_costs(costs);
  reset();
  for (ItemId id = 0; id < item_.size(); ++id) {
    if (fresh_item_[id].waits == 0) {
      ready(id);
    }
  }
  start_all_possible();
  while (!events_.empty() && !steady_) {
    now_ = events_.next_time();
    while (!events_.empty() && events_.next_time() == now_) {
      handle(events_.pop());
    }
    start_all_possible();
  }
  if (!steady_ && ended_steps_ < job_.options.steps) {
    throw_deadlock();
  }
  return result();
}

void Simulator::handle(const Event& event) {
  switch (event.kind()) {
    case EventKind::kModelWork:
    case EventKind::kKernel: {
      const std::uint32_t actor = job_.items[event.index()].actor;
      RunningOp& lane =
          event.kind() == EventKind::kModelWork ? actors_[actor].model : actors_[actor].kernel;
      if (lane.event == event.sequence && lane.busy) {
        lane.busy = false;
        touch(actor);
        complete(event.index());
      }
      break;
    }
    case EventKind::kIssued: {
      const Item& item = job_.items[event.index()];
      actors_[item.actor].issuing = false;
      touch(item.actor);
      issued(event.index());
      break;
    }
    case EventKind::kLatency:
      start_flow(event.index());
      break;
    case EventKind::kFlow: {
      cluster::FairShare::Flow& flow = network_.flow(event.index());
      if (flow.active && flow.event == event.sequence) {
        network_.end(event.index());
        end_transfer(flow.owner);
      }
      break;
    }
  }
}

void Simulator::complete(ItemId id) {
  item_intervals_[id].end = now_;
  for (const ItemId later : job_.dependents_of(id)) {
    if (--item_[later].waits == 0) {
      ready(later);
    }
  }
  if (--left_in_step_[static_cast<std::size_t>(job_.items[id].step)] == 0) {
    step_ended();
  }
}

void Simulator::ready(ItemId id) {
  const Item& item = job_.items[id];
  item_[id].ready = true;
  ActorState& actor = actors_[item.actor];
  switch (item.kind) {
    case ItemKind::kForward:
    case ItemKind::kBackward:
      if (costs_.software.kernels_on_device) {
        actor.waiting = id;
      } else {
        start(actor.model, id, EventKind::kModelWork);
      }
      touch(item.actor);
      break;
    case ItemKind::kKernel:
      (costs_.software.kernels_on_device && is_deferrable_update_[id] != 0 ? actor.updates
                                                                           : actor.kernels)
          .emplace(item.priority, id);
      touch(item.actor);
      break;
    case ItemKind::kCollective:
    case ItemKind::kExchange:
      if (!program_order_) {
        queue_of(item).ready(item.number);
      }
      touch(item.actor);
      break;
  }
}

void Simulator::touch(std::uint32_t actor) {
  if (!actors_[actor].dirty) {
    actors_[actor].dirty = true;
    dirty_actors_.push_back(actor);
  }
}

void Simulator::start(RunningOp& lane, ItemId id, EventKind kind) {
  const Item& item = job_.items[id];
  PACELINE_CHECK(!lane.busy);
  plan::Picoseconds duration = duration_of(item);
  if (kind == EventKind::kModelWork && costs_.machine.noise.any()) {
    duration =
        std::llround(static_cast<double>(duration) * noise(job_.actors[item.actor], item.step));
  }
  lane.item = id;
  lane.busy = true;
  lane.since = now_;
  lane.left = plan::Int128{duration} * (varies_ ? cluster::kWeightOne : 1);
  lane.speed = varies_ ? cluster::kWeightOne : 1;
  item_intervals_[id].begin = now_;
  lane.event = events_.push(plan::later(now_, duration), kind, id);
}

/// Changes the speed at which the remaining part of model work runs.
void Simulator::set_model_speed(RunningOp& model, std::int64_t speed) {
  if (!model.busy || model.speed == speed) {
    return;
  }
  model.left =
      std::max<plan::Int128>(0, model.left - plan::Int128{now_ - model.since} * model.speed);
  model.since = now_;
  model.speed = speed;
  model.event = events_.push(plan::later(now_, (model.left + speed - 1) / speed),
                             EventKind::kModelWork, model.item);
}

/// Starts every operation and transfer that may start at the present time.
void Simulator::start_all_possible() {
  while (!dirty_actors_.empty() || !dirty_transfer_queues_.empty()) {
    for (const std::uint32_t actor : take(dirty_actors_)) {
      actors_[actor].dirty = false;
      start_actor_ops(actor);
    }
    for (const std::uint32_t transfer_queue : take(dirty_transfer_queues_)) {
      transfer_queues_[transfer_queue].dirty = false;
      start_queued_transfers(transfer_queue);
    }
  }
  if (network_.changed()) {
    for (const cluster::FairShare::FlowId id : network_.share(now_)) {
      network_.flow(id).event = events_.push(network_.end_time_of(id), EventKind::kFlow, id);
    }
  }
}

/// Empties a list and returns its elements in ascending order, so that the order of events does not
/// affect the result.
const std::vector<std::uint32_t>& Simulator::take(std::vector<std::uint32_t>& dirty) {
  settling_.clear();
  settling_.swap(dirty);
  if (!std::ranges::is_sorted(settling_)) {
    std::ranges::sort(settling_);
  }
  return settling_;
}

void Simulator::start_kernel(ActorState& state, OrderedIdQueue& ready) {
  const ItemId id = ready.top().second;
  ready.pop();
  start(state.kernel, id, EventKind::kKernel);
}

/// Starts the next op of a device: first kernels that communication waits for, then model work,
/// then updates.
void Simulator::start_next_device_op(ActorState& state) {
  if (state.kernel.busy || state.model.busy) {
    return;
  }
  if (!state.kernels.empty()) {
    start_kernel(state, state.kernels);
  } else if (state.waiting) {
    const ItemId id = *state.waiting;
    state.waiting.reset();
    start(state.model, id, EventKind::kModelWork);
  } else if (!state.updates.empty()) {
    start_kernel(state, state.updates);
  }
}

void Simulator::start_actor_ops(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  if (costs_.software.kernels_on_device) {
    start_next_device_op(state);
  } else if (!state.kernel.busy && !state.kernels.empty()) {
    start_kernel(state, state.kernels);
  }
  issue_ready(actor);
  update_speeds(actor);
}

/// Sets the speeds of a rank's compute and device link, which slow each other down.
void Simulator::update_speeds(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  const cluster::Interference& lost = costs_.machine.interference;
  const bool now_computes = state.model.busy;
  if (now_computes != state.computes) {
    state.computes = now_computes;
    if (lost.device_link_under_compute < 1) {
      update_device_link_rate(actor, now_computes);
    }
  }
  if (varies_) {
    set_model_speed(state.model,
                    fixed_point_speed(state.in_flight > 0 ? lost.compute_under_transfer : 1));
  }
}

/// Sets the rate of a device link.  A bus that devices share is slower while any of them computes.
void Simulator::update_device_link_rate(std::uint32_t actor, bool computes) {
  const cluster::LinkModel& device = costs_.machine.device;
  const std::uint32_t link =
      device.sharing == cluster::LinkSharing::kDevice ? actor : job_.actors[actor].host;
  computing_[link] += computes ? 1 : -1;
  const auto rate = std::max<std::int64_t>(
      1, computing_[link] > 0 ? std::llround(static_cast<double>(device.bytes_per_s) *
                                             costs_.machine.interference.device_link_under_compute)
                              : device.bytes_per_s);
  const auto each = static_cast<std::uint32_t>(device.links());
  for (std::uint32_t i = 0; i < each; ++i) {
    network_.set_capacity(each * link + i, rate);
  }
}

}  // namespace paceline::simulator
