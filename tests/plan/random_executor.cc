// SPDX-License-Identifier: Apache-2.0
#include "plan/random_executor.h"

#include <algorithm>
#include <tuple>

#include "paceline/plan/cost.h"

namespace paceline::plan {
namespace {

/// Forward and Backward of micro-batch m of step t, in order of time.
int phase_of(const PlanWorld::Item& item) {
  if (const auto* forward = std::get_if<Forward>(&item.op->work)) {
    return static_cast<int>(item.step) * 100 + 2 * forward->micro;
  }
  if (const auto* backward = std::get_if<Backward>(&item.op->work)) {
    return static_cast<int>(item.step) * 100 + 2 * backward->micro + 1;
  }
  return -1;
}

}  // namespace

RandomExecutor::RandomExecutor(const PlanWorld& world, double sabotage, std::uint32_t sabotage_seed)
    : world_(world) {
  std::mt19937 rng(sabotage_seed);
  std::uniform_real_distribution<double> chance(0, 1);
  for (Rank rank = 0; rank < world.ranks(); ++rank) {
    add_side(rank);
    for (auto& waits : sides_.back().waits_for) {
      removed_ += static_cast<int>(
          std::erase_if(waits, [&](std::size_t) { return chance(rng) < sabotage; }));
    }
  }
}

void RandomExecutor::add_side(Rank rank) {
  const auto& items = world_.items(rank);
  PlanWorld::ItemDependencies order = world_.order(rank);
  Side mine;
  mine.waits_for = std::move(order.waits_for);
  mine.excludes = std::move(order.excludes);
  mine.relaxed.resize(items.size());
  mine.issued_after.resize(items.size());
  std::map<CommunicatorId, std::size_t> last;
  int newest_phase = -1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const std::size_t other : mine.excludes[i]) {
      mine.relaxed[i] = mine.relaxed[other] = true;
    }
    const int phase = phase_of(items[i]);
    if (phase >= 0 && phase != newest_phase) {
      newest_phase = phase;
      mine.phase_left.push_back(0);
    }
    mine.phase.push_back(phase < 0 ? -1 : static_cast<int>(mine.phase_left.size()) - 1);
    if (phase >= 0) {
      ++mine.phase_left.back();
    }
    if (const auto on = communicator_of(*items[i].op)) {
      if (const auto found = last.find(*on); found != last.end()) {
        mine.issued_after[i] = found->second;
      }
      last[*on] = i;
    }
  }
  sides_.push_back(std::move(mine));
}

void RandomExecutor::reset() {
  memory_.emplace(world_);
  moved_message_.assign(world_.messages().size(), false);
  moved_collective_.assign(world_.collectives().size(), false);
  picks_.clear();
  seen_.clear();
  for (Rank rank = 0; rank < world_.ranks(); ++rank) {
    Side& mine = side(rank);
    mine.tasks.assign(world_.items(rank).size(), {});
    mine.phase_now = 0;
    std::ranges::fill(mine.phase_left, 0);
    for (const int phase : mine.phase) {
      if (phase >= 0) {
        ++mine.phase_left[static_cast<std::size_t>(phase)];
      }
    }
  }
}

std::optional<std::string> RandomExecutor::run(std::uint32_t seed) {
  rng_.seed(seed);
  reset();
  std::vector<ItemRef> open;
  for (Rank rank = 0; rank < world_.ranks(); ++rank) {
    for (std::size_t i = 0; i < world_.items(rank).size(); ++i) {
      open.push_back({rank, i});
    }
  }
  try {
    while (!open.empty()) {
      // Mostly at random; one scan tells that nothing at all is allowed.
      std::size_t at = rng_() % open.size();
      for (int tries = 0; tries < 60 && !try_event(open[at]); ++tries) {
        at = tries < 59 ? rng_() % open.size() : open.size();
      }
      for (std::size_t i = 0; at == open.size() && i < open.size(); ++i) {
        at = try_event(open[i]) ? i : at;
      }
      if (at == open.size()) {
        return "no event is allowed; first: " + world_.describe(open.front());
      }
      if (task(open[at]).state == State::kDone) {
        open[at] = open.back();
        open.pop_back();
      }
    }
  } catch (const InMotion& error) {
    return error.what();
  }
  return std::nullopt;
}

bool RandomExecutor::try_event(const ItemRef& place) {
  Task& mine = task(place);
  if (mine.state == State::kWaiting) {
    if (!may_issue(place)) {
      return false;
    }
    issue(place);
    return true;
  }
  if (mine.state == State::kActive) {
    if (transfer(place)) {
      return true;
    }
    if (may_complete(place)) {
      complete(place);
      return true;
    }
  }
  return false;
}

bool RandomExecutor::is_ready(const ItemRef& place) {
  const Side& mine = side(place.rank);
  const int phase = mine.phase[place.item];
  if (phase >= 0 && static_cast<std::size_t>(phase) != mine.phase_now) {
    return false;
  }
  return std::ranges::all_of(mine.waits_for[place.item], [&](std::size_t other) {
    return mine.tasks[other].state == State::kDone;
  });
}

bool RandomExecutor::may_issue(const ItemRef& place) {
  return is_ready(place) && !excluded(place) && order_allows(place);
}

bool RandomExecutor::excluded(const ItemRef& place) {
  const Side& mine = side(place.rank);
  if (!std::holds_alternative<Kernel>(op(place).work)) {
    return false;
  }
  for (std::size_t other = 0; other < mine.tasks.size(); ++other) {
    if (mine.tasks[other].state == State::kActive &&
        std::holds_alternative<Kernel>(op({place.rank, other}).work) &&
        (std::ranges::count(mine.excludes[place.item], other) > 0 ||
         std::ranges::count(mine.excludes[other], place.item) > 0)) {
      return true;
    }
  }
  return false;
}

std::int64_t RandomExecutor::in_flight(Rank rank, CommunicatorId on) {
  std::int64_t bytes = 0;
  const Side& mine = side(rank);
  for (std::size_t i = 0; i < mine.tasks.size(); ++i) {
    if (mine.tasks[i].state == State::kActive && communicator_of(op({rank, i})) == on) {
      bytes += credit_bytes_of(world_.setup(rank), op({rank, i}));
    }
  }
  return bytes;
}

bool RandomExecutor::order_allows(const ItemRef& place) {
  const auto on = communicator_of(op(place));
  if (!on) {
    return true;
  }
  const Communicator& communicator = world_.communicator(place.rank, *on);
  const bool orders_alone = std::holds_alternative<Exchange>(op(place).work);
  if (communicator.order == IssueOrder::kProgram) {
    const auto& before = side(place.rank).issued_after[place.item];
    if (before.has_value() && side(place.rank).tasks[*before].state == State::kWaiting) {
      return false;
    }
  } else if (!orders_alone && !leader_allows(place, communicator)) {
    return false;
  }
  return credit_bytes_of(world_.setup(place.rank), op(place)) == 0 ||
         in_flight(place.rank, *on) < communicator.credit_bytes;
}

/// The leader picks its ready op of smallest (priority, step, index); the others follow its picks.
bool RandomExecutor::leader_allows(const ItemRef& place, const Communicator& on) {
  const CommunicatorId id = *communicator_of(op(place));
  if (place.rank != on.members.front()) {
    const std::size_t member = *on.members.index_of_rank(place.rank);
    for (const std::size_t pick : picks_[{id, on.members.front()}]) {
      const std::size_t next = world_.collectives()[pick].items[member];
      if (side(place.rank).tasks[next].state == State::kWaiting) {
        return next == place.item;
      }
    }
    return false;
  }
  const auto urgency = [&](const ItemRef& who) {
    return std::tuple(op(who).priority, item(who).step, item(who).index);
  };
  const auto& tasks = side(place.rank).tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const ItemRef other{place.rank, i};
    if (i != place.item && tasks[i].state == State::kWaiting &&
        std::holds_alternative<Collective>(op(other).work) && communicator_of(op(other)) == id &&
        urgency(other) < urgency(place) && is_ready(other)) {
      return false;
    }
  }
  return true;
}

}  // namespace paceline::plan
