// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "paceline/plan/cost.h"
#include "paceline/plan/deadlock.h"
#include "paceline/plan/issue_rule.h"
#include "paceline/plan/verify.h"

namespace paceline::plan {
namespace {

using ItemRef = PlanWorld::ItemRef;

/// Issues every op that may be issued and completes every op that may be completed, until nothing
/// changes.  In program order both are monotone, so the order of the visits does not matter.  Under
/// kPriority the leader's choice depends on timing.  One timing is simulated: the leader picks
/// among all ops that can become ready before it picks.
class OverlappedSimulation {
 public:
  explicit OverlappedSimulation(const PlanWorld& world) : world_(world) {
    for (const PlanWorld::MatchedCollective& collective : world.collectives()) {
      absent_.push_back(collective.items.size());
    }
    for (Rank rank = 0; rank < world.ranks(); ++rank) {
      add_side(rank);
    }
  }

  void run() {
    while (!ready_.empty() || !turns_.empty()) {
      if (!ready_.empty()) {
        const ItemRef place = ready_.front();
        ready_.pop_front();
        become_ready(place);
      } else {
        const auto [rank, on] = turns_.front();
        turns_.pop_front();
        issue_all(rank, on);
      }
    }
    for (Rank rank = 0; rank < world_.ranks(); ++rank) {
      for (std::size_t i = 0; i < world_.items(rank).size(); ++i) {
        if (!side(rank).complete[i]) {
          throw PlanError(deadlock(
              ItemRef{rank, i}, [this](const ItemRef& at) { return blocker(at); },
              [this](const ItemRef& at) { return world_.describe(at); }));
        }
      }
    }
  }

 private:
  /// The communication ops of one rank on one communicator.
  struct Queue {
    IssueRule rule;
    std::vector<std::size_t> items;  // in program order
  };
  struct RankState {
    std::vector<std::vector<std::size_t>> before, behind;
    std::vector<std::size_t> waits;  // by item: number of incomplete items in `before`
    std::map<CommunicatorId, Queue> queues;
    std::vector<IssueRule::Number> number;  // by item: its number in the rule of its queue
    std::vector<bool> issued, complete;
  };

  RankState& side(Rank rank) { return rank_states_[static_cast<std::size_t>(rank)]; }
  const Op& op(const ItemRef& place) const { return *world_.items(place.rank)[place.item].op; }
  std::int64_t bytes(const ItemRef& place) const {
    return credit_bytes_of(world_.setup(place.rank), op(place));
  }

  void add_side(Rank rank) {
    const auto& items = world_.items(rank);
    RankState mine;
    mine.before = world_.order(rank).waits_for;
    mine.behind.resize(items.size());
    mine.number.resize(items.size());
    mine.issued.resize(items.size());
    mine.complete.resize(items.size());
    std::optional<std::size_t> model_work;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (is_model_work(*items[i].op)) {
        if (model_work.has_value()) {
          mine.before[i].push_back(*model_work);
        }
        model_work = i;
      }
      if (communicator_of(*items[i].op)) {
        enqueue({rank, i}, mine);
      }
      for (const std::size_t earlier : mine.before[i]) {
        mine.behind[earlier].push_back(i);
      }
      mine.waits.push_back(mine.before[i].size());
      if (mine.waits.back() == 0) {
        ready_.push_back({rank, i});
      }
    }
    rank_states_.push_back(std::move(mine));
  }

  void enqueue(const ItemRef& place, RankState& mine) const {
    const CommunicatorId on = *communicator_of(op(place));
    const Communicator& group = world_.communicator(place.rank, on);
    Queue& queue = mine.queues
                       .try_emplace(on, Queue{.rule = {group.order, group.credit_bytes,
                                                       group.members.front() == place.rank},
                                              .items = {}})
                       .first->second;
    mine.number[place.item] = queue.rule.add(std::holds_alternative<Collective>(op(place).work),
                                             op(place).priority, bytes(place));
    queue.items.push_back(place.item);
  }

  /// Handles an op for which everything that it waits for on its own rank is complete.
  void become_ready(const ItemRef& place) {
    if (Queue* queue = queue_of(place)) {
      queue->rule.ready(side(place.rank).number[place.item]);
      turns_.emplace_back(place.rank, *communicator_of(op(place)));
    } else {
      side(place.rank).issued[place.item] = true;
      complete(place);
    }
  }

  Queue* queue_of(const ItemRef& place) {
    const auto on = communicator_of(op(place));
    return on ? &side(place.rank).queues.at(*on) : nullptr;
  }

  void issue_all(Rank rank, CommunicatorId on) {
    Queue& queue = side(rank).queues.at(on);
    while (const auto number = queue.rule.next()) {
      const ItemRef place{rank, queue.items[static_cast<std::size_t>(*number)]};
      if (queue.rule.picks()) {
        send_pick_to_members(place, queue.rule.collective_number(*number));
      }
      queue.rule.issue(*number);
      side(rank).issued[place.item] = true;
      issued(place);
    }
  }

  void send_pick_to_members(const ItemRef& place, IssueRule::Number pick) {
    const auto* collective = std::get_if<Collective>(&op(place).work);
    if (collective == nullptr) {
      return;
    }
    for (const Rank member : world_.communicator(place.rank, collective->on).members) {
      if (member != place.rank) {
        side(member).queues.at(collective->on).rule.follow(pick);
        turns_.emplace_back(member, collective->on);
      }
    }
  }

  /// Called after the op at `place` was issued. Completes a collective that all its members have
  /// now issued. Completes an exchange, and each exchange at the other end of its messages, if it
  /// and all of its partners are issued.
  void issued(const ItemRef& place) {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    if (std::holds_alternative<Collective>(item.op->work)) {
      if (--absent_[item.collective] == 0) {
        for (const ItemRef& partner : world_.partners(place)) {
          complete(partner);
        }
      }
      return;
    }
    std::vector<ItemRef> ends = world_.partners(place);
    ends.push_back(place);
    for (const ItemRef& end : ends) {
      if (side(end.rank).issued[end.item] && !side(end.rank).complete[end.item] &&
          !absent_partner(end).has_value()) {
        complete(end);
      }
    }
  }

  void complete(const ItemRef& place) {
    RankState& mine = side(place.rank);
    mine.complete[place.item] = true;
    if (Queue* queue = queue_of(place)) {
      queue->rule.end(bytes(place));
      turns_.emplace_back(place.rank, *communicator_of(op(place)));
    }
    for (const std::size_t later : mine.behind[place.item]) {
      if (--mine.waits[later] == 0) {
        ready_.push_back({place.rank, later});
      }
    }
  }

  /// Returns the first partner of an issued op that is not issued yet; nullopt if all partners are
  /// issued.
  std::optional<ItemRef> absent_partner(const ItemRef& place) {
    for (const ItemRef& partner : world_.partners(place)) {
      if (!side(partner.rank).issued[partner.item]) {
        return partner;
      }
    }
    return std::nullopt;
  }

  /// The op that an incomplete op waits for: an op of its rank, the op that its communicator's
  /// order puts first, the oldest op in flight that uses up the credit, or a partner.
  ItemRef blocker(const ItemRef& place) {
    const RankState& mine = side(place.rank);
    for (const std::size_t earlier : mine.before[place.item]) {
      if (!mine.complete[earlier]) {
        return {place.rank, earlier};
      }
    }
    if (mine.issued[place.item]) {
      return absent_partner(place).value();
    }
    const Queue& queue = *queue_of(place);
    const IssueRule::Number number = mine.number[place.item];
    if (const auto ahead = queue.rule.op_required_before(number)) {
      return {place.rank, queue.items[static_cast<std::size_t>(*ahead)]};
    }
    if (queue.rule.is_held_by_credit(number)) {
      const auto in_flight = [&](std::size_t item) {
        return mine.issued[item] && !mine.complete[item] && bytes({place.rank, item}) > 0;
      };
      return {place.rank, *std::ranges::find_if(queue.items, in_flight)};
    }
    return world_.partners(place).front();  // the leader, which has not picked the op
  }

  const PlanWorld& world_;
  std::vector<RankState> rank_states_;
  std::deque<ItemRef> ready_;
  std::deque<std::pair<Rank, CommunicatorId>> turns_;  // queues that may have an op to issue
  std::vector<std::size_t> absent_;  // by collective: number of members that have not issued it
};

}  // namespace

void verify_overlapped(const PlanWorld& world) { OverlappedSimulation(world).run(); }

}  // namespace paceline::plan
