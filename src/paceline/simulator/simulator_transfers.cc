// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "paceline/base/error.h"
#include "paceline/cluster/whole.h"
#include "paceline/simulator/simulator_state.h"

namespace paceline::simulator {

/// Whether it issues what is ready by priority, not in a given order.
bool Simulator::State::chooses(std::uint32_t queue) const {
  const IssueQueue& fixed = job_.queues[queue];
  return fixed.order == plan::Order::kPriority &&
         (fixed.leader == queue || !fixed.collectives);
}

LeastFirst& Simulator::State::choice_of(const Item& item) {
  QueueState& state = queues_[static_cast<std::size_t>(item.queue)];
  return item.bytes > 0 ? state.counted : state.uncounted;
}

/// The item that the order of `queue` allows next, if it can go now.
bool Simulator::State::next_to_issue(std::uint32_t queue, ItemId& item) const {
  const IssueQueue& fixed = job_.queues[queue];
  const QueueState& state = queues_[queue];
  const bool spent = state.in_flight >= fixed.credit;
  if (chooses(queue)) {
    const bool counted =
        !spent && !state.counted.empty() &&
        (state.uncounted.empty() || state.counted.goes_before(state.uncounted));
    const LeastFirst& choice = counted ? state.counted : state.uncounted;
    if (choice.empty()) {
      return false;
    }
    item = choice.first();
    return true;
  }
  std::size_t place = state.next;
  if (fixed.order == plan::Order::kPriority) {
    const auto& picks = queues_[fixed.leader].picks;
    if (state.next >= picks.size()) {
      return false;
    }
    place = picks[state.next];
  }
  if (place >= fixed.items.size()) {
    return false;
  }
  item = fixed.items[place];
  return item_[item].ready && !(spent && job_.items[item].bytes > 0);
}

void Simulator::State::take_from_queue(std::uint32_t queue, ItemId item) {
  const IssueQueue& fixed = job_.queues[queue];
  QueueState& state = queues_[queue];
  --state.ready;
  if (chooses(queue)) {
    choice_of(job_.items[item]).remove_first();
  }
  state.in_flight += job_.items[item].bytes;
  ++state.next;
  if (fixed.order == plan::Order::kPriority && !state.followers.empty()) {
    state.picks.push_back(static_cast<std::size_t>(
        std::ranges::lower_bound(fixed.items, item) - fixed.items.begin()));
    for (const std::uint32_t follower : state.followers) {
      touch(job_.queues[follower].actor);
    }
  }
}

/// A rank issues one op at a time; of those that may go, smallest priority
/// first, then program order.
void Simulator::State::issue_ready(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  while (!state.issuing) {
    bool found = false;
    ItemId best = 0;
    std::uint32_t from = 0;
    for (const std::uint32_t queue : job_.actors[actor].queues) {
      ItemId item = 0;
      if (queues_[queue].ready == 0 || !next_to_issue(queue, item)) {
        continue;
      }
      if (!found || std::pair(job_.items[item].priority, item) <
                        std::pair(job_.items[best].priority, best)) {
        found = true;
        best = item;
        from = queue;
      }
    }
    if (!found) {
      return;
    }
    take_from_queue(from, best);
    const plan::Picoseconds cost =
        costs_.free_communication ? 0 : costs_.software.issue;
    item_ran[best].begin = now_;
    if (cost > 0) {
      state.issuing = true;
      events_.push(cluster::later(now_, cost), EventKind::kIssued, best);
    } else {
      issued(best);
    }
  }
}

void Simulator::State::issued(ItemId id) {
  const Item& item = job_.items[id];
  item_[id].issued = true;
  if (item.transfers == 0) {
    queues_[static_cast<std::size_t>(item.queue)].in_flight -= item.bytes;
    touch(item.actor);
    complete(id);
    return;
  }
  for (std::int32_t i = 0; i < item.transfers; ++i) {
    const TransferId t =
        job_.taken[item.first_transfer + static_cast<std::uint32_t>(i)];
    if (--transfer_[t].absent == 0) {
      const std::uint32_t queue = job_.transfers[t].queue;
      transfer_[t].turn = circles_[queue].complete++;
      circles_[queue].to_agree.add(transfer_[t].turn, t);
      touch_circle(queue);
    }
  }
}

void Simulator::State::touch_circle(std::uint32_t circle) {
  if (!circles_[circle].dirty) {
    circles_[circle].dirty = true;
    dirty_circles_.push_back(circle);
  }
}

/// Agreement, then the transfers themselves: one by one where they must.
void Simulator::State::settle_circle(std::uint32_t index) {
  Circle& circle = circles_[index];
  const cluster::SoftwareCosts& software = costs_.software;
  while (!circle.to_agree.empty() && !circle.agreeing) {
    const TransferId id = circle.to_agree.first();
    const Transfer& transfer = job_.transfers[id];
    circle.to_agree.remove_first();
    plan::Picoseconds cost = 0;
    if (!transfer.message && !costs_.free_communication) {
      const auto shape = static_cast<std::size_t>(transfer.shape);
      const plan::Rank ranks = job_.collective_shapes[shape].group.ranks;
      cost = ranks > 1
                 ? software.negotiation + ranks * software.negotiation_per_rank
                 : 0;
    }
    if (cost == 0) {
      circle.to_start.add(transfer_[id].turn, id);
      continue;
    }
    circle.agreeing = software.serial_negotiation;
    events_.push(cluster::later(now_, cost), EventKind::kAgreed, id);
  }
  while (!circle.to_start.empty()) {
    const TransferId id = circle.to_start.first();
    const bool alone =
        job_.transfers[id].message || software.serial_collectives;
    const std::int32_t most = alone ? 1 : software.side_by_side;
    if (most > 0 && circle.carrying >= most) {
      break;
    }
    circle.to_start.remove_first();
    ++circle.carrying;
    start_transfer(id);
  }
}

const cluster::Price& Simulator::State::price_of(
    const Transfer& transfer) const {
  const auto shape = static_cast<std::size_t>(transfer.shape);
  return transfer.message ? message_prices_[shape] : prices_[shape];
}

void Simulator::State::start_transfer(TransferId id) {
  transfer_ran[id].begin = now_;
  transfer_[id].stage = 0;
  change_in_flight(id, 1);
  start_stage(id);
}

bool Simulator::State::computes(TransferId id) const {
  const Transfer& transfer = job_.transfers[id];
  for (std::uint32_t i = 0; i < transfer.device_ends; ++i) {
    const DeviceEnd& end = job_.device_ends[transfer.first_device_end + i];
    if (actors_[end.actor].model.busy) {
      return true;
    }
  }
  return false;
}

void Simulator::State::start_stage(TransferId id) {
  const Transfer& transfer = job_.transfers[id];
  const cluster::Price& price = price_of(transfer);
  const std::int32_t number = transfer_[id].stage;
  if (number >= price.count) {
    end_transfer(id);
    return;
  }
  plan::Picoseconds latency =
      price.stages[static_cast<std::size_t>(number)].latency;
  const plan::Picoseconds wait = costs_.software.collective_under_compute;
  if (number == 0 && wait > 0 && !transfer.message && computes(id)) {
    const auto shape = static_cast<std::size_t>(transfer.shape);
    latency +=
        wait * cluster::log2_up(job_.collective_shapes[shape].group.ranks);
  }
  if (latency > 0) {
    events_.push(cluster::later(now_, latency), EventKind::kStage, id);
  } else {
    start_flow(id);
  }
}

std::int64_t Simulator::State::weight(const cluster::Stage& stage,
                                      const RawLoad& load) {
  return load.device
             ? stage.device_weight * load.times
             : (stage.network_weight * load.times + load.of - 1) / load.of;
}

void Simulator::State::start_flow(TransferId id) {
  const Transfer& transfer = job_.transfers[id];
  const cluster::Stage& stage =
      price_of(transfer).stages[static_cast<std::size_t>(transfer_[id].stage)];
  if (stage.bytes == 0) {
    end_stage(id);
    return;
  }
  stage_loads_.clear();
  for (std::uint32_t i = first_load_[id]; i < first_load_[id + 1]; ++i) {
    const RawLoad& load = loads_[i];
    const std::int64_t times = weight(stage, load);
    if (times > 0) {
      stage_loads_.push_back({load.link, times});
    }
  }
  const Network::FlowId flow = network_.start(
      now_, id, stage.bytes, stage.limit_bytes_per_s, stage_loads_);
  if (stage_loads_.empty()) {
    network_.flow(flow).event =
        events_.push(network_.end_of(flow), EventKind::kFlow, flow);
  }
}

void Simulator::State::end_stage(TransferId id) {
  ++transfer_[id].stage;
  start_stage(id);
}

void Simulator::State::end_transfer(TransferId id) {
  const Transfer& transfer = job_.transfers[id];
  transfer_ran[id].end = now_;
  change_in_flight(id, -1);
  --circles_[transfer.queue].carrying;
  touch_circle(transfer.queue);
  for (std::uint32_t i = 0; i < transfer.items; ++i) {
    const ItemId item = job_.participants[transfer.first_item + i];
    if (--item_[item].transfers == 0) {
      const Item& done = job_.items[item];
      queues_[static_cast<std::size_t>(done.queue)].in_flight -= done.bytes;
      touch(done.actor);
      complete(item);
    }
  }
}

void Simulator::State::change_in_flight(TransferId id, std::int32_t by) {
  if (!varies_) {
    return;
  }
  const Transfer& transfer = job_.transfers[id];
  for (std::uint32_t i = 0; i < transfer.items; ++i) {
    const std::uint32_t actor =
        job_.items[job_.participants[transfer.first_item + i]].actor;
    actors_[actor].in_flight += by;
    touch(actor);
  }
}

}  // namespace paceline::simulator
