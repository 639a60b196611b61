// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "paceline/plan/plan_world.h"

namespace paceline::plan {

void PlanWorld::check_agreement(const ItemRef& first, const ItemRef& other) const {
  const RankPlan& a = rank_plan_of(first.rank);
  const RankPlan& b = rank_plan_of(other.rank);
  if (signature_of(a.setup, std::get<Collective>(a.items[first.item].op->work)) !=
      signature_of(b.setup, std::get<Collective>(b.items[other.item].op->work))) {
    reject(first, fmt::format("meets another kind, size, type or root at {}", describe(other)));
  }
}

void PlanWorld::match_collectives() {
  const std::size_t count = rank_plans_.front().setup.communicators.size();
  for (std::size_t c = 0; c < count; ++c) {
    const CommunicatorId on{static_cast<std::int32_t>(c)};
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Communicator& group = communicator(rank, on);
      if (group.members.index_of_rank(rank) == std::size_t{0}) {
        match_group(group, on);
      }
    }
  }
}

void PlanWorld::match_group(const Communicator& group, CommunicatorId on) {
  const Members& members = group.members;
  const auto count_of = [&](Rank member) {
    const auto& lists = rank_plan_of(member).ends.collectives;
    const auto found = lists.find(on);
    return found == lists.end() ? 0 : found->second.size();
  };
  std::size_t longest = 0;
  for (const Rank member : members) {
    longest = std::max(longest, count_of(member));
  }
  for (std::size_t n = 0; n < longest; ++n) {
    MatchedCollective collective{on, members.front(), {}};
    for (const Rank member : members) {
      const std::uint32_t* item = rank_plan_of(member).ends.collective(on, n);
      if (item == nullptr) {
        throw PlanError(
            fmt::format("communicator '{}': rank {} has only {} collectives, another member has {}",
                        group.name, member, count_of(member), longest));
      }
      collective.items.push_back(*item);
      check_agreement({members.front(), collective.items.front()}, {member, *item});
      rank_plans_[static_cast<std::size_t>(member)].items[*item].collective = collectives_.size();
    }
    collectives_.push_back(std::move(collective));
  }
}

void PlanWorld::match_messages() {
  std::set<std::tuple<CommunicatorId, Rank, Rank>> pairs;  // communicator, sender, receiver
  for (Rank rank = 0; rank < ranks(); ++rank) {
    for (const auto& [peer, ends] : rank_plan_of(rank).ends.sends) {
      pairs.emplace(peer.first, rank, peer.second);
    }
    for (const auto& [peer, ends] : rank_plan_of(rank).ends.receives) {
      pairs.emplace(peer.first, peer.second, rank);
    }
    for (Item& item : rank_plans_[static_cast<std::size_t>(rank)].items) {
      if (const auto* work = std::get_if<Exchange>(&item.op->work)) {
        item.sends.resize(work->sends.size());
        item.receives.resize(work->receives.size());
      }
    }
  }
  for (const auto& [on, from, to] : pairs) {
    match_messages_between(from, to, on);
  }
}

void PlanWorld::match_messages_between(Rank from, Rank to, CommunicatorId on) {
  const auto exists = [&](Rank rank) { return rank >= 0 && rank < ranks(); };
  const auto count = [&](Rank rank, Rank peer, bool sent) -> std::size_t {
    if (!exists(rank)) {
      return 0;
    }
    const auto& lists = sent ? rank_plan_of(rank).ends.sends : rank_plan_of(rank).ends.receives;
    const auto found = lists.find({on, peer});
    return found == lists.end() ? 0 : found->second.size();
  };
  const std::size_t sent = count(from, to, true);
  const std::size_t received = count(to, from, false);
  if (sent != received || from == to) {
    throw PlanError(
        fmt::format("communicator '{}': rank {} sends {} messages to rank {}, which receives {}",
                    communicator(exists(from) ? from : to, on).name, from, sent, to, received));
  }
  RankPlan& sender = rank_plans_[static_cast<std::size_t>(from)];
  RankPlan& receiver = rank_plans_[static_cast<std::size_t>(to)];
  for (std::size_t n = 0; n < sent; ++n) {
    const Endpoints::End& out = *sender.ends.message({on, to}, true, n);
    const Endpoints::End& in = *receiver.ends.message({on, from}, false, n);
    Item& send = sender.items[out.item];
    Item& receive = receiver.items[in.item];
    const auto& sends = std::get<Exchange>(send.op->work).sends;
    const auto& receives = std::get<Exchange>(receive.op->work).receives;
    if (signature_of(sender.setup, sends[out.slot]) !=
        signature_of(receiver.setup, receives[in.slot])) {
      reject({from, out.item}, fmt::format("message {} to rank {} has another size or type at "
                                           "{}",
                                           n, to, describe({to, in.item})));
    }
    send.sends[out.slot] = messages_.size();
    receive.receives[in.slot] = messages_.size();
    messages_.push_back({from, to, out.item, in.item});
  }
}

}  // namespace paceline::plan
