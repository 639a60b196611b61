// SPDX-License-Identifier: Apache-2.0
#include "paceline/plan/interpreter.h"

#include <algorithm>
#include <optional>

#include "paceline/plan/plan_world.h"

namespace paceline::plan {
namespace {

class InOrderInterpreter {
 public:
  InOrderInterpreter(const PlanWorld& world, Machine& machine, SendMode sends)
      : world_(world),
        machine_(machine),
        sends_(sends),
        position_(static_cast<std::size_t>(world.ranks()), 0),
        has_exchange_sent_(position_.size(), false),
        is_message_sent_(world.messages().size(), false) {}

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (Rank rank = 0; rank < world_.ranks(); ++rank) {
        while (advance(rank)) {
          moved = true;
        }
      }
    }
    for (Rank rank = 0; rank < world_.ranks(); ++rank) {
      if (!ended(rank)) {
        throw PlanError(chain(rank));
      }
    }
  }

 private:
  std::size_t& position(Rank rank) { return position_[static_cast<std::size_t>(rank)]; }
  bool ended(Rank rank) { return position(rank) == world_.items(rank).size(); }

  /// Runs the rank's next op; returns false if that op must wait for another rank.
  bool advance(Rank rank) {
    if (ended(rank)) {
      return false;
    }
    const PlanWorld::Item& item = world_.items(rank)[position(rank)];
    if (std::holds_alternative<Collective>(item.op->work)) {
      return perform_if_all_reached(item);
    }
    if (const auto* exchange = std::get_if<Exchange>(&item.op->work)) {
      return deliver(rank, item, *exchange);
    }
    if (const auto* forward = std::get_if<Forward>(&item.op->work)) {
      machine_.forward(rank, item.step, *forward);
    } else if (const auto* backward = std::get_if<Backward>(&item.op->work)) {
      machine_.backward(rank, item.step, *backward);
    } else {
      machine_.kernel(rank, item.step, std::get<Kernel>(item.op->work));
    }
    ++position(rank);
    return true;
  }

  bool perform_if_all_reached(const PlanWorld::Item& item) {
    const PlanWorld::MatchedCollective& collective = world_.collectives()[item.collective];
    const Communicator& on = world_.communicator(collective);
    std::vector<const Collective*> parts;
    for (std::size_t m = 0; m < on.members.size(); ++m) {
      if (position(on.members[m]) != collective.items[m]) {
        return false;
      }
      parts.push_back(
          &std::get<Collective>(world_.items(on.members[m])[collective.items[m]].op->work));
    }
    machine_.collective(on, parts);
    for (const Rank member : on.members) {
      ++position(member);
    }
    return true;
  }

  bool deliver(Rank rank, const PlanWorld::Item& item, const Exchange& exchange) {
    const auto index = static_cast<std::size_t>(rank);
    bool moved = false;
    if (!has_exchange_sent_[index]) {
      for (std::size_t s = 0; s < item.sends.size(); ++s) {
        machine_.send(rank, exchange.sends[s].slice, item.sends[s]);
        is_message_sent_[item.sends[s]] = true;
      }
      has_exchange_sent_[index] = true;
      moved = !item.sends.empty();
    }
    if (missing_partner(item)) {
      return moved;
    }
    for (std::size_t s = 0; s < item.receives.size(); ++s) {
      machine_.receive(rank, exchange.receives[s].slice, item.receives[s]);
    }
    has_exchange_sent_[index] = false;
    ++position(rank);
    return true;
  }

  /// Returns a rank that has not yet sent or received a message of the exchange; nullopt if the
  /// exchange can complete.
  std::optional<Rank> missing_partner(const PlanWorld::Item& item) {
    for (const std::size_t message : item.receives) {
      if (!is_message_sent_[message]) {
        return world_.messages()[message].from;
      }
    }
    for (const std::size_t message : item.sends) {
      const PlanWorld::MatchedMessage& sent = world_.messages()[message];
      if (sends_ == SendMode::kWait && position(sent.to) < sent.receive_item) {
        return sent.to;
      }
    }
    return std::nullopt;
  }

  /// Returns a rank for which the blocked rank `rank` waits.
  Rank blocker(Rank rank) {
    const PlanWorld::Item& item = world_.items(rank)[position(rank)];
    if (std::holds_alternative<Collective>(item.op->work)) {
      const PlanWorld::MatchedCollective& collective = world_.collectives()[item.collective];
      const auto& members = world_.communicator(collective).members;
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (position(members[m]) != collective.items[m]) {
          return members[m];
        }
      }
    }
    const auto partner = missing_partner(item);
    PACELINE_CHECK(partner.has_value());
    return *partner;
  }

  std::string chain(Rank rank) {
    std::string text =
        sends_ == SendMode::kWait
            ? "the ranks wait for each other where each performs one operation at a time, in "
              "program order: "
            : "the plan blocks when its ops run one by one: ";
    std::vector<Rank> seen;
    while (true) {
      const bool again = std::ranges::find(seen, rank) != seen.end();
      text += world_.describe({rank, position(rank)});
      if (again || ended(rank)) {
        return text;
      }
      text += "; waits for ";
      seen.push_back(rank);
      rank = blocker(rank);
    }
  }

  const PlanWorld& world_;
  Machine& machine_;
  SendMode sends_;
  std::vector<std::size_t> position_;    // by rank: index of the next item
  std::vector<bool> has_exchange_sent_;  // by rank: whether the next item has sent its messages
  std::vector<bool> is_message_sent_;    // by message: whether it has been sent
};

}  // namespace

void interpret(const PlanWorld& world, Machine& machine, SendMode sends) {
  InOrderInterpreter(world, machine, sends).run();
}

}  // namespace paceline::plan
