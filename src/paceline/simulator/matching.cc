// SPDX-License-Identifier: Apache-2.0
#include "paceline/simulator/matching.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "paceline/base/error.h"
#include "paceline/base/ranks_per_host.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/describe.h"
#include "paceline/plan/plan_world.h"

namespace paceline::simulator {

Matching::Matching(RankPrograms& programs, Job& job)
    : programs_(programs), job_(job), transfers_of_(job.items.size()) {}

std::int32_t Matching::host_of(plan::Rank rank) const {
  return job_.classes.host_of[static_cast<std::size_t>(rank)];
}

void Matching::reject(plan::Rank rank, std::uint32_t item, const char* why) {
  const RankProgram& program = programs_.of(rank);
  throw plan::PlanError(
      fmt::format("rank {}: {}: {}", rank,
                  plan::describe(program.op(item), job_.input.model, program.setup), why));
}

void Matching::add() {
  for (std::uint32_t a = 0; a < job_.actors.size(); ++a) {
    const RankProgram& program = programs_.of(job_.actors[a].rank);
    // Number of earlier collectives by communicator.
    std::map<plan::CommunicatorId, std::size_t> before;
    for (std::uint32_t i = 0; i < program.begin.back(); ++i) {
      const plan::Op& op = program.op(i);
      if (const auto* work = std::get_if<plan::Collective>(&op.work)) {
        add_collective(a, i, before[work->on]++);
      }
    }
  }
  for (const Messages::MatchedTransfer& found : Messages(programs_, job_).find()) {
    put(found);
  }
  set_queue_leaders();
  index_transfers();
}

std::int32_t Matching::collective_shape(const cluster::CollectiveCall& call) {
  auto& shapes = job_.collective_shapes;
  const auto same = [&](const cluster::CollectiveCall& other) {
    return std::tie(other.pattern, other.bytes, other.group) ==
           std::tie(call.pattern, call.bytes, call.group);
  };
  auto found = std::ranges::find_if(shapes, same);
  if (found == shapes.end()) {
    found = shapes.insert(shapes.end(), call);
  }
  return static_cast<std::int32_t>(found - shapes.begin());
}

const Matching::MatchedGroup& Matching::group_of(std::uint32_t actor, plan::CommunicatorId on) {
  const auto [found, fresh] = groups_.try_emplace({actor, on});
  MatchedGroup& matched = found->second;
  if (!fresh) {
    return matched;
  }
  const plan::Members& members = programs_.of(job_.actors[actor].rank).on(on).members;
  std::vector<std::int32_t> hosts;
  hosts.reserve(members.size());
  for (const plan::Rank rank : members) {
    hosts.push_back(host_of(rank));
  }
  PACELINE_CHECK(!hosts.empty());
  const std::vector<plan::Rank> per_host = ranks_per_host<std::int32_t>(hosts);
  matched.group = {.ranks = static_cast<plan::Rank>(members.size()),
                   .hosts = static_cast<plan::Rank>(per_host.size()),
                   .ranks_on_fullest_host = std::ranges::max(per_host)};
  std::map<std::uint32_t, MemberClass> parts;
  std::size_t m = 0;
  for (const plan::Rank local : per_host) {
    for (plan::Rank i = 0; i < local; ++i, ++m) {
      const plan::Rank rank = members[m];
      MemberClass& part =
          parts
              .try_emplace(
                  job_.actor_of(rank),
                  MemberClass{.actor = job_.actor_of(rank), .member = rank, .local = local})
              .first->second;
      part.count_on_host += host_of(part.member) == hosts[m] ? 1 : 0;
    }
  }
  for (const auto& [key, part] : parts) {
    matched.parts.push_back(part);
  }
  matched.queue = job_.transfer_queues++;
  return matched;
}

/// Adds the transfer of `item`, which is the actor's n-th collective of its communicator.
void Matching::add_collective(std::uint32_t actor, std::uint32_t item, std::size_t n) {
  if (collectives_.contains({actor, item})) {
    return;
  }
  const plan::Rank rank = job_.actors[actor].rank;
  const RankProgram& mine = programs_.of(rank);
  const auto& work = std::get<plan::Collective>(mine.op(item).work);
  const MatchedGroup& matched = group_of(actor, work.on);
  const auto id = static_cast<TransferId>(job_.transfers.size());
  Messages::MatchedTransfer found;
  for (const MemberClass& part : matched.parts) {
    // The actor itself represents the members of its own class.
    const RankProgram& theirs = part.actor == actor ? mine : programs_.of(part.member);
    const std::uint32_t* other_item = theirs.ends.collective(work.on, n);
    if (other_item == nullptr) {
      reject(rank, item, "another member has fewer collectives");
    }
    const auto& other = std::get<plan::Collective>(theirs.op(*other_item).work);
    if (plan::signature_of(mine.setup, work) != plan::signature_of(theirs.setup, other)) {
      reject(rank, item,
             "meets another kind, size, type or root on another "
             "member");
    }
    collectives_.emplace(std::pair(part.actor, *other_item), id);
    found.items.insert(job_.actors[part.actor].first + *other_item);
  }
  found.transfer = {
      .queue = matched.queue,
      .shape = collective_shape({.pattern = work.pattern,
                                 .bytes = plan::payload_bytes(mine.setup, mine.op(item)),
                                 .group = matched.group})};
  add_collective_ends(matched, found);
  put(found);
}

/// Adds one endpoint in each direction per device and, if the communicator has members on several
/// hosts, per class of hosts.  If `count_on_host` members of a rank class belong to one such
/// collective, then the class's ranks on the host take part in (their number / `count_on_host`) of
/// them at once.
void Matching::add_collective_ends(const MatchedGroup& matched,
                                   Messages::MatchedTransfer& found) const {
  std::set<std::uint32_t> hosts;
  for (const MemberClass& part : matched.parts) {
    const Actor& actor = job_.actors[part.actor];
    const bool first_on_host = hosts.insert(actor.host).second;
    for (const bool out : {true, false}) {
      found.device_ends.push_back({.actor = part.actor,
                                   .host = actor.host,
                                   .out = out,
                                   .flows = 1,
                                   .count_on_host = actor.count_on_host});
      if (matched.group.hosts > 1) {
        found.network_ends.push_back({.actor = part.actor,
                                      .host = actor.host,
                                      .out = out,
                                      .first_on_host = first_on_host,
                                      .flows = actor.count_on_host / part.count_on_host,
                                      .cards = part.local});
      }
    }
  }
}

/// Sets the leader of each queue: the queue of the communicator's first member.  In a kPriority
/// communicator the other queues issue collectives in the order that the leader chooses.
void Matching::set_queue_leaders() {
  for (const auto& [key, matched] : groups_) {
    const auto& [actor, on] = key;
    const plan::Rank first = programs_.of(job_.actors[actor].rank).on(on).members.front();
    const std::uint32_t leader = queue_of(job_.actor_of(first), on);
    for (const MemberClass& part : matched.parts) {
      job_.queues[queue_of(part.actor, on)].leader = leader;
    }
  }
}

/// Returns the queue of communicator `on` at an actor that has an item there.
std::uint32_t Matching::queue_of(std::uint32_t actor, plan::CommunicatorId on) const {
  const auto& queues = job_.actors[actor].queues;
  const auto found = std::ranges::find_if(queues, [&](std::uint32_t queue) {
    const ItemId item = job_.queues[queue].items.front();
    const RankProgram& program = programs_.of(job_.actors[actor].rank);
    const plan::Op& op = program.op(item - job_.actors[actor].first);
    return *plan::communicator_of(op) == on;
  });
  PACELINE_CHECK(found != queues.end());
  return *found;
}

/// Adds the transfer to the job.
void Matching::put(const Messages::MatchedTransfer& found) {
  Transfer transfer = found.transfer;
  const auto append = [](auto& all, const auto& more, std::uint32_t& first, std::uint32_t& count) {
    first = static_cast<std::uint32_t>(all.size());
    count = static_cast<std::uint32_t>(more.size());
    all.insert(all.end(), more.begin(), more.end());
  };
  append(job_.participants, found.items, transfer.first_item, transfer.items);
  append(job_.device_ends, found.device_ends, transfer.first_device_end, transfer.device_ends);
  append(job_.network_ends, found.network_ends, transfer.first_network_end, transfer.network_ends);
  for (const ItemId item : found.items) {
    transfers_of_[item].push_back(static_cast<TransferId>(job_.transfers.size()));
  }
  job_.transfers.push_back(transfer);
}

void Matching::index_transfers() {
  for (std::size_t i = 0; i < job_.items.size(); ++i) {
    job_.items[i].first_transfer = static_cast<std::uint32_t>(job_.transfers_by_item.size());
    job_.items[i].transfers = static_cast<std::int32_t>(transfers_of_[i].size());
    job_.transfers_by_item.insert(job_.transfers_by_item.end(), transfers_of_[i].begin(),
                                  transfers_of_[i].end());
  }
}

}  // namespace paceline::simulator
