// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "paceline/plan/cost.h"
#include "paceline/plan/deadlock.h"
#include "paceline/plan/verify.h"

namespace paceline::plan {
namespace {

using Place = PlanWorld::Place;

/// Issues what may be issued and completes what may be completed, until
/// nothing moves.  In program order both are monotone, so the order in which it
/// looks does not matter.  Under kPriority the leader's choice depends on
/// timing; walked is one timing, in which it picks the most urgent of the ops
/// that are ready when it looks, and the others follow its picks.
class Overlapped {
 public:
  explicit Overlapped(const PlanWorld& world) : world_(world) {
    for (const PlanWorld::Meeting& meeting : world.meetings()) {
      absent_.push_back(meeting.items.size());
    }
    for (Rank rank = 0; rank < world.ranks(); ++rank) {
      add_side(rank);
    }
  }

  void run() {
    for (Rank rank = 0; rank < world_.ranks(); ++rank) {
      for (std::size_t i = 0; i < world_.items(rank).size(); ++i) {
        queue_.push_back({rank, i});
      }
    }
    while (!queue_.empty()) {
      const Place place = queue_.front();
      queue_.pop_front();
      try_issue(place);
      try_complete(place);
    }
    for (Rank rank = 0; rank < world_.ranks(); ++rank) {
      for (std::size_t i = 0; i < world_.items(rank).size(); ++i) {
        if (!side(rank).complete[i]) {
          throw PlanError(deadlock(
              Place{rank, i},
              [this](const Place& at) { return blocker(at); },
              [this](const Place& at) { return world_.describe(at); }));
        }
      }
    }
  }

 private:
  /// A communicator's ops on one rank, which are issued in this order.
  struct Queue {
    std::vector<std::size_t> items;   // in program order
    std::vector<std::size_t> issued;  // in the order of issue
    std::size_t followed = 0;         // of the leader's picks
  };
  struct Side {
    std::vector<std::vector<std::size_t>> before, behind;
    std::vector<std::optional<std::size_t>> issued_after;  // on communicator
    std::map<CommunicatorId, Queue> queues;                // of kProgram
    std::vector<bool> issued, complete;
  };

  Side& side(Rank rank) { return sides_[static_cast<std::size_t>(rank)]; }

  void add_side(Rank rank) {
    const auto& items = world_.items(rank);
    Side mine;
    mine.before = world_.order(rank).waits_for;
    mine.behind.resize(items.size());
    mine.issued_after.resize(items.size());
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
      const auto on = communicator_of(*items[i].op);
      if (on) {
        auto& queue = mine.queues[*on].items;
        if (!queue.empty() &&
            world_.communicator(rank, *on).order == Order::kProgram) {
          mine.issued_after[i] = queue.back();
        }
        queue.push_back(i);
      }
      for (const std::size_t earlier : mine.before[i]) {
        mine.behind[earlier].push_back(i);
      }
    }
    sides_.push_back(std::move(mine));
  }

  bool is_issued(const Place& place) {
    return side(place.rank).issued[place.item];
  }

  /// The first op whose completion, or issue, `place` lacks for its issue.
  std::optional<Place> issue_blocker(const Place& place) {
    const Side& mine = side(place.rank);
    for (const std::size_t earlier : mine.before[place.item]) {
      if (!mine.complete[earlier]) {
        return Place{place.rank, earlier};
      }
    }
    const auto& previous = mine.issued_after[place.item];
    if (previous.has_value() && !mine.issued[*previous]) {
      return Place{place.rank, *previous};
    }
    if (const auto pick = pick_blocker(place)) {
      return pick;
    }
    return credit_blocker(place);
  }

  /// What it waits for on its own rank is complete.
  bool is_ready(const Place& place) {
    const Side& mine = side(place.rank);
    return std::ranges::all_of(
        mine.before[place.item],
        [&](std::size_t earlier) { return mine.complete[earlier]; });
  }

  /// Under kPriority, on a member that follows: the op that the leader picked
  /// before this one, or the leader's op where it has not picked this yet.
  std::optional<Place> pick_blocker(const Place& place) {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    const auto* collective = std::get_if<Collective>(&item.op->work);
    if (collective == nullptr) {
      return std::nullopt;
    }
    const Communicator& on = world_.communicator(place.rank, collective->on);
    if (on.order == Order::kProgram || on.members.front() == place.rank) {
      return std::nullopt;
    }
    const auto& picks = picks_[{collective->on, on.members.front()}];
    const std::size_t followed = queue_of(place)->followed;
    if (followed == picks.size()) {
      return Place{on.members.front(),
                   world_.meetings()[item.meeting].items.front()};
    }
    if (picks[followed] == item.meeting) {
      return std::nullopt;
    }
    const std::size_t member = *on.members.place_of(place.rank);
    return Place{place.rank, world_.meetings()[picks[followed]].items[member]};
  }

  /// The op that the leader of a kPriority communicator takes now, if it may
  /// issue at all: the most urgent ready one, which may be another than
  /// `place`.
  Place most_urgent(const Place& place) {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    const auto* collective = std::get_if<Collective>(&item.op->work);
    if (collective == nullptr) {
      return place;
    }
    const Communicator& on = world_.communicator(place.rank, collective->on);
    if (on.order == Order::kProgram || on.members.front() != place.rank) {
      return place;
    }
    const auto urgency = [&](std::size_t i) {
      const PlanWorld::Item& other = world_.items(place.rank)[i];
      return std::tuple(other.op->priority, other.step, other.index);
    };
    Place best = place;
    for (const std::size_t i : queue_of(place)->items) {
      const Op& op = *world_.items(place.rank)[i].op;
      if (!side(place.rank).issued[i] &&
          std::holds_alternative<Collective>(op.work) &&
          urgency(i) < urgency(best.item) && is_ready({place.rank, i})) {
        best.item = i;
      }
    }
    return best;
  }

  Queue* queue_of(const Place& place) {
    const auto on = communicator_of(*world_.items(place.rank)[place.item].op);
    auto& queues = side(place.rank).queues;
    const auto found = on ? queues.find(*on) : queues.end();
    return found == queues.end() ? nullptr : &found->second;
  }

  /// The oldest op in flight on the communicator if its credit is used up.
  std::optional<Place> credit_blocker(const Place& place) {
    const Op& op = *world_.items(place.rank)[place.item].op;
    const Queue* queue = queue_of(place);
    if (queue == nullptr) {
      return std::nullopt;
    }
    const std::int64_t credit =
        world_.communicator(place.rank, *communicator_of(op)).credit_bytes;
    if (credit == std::numeric_limits<std::int64_t>::max() ||
        bytes_on_credit(world_.setup(place.rank), op) == 0) {
      return std::nullopt;
    }
    std::optional<Place> oldest;
    std::int64_t bytes = 0;
    for (const std::size_t item : queue->issued) {
      const Place other{place.rank, item};
      if (!side(place.rank).complete[other.item]) {
        bytes += bytes_on_credit(world_.setup(place.rank),
                                 *world_.items(place.rank)[other.item].op);
        oldest = oldest.value_or(other);
      }
    }
    return bytes >= credit ? oldest : std::nullopt;
  }

  /// Looks again at the op that may have waited behind `place` to be issued.
  void queue_next(const Place& place) {
    const Queue* queue = queue_of(place);
    if (queue == nullptr) {
      return;
    }
    const CommunicatorId on =
        *communicator_of(*world_.items(place.rank)[place.item].op);
    const Communicator& communicator = world_.communicator(place.rank, on);
    if (communicator.order == Order::kProgram) {
      if (queue->issued.size() < queue->items.size()) {
        queue_.push_back({place.rank, queue->items[queue->issued.size()]});
      }
      return;
    }
    const auto& picks = picks_[{on, communicator.members.front()}];
    if (queue->followed < picks.size()) {
      const auto& meeting = world_.meetings()[picks[queue->followed]];
      queue_.push_back(
          {place.rank,
           meeting.items[*communicator.members.place_of(place.rank)]});
    }
    for (const std::size_t item : queue->items) {
      if (!is_issued({place.rank, item}) && is_ready({place.rank, item})) {
        queue_.push_back({place.rank, item});
        return;
      }
    }
  }

  /// Those who must issue, too, before `place` can complete.
  std::vector<Place> partners(const Place& place) const {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    std::vector<Place> all;
    if (std::holds_alternative<Collective>(item.op->work)) {
      const PlanWorld::Meeting& meeting = world_.meetings()[item.meeting];
      const auto& members = world_.communicator(meeting).members;
      for (std::size_t m = 0; m < members.size(); ++m) {
        all.push_back({members[m], meeting.items[m]});
      }
    }
    for (const std::size_t mail : item.sends) {
      all.push_back(
          {world_.mails()[mail].to, world_.mails()[mail].receive_item});
    }
    for (const std::size_t mail : item.receives) {
      all.push_back(
          {world_.mails()[mail].from, world_.mails()[mail].send_item});
    }
    return all;
  }

  /// The first partner of an issued op that has not issued.
  std::optional<Place> absent_partner(const Place& place) {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    if (std::holds_alternative<Collective>(item.op->work) &&
        absent_[item.meeting] == 0) {
      return std::nullopt;
    }
    for (const Place& partner : partners(place)) {
      if (!is_issued(partner)) {
        return partner;
      }
    }
    return std::nullopt;
  }

  void try_issue(const Place& looked_at) {
    if (is_issued(looked_at) || issue_blocker(looked_at).has_value()) {
      return;
    }
    const Place place = most_urgent(looked_at);
    Side& mine = side(place.rank);
    mine.issued[place.item] = true;
    book_issue(place);
    queue_next(place);
    if (place.item != looked_at.item) {
      queue_.push_back(place);
    }
    // A collective's members need to look again only when all are there.
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    if (std::holds_alternative<Collective>(item.op->work) &&
        --absent_[item.meeting] > 0) {
      return;
    }
    for (const Place& partner : partners(place)) {
      queue_.push_back(partner);
    }
  }

  /// Notes the order of issue, and the leader's pick.
  void book_issue(const Place& place) {
    Queue* queue = queue_of(place);
    if (queue == nullptr) {
      return;
    }
    queue->issued.push_back(place.item);
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    const auto* collective = std::get_if<Collective>(&item.op->work);
    if (collective == nullptr) {
      return;
    }
    const Communicator& on = world_.communicator(place.rank, collective->on);
    if (on.order == Order::kProgram) {
      return;
    }
    ++queue->followed;
    if (on.members.front() == place.rank) {
      picks_[{collective->on, place.rank}].push_back(item.meeting);
      for (const Place& partner : partners(place)) {
        queue_.push_back(partner);
      }
    }
  }

  void try_complete(const Place& place) {
    Side& mine = side(place.rank);
    if (!mine.issued[place.item] || mine.complete[place.item] ||
        absent_partner(place).has_value()) {
      return;
    }
    mine.complete[place.item] = true;
    queue_next(place);
    for (const std::size_t later : mine.behind[place.item]) {
      queue_.push_back({place.rank, later});
    }
  }

  /// What an op that stands still waits for.
  Place blocker(const Place& place) {
    if (!is_issued(place)) {
      return issue_blocker(place).value();
    }
    return absent_partner(place).value();
  }

  const PlanWorld& world_;
  std::vector<Side> sides_;
  std::deque<Place> queue_;
  // Of a communicator, by its first member: meetings.
  std::map<std::pair<CommunicatorId, Rank>, std::vector<std::size_t>> picks_;
  std::vector<std::size_t> absent_;  // by meeting: members that have not issued
};

}  // namespace

void verify_overlapped(const PlanWorld& world) {
  Overlapped(world).run();
}

}  // namespace paceline::plan
