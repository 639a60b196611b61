// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "paceline/plan/plan_world.h"
#include "plan/toy_math.h"

namespace paceline::plan {

/// Runs plans out of order in the most hostile way that the rules allow.
///
/// Again and again it takes any allowed event at random: an op is issued, data moves, an op
/// completes.  Ops read their inputs at the issue or only when they complete; what is in flight is
/// filled with NaN meanwhile.  Model work keeps its phases and nothing else.  So a result that
/// equals the interpreter's does not depend on timing.
class RandomExecutor {
 public:
  /// Each wait that the analyzer derived is left out with this probability.
  explicit RandomExecutor(const PlanWorld& world, double sabotage = 0,
                          std::uint32_t sabotage_seed = 0);

  /// One schedule.  Returns what went wrong: a value used while in motion, or no event allowed;
  /// nothing if it ran to its end.
  std::optional<std::string> run(std::uint32_t seed);

  /// How many waits were left out.
  int removed() const { return removed_; }

  const ToyMemory& memory() const { return *memory_; }

  /// By kernel named "copy" whose read has slack: its step less the step whose stamp it saw, over
  /// all of the last run.
  const std::vector<double>& seen() const { return seen_; }

 private:
  enum class State { kWaiting, kActive, kDone };
  struct Task {
    State state = State::kWaiting;
    bool early = false;  // inputs are read at the issue
    std::vector<Values> inputs, landed;
  };
  struct Side {
    std::vector<std::vector<std::size_t>> waits_for, excludes;
    std::vector<int> phase;               // model work: a running number
    std::vector<std::size_t> phase_left;  // by phase: ops not done
    std::size_t phase_now = 0;
    std::vector<bool> relaxed;  // may meet another op halfway
    std::vector<std::optional<std::size_t>> issued_after;
    std::vector<Task> tasks;
  };
  using ItemRef = PlanWorld::ItemRef;

  /// A value was used while an op had it in motion.
  class InMotion : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  Side& side(Rank rank) { return sides_[static_cast<std::size_t>(rank)]; }
  Task& task(const ItemRef& place) { return side(place.rank).tasks[place.item]; }
  const PlanWorld::Item& item(const ItemRef& place) const {
    return world_.items(place.rank)[place.item];
  }
  const Op& op(const ItemRef& place) const { return *item(place).op; }

  void add_side(Rank rank);
  void reset();
  bool try_event(const ItemRef& place);
  bool may_issue(const ItemRef& place);
  bool is_ready(const ItemRef& place);
  bool order_allows(const ItemRef& place);
  bool leader_allows(const ItemRef& place, const Communicator& on);
  std::int64_t in_flight(Rank rank, CommunicatorId on);
  bool excluded(const ItemRef& place);
  void issue(const ItemRef& place);
  bool transfer(const ItemRef& place);
  bool may_complete(const ItemRef& place);
  void complete(const ItemRef& place);
  void read_inputs(const ItemRef& place);
  Values usable(Values values, const ItemRef& place) const;

  const PlanWorld& world_;
  int removed_ = 0;
  std::vector<Side> sides_;
  std::mt19937 rng_;
  std::optional<ToyMemory> memory_;
  std::vector<bool> moved_message_, moved_collective_;
  // Of a communicator, by its first member: collectives.
  std::map<std::pair<CommunicatorId, Rank>, std::vector<std::size_t>> picks_;
  std::vector<double> seen_;
};

}  // namespace paceline::plan
