// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/messages.h"

#include <algorithm>

#include <fmt/format.h>

#include "paceline/plan/describe.h"
#include "paceline/plan/plan_world.h"

namespace paceline::simulator {

std::vector<Messages::MatchedTransfer> Messages::find() {
  for (std::uint32_t a = 0; a < job_.actors.size(); ++a) {
    const RankProgram& program = programs_.of(job_.actors[a].rank);
    for (const bool send : {true, false}) {
      for (const auto& [peer, ends] : send ? program.ends.sends : program.ends.receives) {
        for (std::size_t n = 0; n < ends.size(); ++n) {
          join({a, ends[n].item, ends[n].slot, send}, peer, n);
        }
      }
    }
  }
  std::map<std::size_t, std::vector<ExchangeMember>> parts;
  for (const auto& [slot, index] : nodes_) {
    parts[root(index)].push_back(slot);
  }
  std::vector<MatchedTransfer> all;
  for (const auto& [index, slots] : parts) {
    all.push_back(found(slots));
  }
  return all;
}

std::size_t Messages::node(const ExchangeMember& slot) {
  const auto [at, fresh] = nodes_.try_emplace(slot, parent_.size());
  if (fresh) {
    parent_.push_back(at->second);
  }
  return at->second;
}

std::size_t Messages::root(std::size_t node) {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

void Messages::join(const ExchangeMember& slot, const plan::Endpoints::Peer& peer, std::size_t n) {
  const std::size_t a = root(node(slot));
  const std::size_t b = root(node(partner_of(slot, peer, n)));
  parent_[std::max(a, b)] = std::min(a, b);
}

const plan::Message& Messages::message_of(const ExchangeMember& slot) {
  const RankProgram& program = programs_.of(job_.actors[slot.actor].rank);
  const auto& work = std::get<plan::Exchange>(program.op(slot.item).work);
  return (slot.send ? work.sends : work.receives)[slot.slot];
}

/// Returns the entry at the other end of `slot`'s message, which is the n-th message between the
/// entry's rank and `peer`.
Messages::ExchangeMember Messages::partner_of(const ExchangeMember& slot,
                                              const plan::Endpoints::Peer& peer, std::size_t n) {
  const plan::Rank me = job_.actors[slot.actor].rank;
  const RankProgram& mine = programs_.of(me);
  const auto [theirs, end] = programs_.partner_of(me, peer, slot.send, n, job_.classes.orbits);
  const auto reject = [&](const char* why) {
    throw plan::PlanError(fmt::format(
        "rank {}: {}: {} rank {}", me,
        plan::describe(mine.op(slot.item), job_.input.model, mine.setup), why, peer.second));
  };
  if (end == nullptr) {
    reject("a message has no other end on");
  }
  const auto& other = std::get<plan::Exchange>(theirs.op(end->item).work);
  const auto& ends = slot.send ? other.receives : other.sends;
  if (plan::signature_of(mine.setup, message_of(slot)) !=
      plan::signature_of(theirs.setup, ends[end->slot])) {
    reject("a message has another size or type on");
  }
  return {job_.actor_of(peer.second), end->item, end->slot, !slot.send};
}

Messages::MatchedTransfer Messages::found(const std::vector<ExchangeMember>& slots) {
  const auto sender = std::ranges::find(slots, true, &ExchangeMember::send);
  const ExchangeMember& first = sender == slots.end() ? slots.front() : *sender;
  MatchedTransfer found;
  found.transfer.message = true;
  found.transfer.queue = channel_of(first);
  found.transfer.shape = shape_of(first, slots);
  const bool remote = job_.message_shapes[static_cast<std::size_t>(found.transfer.shape)].remote;
  for (const ExchangeMember& slot : slots) {
    found.items.insert(job_.actors[slot.actor].first + slot.item);
    add_end(slot, remote, found);
  }
  return found;
}

std::int64_t Messages::bytes_of(const ExchangeMember& slot) {
  const plan::Message& message = message_of(slot);
  const plan::Setup& setup = programs_.of(job_.actors[slot.actor].rank).setup;
  const plan::Buffer& buffer = setup.buffers[plan::index_of(message.slice.buffer)];
  return std::min(message.slice.count, buffer.typical.value_or(message.slice.count)) *
         plan::size_of(buffer.dtype);
}

/// Returns the index in job_.message_shapes of the shape of a transfer with these entries; `slot`
/// is one of them.
std::int32_t Messages::shape_of(const ExchangeMember& slot,
                                const std::vector<ExchangeMember>& slots) {
  const plan::Rank me = job_.actors[slot.actor].rank;
  const auto host_of = [&](plan::Rank rank) {
    return job_.classes.host_of[static_cast<std::size_t>(rank)];
  };
  MessageShape shape{.remote = host_of(message_of(slot).peer) != host_of(me)};
  for (const ExchangeMember& end : slots) {
    shape.bytes = std::max(shape.bytes, bytes_of(end));
  }
  const auto [at, fresh] =
      shapes_.try_emplace(shape, static_cast<std::int32_t>(job_.message_shapes.size()));
  if (fresh) {
    job_.message_shapes.push_back(shape);
  }
  return at->second;
}

std::uint32_t Messages::channel_of(const ExchangeMember& slot) {
  const RankProgram& program = programs_.of(job_.actors[slot.actor].rank);
  const auto on = plan::communicator_of(program.op(slot.item));
  const auto [at, fresh] = channels_.try_emplace(
      {plan::index_of(*on), slot.actor, message_of(slot).peer}, job_.transfer_queues);
  job_.transfer_queues += fresh ? 1 : 0;
  return at->second;
}

void Messages::add_end(const ExchangeMember& slot, bool remote, MatchedTransfer& found) const {
  const Actor& actor = job_.actors[slot.actor];
  const auto here = [&](const auto& end) {
    return end.actor == slot.actor && end.out == slot.send;
  };
  const auto device = std::ranges::find_if(found.device_ends, here);
  if (device != found.device_ends.end()) {
    device->flows += 1;
    device->count_on_host += actor.count_on_host;
  } else {
    found.device_ends.push_back({.actor = slot.actor,
                                 .host = actor.host,
                                 .out = slot.send,
                                 .flows = 1,
                                 .count_on_host = actor.count_on_host});
  }
  if (!remote) {
    return;
  }
  const auto network = std::ranges::find_if(found.network_ends, here);
  if (network != found.network_ends.end()) {
    network->flows += actor.count_on_host;
    network->device_flows += 1;
  } else {
    found.network_ends.push_back(
        {.actor = slot.actor, .host = actor.host, .out = slot.send, .flows = actor.count_on_host});
  }
}

}  // namespace paceline::simulator
