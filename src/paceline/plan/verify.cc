// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/verify.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "paceline/plan/cost.h"
#include "paceline/plan/interpreter.h"

namespace paceline::plan {
namespace {

using Place = PlanWorld::Place;

/// Moves nothing: the interpreter is run for its order alone.
class NullMachine final : public Machine {
 public:
  void forward(Rank, Step, const Forward&) override {}
  void backward(Rank, Step, const Backward&) override {}
  void kernel(Rank, Step, const Kernel&) override {}
  void collective(const Communicator&,
                  const std::vector<const Collective*>&) override {}
  void send(Rank, const Slice&, std::size_t) override {}
  void receive(Rank, const Slice&, std::size_t) override {}
};

/// Issues what may be issued and completes what may be completed, until
/// nothing moves.  Both are monotone, so the order in which it looks does not
/// matter.  Under kPriority the order of issue, and with it what credit holds
/// back, is the leader's choice at run time: neither is walked.
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
          throw PlanError(chain({rank, i}));
        }
      }
    }
  }

 private:
  /// A communicator's ops on one rank, which are issued in this order.
  struct Queue {
    std::vector<std::size_t> items;
    std::size_t issued = 0;
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
      if (on && world_.communicator(*on).order == Order::kProgram) {
        auto& queue = mine.queues[*on].items;
        if (!queue.empty()) {
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
    return credit_blocker(place);
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
        world_.communicator(*communicator_of(op)).credit_bytes;
    if (credit == std::numeric_limits<std::int64_t>::max()) {
      return std::nullopt;
    }
    std::optional<Place> oldest;
    std::int64_t bytes = 0;
    for (std::size_t n = 0; n < queue->issued; ++n) {
      const Place other{place.rank, queue->items[n]};
      if (!side(place.rank).complete[other.item]) {
        bytes += bytes_in_flight(world_.setup(place.rank),
                                 *world_.items(place.rank)[other.item].op);
        oldest = oldest.value_or(other);
      }
    }
    return bytes >= credit ? oldest : std::nullopt;
  }

  /// Looks again at the op that may have waited behind `place` to be issued.
  void queue_next(const Place& place) {
    const Queue* queue = queue_of(place);
    if (queue != nullptr && queue->issued < queue->items.size()) {
      queue_.push_back({place.rank, queue->items[queue->issued]});
    }
  }

  /// Those who must issue, too, before `place` can complete.
  std::vector<Place> partners(const Place& place) const {
    const PlanWorld::Item& item = world_.items(place.rank)[place.item];
    std::vector<Place> all;
    if (std::holds_alternative<Collective>(item.op->work)) {
      const PlanWorld::Meeting& meeting = world_.meetings()[item.meeting];
      const auto& members = world_.communicator(meeting.on).members;
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

  void try_issue(const Place& place) {
    Side& mine = side(place.rank);
    if (mine.issued[place.item] || issue_blocker(place).has_value()) {
      return;
    }
    mine.issued[place.item] = true;
    if (Queue* queue = queue_of(place); queue != nullptr) {
      ++queue->issued;
    }
    queue_next(place);
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

  std::string chain(Place place) {
    std::vector<Place> seen;
    while (std::ranges::find(seen, place) == seen.end()) {
      seen.push_back(place);
      place = blocker(place);
    }
    std::string text = "ops wait for each other: ";
    for (auto it = std::ranges::find(seen, place); it != seen.end(); ++it) {
      text += world_.describe(*it) + "; waits for ";
    }
    return text + world_.describe(place);
  }

  const PlanWorld& world_;
  std::vector<Side> sides_;
  std::deque<Place> queue_;
  std::vector<std::size_t> absent_;  // by meeting: members that have not issued
};

}  // namespace

void verify_overlapped(const PlanWorld& world) {
  Overlapped(world).run();
}

void verify(const Planner& planner, const PlanInput& input, Step steps) {
  const PlanWorld world(planner, input, steps);
  NullMachine machine;
  interpret(world, machine);
  verify_overlapped(world);
}

}  // namespace paceline::plan
