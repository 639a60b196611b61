// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "paceline/base/error.h"
#include "paceline/plan/int128.h"
#include "paceline/simulator/simulate.h"

namespace paceline::simulator {

plan::IssueRule& Simulator::queue_of(const Item& item) {
  return queues_[static_cast<std::size_t>(item.queue)];
}

/// Issues an item.  If its queue leads other queues and the item is a collective, these queues must
/// issue the same collective in their turn.
void Simulator::issue_from_queue(std::uint32_t queue, ItemId id) {
  const Item& item = job_.items[id];
  plan::IssueRule& rule = queues_[queue];
  if (rule.picks() && item.kind == ItemKind::kCollective) {
    const auto pick = rule.collective_number(item.number);
    for (const std::uint32_t follower : followers_[queue]) {
      queues_[follower].follow(pick);
      touch(job_.queues[follower].actor);
    }
  }
  rule.issue(item.number);
  ActorState& state = actors_[item.actor];
  state.next_in_order = id + 1;
  state.offered = false;
  state.last_issued = id;
  ++state.not_ended;
}

/// Marks the next communication item in program order as ready in its queue, unless it must wait
/// for an earlier item.  Returns whether the item may be issued.  Used if all communicators issue
/// in program order.
bool Simulator::offer_next(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  const ItemId end = job_.actors[actor].steps.back();
  ItemId& next = state.next_in_order;
  while (next < end && !communicates(job_.items[next])) {
    ++next;
  }
  if (next == end || !item_[next].ready || !may_overlap_last(next)) {
    return false;
  }
  if (!state.offered) {
    state.offered = true;
    queue_of(job_.items[next]).ready(job_.items[next].number);
  }
  return true;
}

/// Whether an item may be issued before the last issued one has ended.  Collectives of one
/// communicator may, because their transfer queue keeps their order.
bool Simulator::may_overlap_last(ItemId id) const {
  const Item& item = job_.items[id];
  const ActorState& state = actors_[item.actor];
  const Item& last = job_.items[state.last_issued];
  return state.not_ended == 0 || (last.queue == item.queue && last.kind == ItemKind::kCollective &&
                                  item.kind == ItemKind::kCollective);
}

/// Frees the credit of a communication item that has ended.
void Simulator::leave_queue(const Item& item) {
  queue_of(item).end(item.bytes);
  --actors_[item.actor].not_ended;
  touch(item.actor);
}

/// Issues the ready ops of an actor.  A rank issues one op at a time.
void Simulator::issue_ready(std::uint32_t actor) {
  ActorState& state = actors_[actor];
  while (!state.issuing && (!program_order_ || offer_next(actor))) {
    std::optional<plan::IssueCandidate<ItemId>> first;
    for (const std::uint32_t queue : job_.actors[actor].queues) {
      if (const auto next = queues_[queue].next()) {
        const ItemId item = job_.queues[queue].items[static_cast<std::size_t>(*next)];
        const plan::IssueCandidate<ItemId> candidate{job_.items[item].priority, item, queue};
        first = std::min(first.value_or(candidate), candidate);
      }
    }
    if (!first) {
      return;
    }
    const ItemId item = first->place;
    issue_from_queue(static_cast<std::uint32_t>(first->queue), item);
    const plan::Picoseconds cost = costs_.free_communication ? 0 : costs_.software.issue;
    item_intervals_[item].begin = now_;
    if (cost > 0) {
      state.issuing = true;
      events_.push(plan::later(now_, cost), EventKind::kIssued, item);
    } else {
      issued(item);
    }
  }
}

void Simulator::issued(ItemId id) {
  const Item& item = job_.items[id];
  item_[id].issued = true;
  if (item.transfers == 0) {
    leave_queue(item);
    complete(id);
    return;
  }
  for (const TransferId t : job_.transfers_of(item)) {
    if (--absent_[t] == 0) {
      const std::uint32_t queue = job_.transfers[t].queue;
      transfer_queues_[queue].to_start.push(t);
      mark_transfer_queue_dirty(queue);
    }
  }
}

void Simulator::mark_transfer_queue_dirty(std::uint32_t transfer_queue) {
  if (!transfer_queues_[transfer_queue].dirty) {
    transfer_queues_[transfer_queue].dirty = true;
    dirty_transfer_queues_.push_back(transfer_queue);
  }
}

/// Starts the transfers of a queue, at most as many at once as the engine performs.
void Simulator::start_queued_transfers(std::uint32_t index) {
  TransferQueue& transfer_queue = transfer_queues_[index];
  const cluster::SoftwareCosts& software = costs_.software;
  while (!transfer_queue.to_start.empty()) {
    const TransferId id = transfer_queue.to_start.front();
    const std::int32_t most = job_.transfers[id].message ? 1 : software.concurrent_collectives;
    if (most > 0 && transfer_queue.transfers_under_way >= most) {
      break;
    }
    transfer_queue.to_start.pop();
    ++transfer_queue.transfers_under_way;
    start_transfer(id);
  }
}

const std::optional<cluster::TransferCost>& Simulator::cost_of(const Transfer& transfer) const {
  const auto shape = static_cast<std::size_t>(transfer.shape);
  return transfer.message ? message_costs_[shape] : collective_costs_[shape];
}

void Simulator::start_transfer(TransferId id) {
  transfer_intervals_[id].begin = now_;
  change_in_flight(id, 1);
  const Transfer& transfer = job_.transfers[id];
  const auto& cost = cost_of(transfer);
  if (!cost) {
    end_transfer(id);
    return;
  }
  plan::Picoseconds latency = cost->latency;
  const plan::Picoseconds wait = costs_.software.collective_under_compute;
  if (wait > 0 && !transfer.message && computes(id)) {
    const auto shape = static_cast<std::size_t>(transfer.shape);
    latency += wait * cluster::log2_up(job_.collective_shapes[shape].group.ranks);
  }
  if (latency > 0) {
    events_.push(plan::later(now_, latency), EventKind::kLatency, id);
  } else {
    start_flow(id);
  }
}

bool Simulator::computes(TransferId id) const {
  return std::ranges::any_of(job_.device_ends_of(job_.transfers[id]),
                             [&](const DeviceEnd& end) { return actors_[end.actor].model.busy; });
}

std::int64_t Simulator::weight(const cluster::TransferCost& cost, const TransferLoad& load) {
  return load.device ? cost.device_weight * load.times
                     : (cost.network_weight * load.times + load.of - 1) / load.of;
}

void Simulator::start_flow(TransferId id) {
  const cluster::TransferCost& cost = *cost_of(job_.transfers[id]);
  if (cost.bytes == 0) {
    end_transfer(id);
    return;
  }
  flow_loads_.clear();
  for (std::uint32_t i = first_load_[id]; i < first_load_[id + 1]; ++i) {
    const TransferLoad& load = loads_[i];
    const std::int64_t times = weight(cost, load);
    if (times > 0) {
      flow_loads_.push_back({load.link, times});
    }
  }
  const cluster::FairShare::FlowId flow =
      network_.start(now_, id, cost.bytes, cost.limit_bytes_per_s, flow_loads_);
  if (flow_loads_.empty()) {
    network_.flow(flow).event = events_.push(network_.end_time_of(flow), EventKind::kFlow, flow);
  }
}

void Simulator::end_transfer(TransferId id) {
  const Transfer& transfer = job_.transfers[id];
  transfer_intervals_[id].end = now_;
  change_in_flight(id, -1);
  --transfer_queues_[transfer.queue].transfers_under_way;
  mark_transfer_queue_dirty(transfer.queue);
  for (const ItemId item : job_.items_of(transfer)) {
    if (--item_[item].transfers == 0) {
      leave_queue(job_.items[item]);
      complete(item);
    }
  }
}

void Simulator::change_in_flight(TransferId id, std::int32_t by) {
  if (!varies_) {
    return;
  }
  for (const ItemId item : job_.items_of(job_.transfers[id])) {
    const std::uint32_t actor = job_.items[item].actor;
    actors_[actor].in_flight += by;
    touch(actor);
  }
}

}  // namespace paceline::simulator
