// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "paceline/plan/plan_world.h"
#include "paceline/plan/verify.h"

namespace paceline::plan {
namespace {

/// Simulates ranks that perform their collectives and exchanges one after the other.  An operation
/// ends when all its participants have begun it.
class OneByOne {
 public:
  explicit OneByOne(const PlanWorld& world) : world_(world) {
    for (Rank rank = 0; rank < world.ranks(); ++rank) {
      next_.push_back(communication_from(rank, 0));
    }
  }

  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < world_.ranks(); ++rank) {
        while (!is_over(rank) && !missing(rank)) {
          next(rank) = communication_from(rank, next(rank) + 1);
          moved = true;
        }
      }
    }
    for (Rank rank = 0; rank < world_.ranks(); ++rank) {
      if (!is_over(rank)) {
        const PlanWorld::Place other = *missing(rank);
        throw PlanError(
            fmt::format("the ranks wait for each other where each performs one operation at a "
                        "time, in program order: {}; waits for {}; which comes behind {}",
                        world_.describe({rank, next(rank)}), world_.describe(other),
                        world_.describe({other.rank, next(other.rank)})));
      }
    }
  }

 private:
  std::size_t& next(Rank rank) { return next_[static_cast<std::size_t>(rank)]; }
  bool is_over(Rank rank) { return next(rank) == world_.items(rank).size(); }

  std::size_t communication_from(Rank rank, std::size_t item) const {
    const auto& items = world_.items(rank);
    while (item < items.size() && !communicator_of(*items[item].op)) {
      ++item;
    }
    return item;
  }

  /// The partner that the rank's operation waits for; nullopt if the operation can end.
  std::optional<PlanWorld::Place> missing(Rank rank) {
    for (const auto& partner : world_.partners({rank, next(rank)})) {
      if (next(partner.rank) < partner.item) {
        return partner;
      }
    }
    return std::nullopt;
  }

  const PlanWorld& world_;
  std::vector<std::size_t> next_;  // by rank: index of the current operation
};

}  // namespace

void verify_one_order(const PlanWorld& world) { OneByOne(world).run(); }

}  // namespace paceline::plan
