// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "paceline/plan/plan_world.h"

namespace paceline::plan {
namespace {

DType type_of(const Setup& setup, const Slice& slice) {
  return setup.buffers[index_of(slice.buffer)].dtype;
}

}  // namespace

void PlanWorld::check_agreement(const Place& first, const Place& other) const {
  const Setup& a = side(first.rank).setup;
  const Setup& b = side(other.rank).setup;
  const auto& x =
      std::get<Collective>(side(first.rank).items[first.item].op->work);
  const auto& y =
      std::get<Collective>(side(other.rank).items[other.item].op->work);
  const bool agree =
      std::tie(x.pattern, x.in.count, x.out.count, x.reduce, x.root) ==
          std::tie(y.pattern, y.in.count, y.out.count, y.reduce, y.root) &&
      type_of(a, x.in) == type_of(b, y.in) &&
      type_of(a, x.out) == type_of(b, y.out);
  if (!agree) {
    refuse(first,
           fmt::format("meets another kind, size, type or root at {}",
                       describe(other)));
  }
}

void PlanWorld::match_collectives() {
  const std::size_t count = sides_.front().setup.communicators.size();
  for (std::size_t c = 0; c < count; ++c) {
    const CommunicatorId on{static_cast<std::int32_t>(c)};
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const Communicator& group = communicator(rank, on);
      if (group.members.place_of(rank) == std::size_t{0}) {
        match_group(group, on);
      }
    }
  }
}

void PlanWorld::match_group(const Communicator& group, CommunicatorId on) {
  const Members& members = group.members;
  std::vector<std::vector<std::size_t>> lists;  // items, in program order
  for (const Rank rank : members) {
    lists.emplace_back();
    for (std::size_t i = 0; i < items(rank).size(); ++i) {
      const auto* work = std::get_if<Collective>(&items(rank)[i].op->work);
      if (work != nullptr && work->on == on) {
        lists.back().push_back(i);
      }
    }
  }
  std::size_t longest = 0;
  for (const auto& list : lists) {
    longest = std::max(longest, list.size());
  }
  for (std::size_t n = 0; n < longest; ++n) {
    Meeting meeting{on, members.front(), {}};
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (n >= lists[m].size()) {
        throw PlanError(fmt::format(
            "communicator '{}': rank {} has only {} collectives, another "
            "member has {}",
            group.name,
            members[m],
            lists[m].size(),
            longest));
      }
      check_agreement({members[0], lists[0][n]}, {members[m], lists[m][n]});
      meeting.items.push_back(lists[m][n]);
      sides_[static_cast<std::size_t>(members[m])].items[lists[m][n]].meeting =
          meetings_.size();
    }
    meetings_.push_back(std::move(meeting));
  }
}

void PlanWorld::match_messages() {
  struct End {
    std::size_t item, slot;
    Slice slice;
  };
  using Pair = std::tuple<CommunicatorId, Rank, Rank>;  // on, from, to
  std::map<Pair, std::pair<std::vector<End>, std::vector<End>>> pairs;
  for (Rank rank = 0; rank < ranks(); ++rank) {
    for (std::size_t i = 0; i < items(rank).size(); ++i) {
      const auto* work = std::get_if<Exchange>(&items(rank)[i].op->work);
      if (work == nullptr) {
        continue;
      }
      Item& item = sides_[static_cast<std::size_t>(rank)].items[i];
      item.sends.resize(work->sends.size());
      item.receives.resize(work->receives.size());
      for (std::size_t s = 0; s < work->sends.size(); ++s) {
        pairs[{work->on, rank, work->sends[s].peer}].first.push_back(
            {i, s, work->sends[s].slice});
      }
      for (std::size_t s = 0; s < work->receives.size(); ++s) {
        pairs[{work->on, work->receives[s].peer, rank}].second.push_back(
            {i, s, work->receives[s].slice});
      }
    }
  }
  for (const auto& [pair, ends] : pairs) {
    const auto& [on, from, to] = pair;
    const auto& [sent, received] = ends;
    if (sent.size() != received.size() || from == to) {
      throw PlanError(fmt::format(
          "communicator '{}': rank {} sends {} messages to rank {}, which "
          "receives {}",
          communicator(from, on).name,
          from,
          sent.size(),
          to,
          received.size()));
    }
    for (std::size_t n = 0; n < sent.size(); ++n) {
      if (sent[n].slice.count != received[n].slice.count ||
          type_of(setup(from), sent[n].slice) !=
              type_of(setup(to), received[n].slice)) {
        refuse({from, sent[n].item},
               fmt::format("message {} to rank {} has another size or type at "
                           "{}",
                           n,
                           to,
                           describe({to, received[n].item})));
      }
      sides_[static_cast<std::size_t>(from)]
          .items[sent[n].item]
          .sends[sent[n].slot] = mails_.size();
      sides_[static_cast<std::size_t>(to)]
          .items[received[n].item]
          .receives[received[n].slot] = mails_.size();
      mails_.push_back({from, to, sent[n].item, received[n].item});
    }
  }
}

}  // namespace paceline::plan
