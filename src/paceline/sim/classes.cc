// SPDX-License-Identifier: Apache-2.0
#include "paceline/sim/classes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "paceline/base/error.h"
#include "paceline/sim/script.h"

namespace paceline::sim {
namespace {

using plan::Rank;

/// Up to here plans of all ranks may be made to find the classes.
constexpr Rank kMostRefined = 4096;

/// Numbers the hosts' classes by what ranks they hold.  False: ranks of one
/// class live on hosts of different classes.
bool class_hosts(Classes& classes) {
  std::vector<std::vector<Rank>> held(classes.host_size.size());
  for (Rank rank = 0; rank < classes.world(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    held[static_cast<std::size_t>(classes.host_of[r])].push_back(
        classes.stand_in[r]);
  }
  std::map<std::vector<Rank>, std::int32_t> known;
  classes.host_class.clear();
  for (std::vector<Rank>& ranks : held) {
    std::ranges::sort(ranks);
    const auto number = static_cast<std::int32_t>(known.size());
    classes.host_class.push_back(
        known.try_emplace(std::move(ranks), number).first->second);
  }
  classes.host_classes = static_cast<std::int32_t>(known.size());
  std::vector<std::int32_t> home(classes.stand_in.size(), -1);
  for (const auto& [ranks, number] : known) {
    for (const Rank rank : ranks) {
      std::int32_t& mine = home[static_cast<std::size_t>(rank)];
      if (mine >= 0 && mine != number) {
        return false;
      }
      mine = number;
    }
  }
  return true;
}

/// The classes of equal keys; each is represented by its first rank.
template <class KeyOf>
Classes by_key(Classes classes, KeyOf key_of) {
  std::map<decltype(key_of(Rank{})), Rank> first;
  for (Rank rank = 0; rank < classes.world(); ++rank) {
    classes.stand_in[static_cast<std::size_t>(rank)] =
        first.try_emplace(key_of(rank), rank).first->second;
  }
  return classes;
}

}  // namespace

Rank Classes::count() const {
  Rank count = 0;
  for (Rank rank = 0; rank < world(); ++rank) {
    count += stand_in[static_cast<std::size_t>(rank)] == rank ? 1 : 0;
  }
  return count;
}

Classes unfolded(const plan::PlanInput& input) {
  Classes classes;
  classes.stand_in.resize(static_cast<std::size_t>(input.world));
  std::iota(classes.stand_in.begin(), classes.stand_in.end(), 0);
  std::vector<Rank> local_world = input.local_world;
  if (local_world.empty()) {
    local_world.push_back(input.world);
  }
  for (const Rank size : local_world) {
    for (Rank i = 0;
         i < size && classes.host_of.size() < classes.stand_in.size();
         ++i) {
      classes.host_of.push_back(
          static_cast<std::int32_t>(classes.host_size.size()));
      classes.local.push_back(i);
    }
    classes.host_size.push_back(size);
  }
  if (classes.host_of.size() != classes.stand_in.size() ||
      std::accumulate(local_world.begin(), local_world.end(), Rank{0}) !=
          input.world) {
    throw UsageError(fmt::format(
        "{} hosts with {} ranks in all cannot hold a world of {}",
        local_world.size(),
        std::accumulate(local_world.begin(), local_world.end(), Rank{0}),
        input.world));
  }
  classes.host_class.resize(classes.host_size.size());
  std::iota(classes.host_class.begin(), classes.host_class.end(), 0);
  classes.host_classes = static_cast<std::int32_t>(classes.host_size.size());
  return classes;
}

Classes folded(const plan::Planner& planner, const plan::PlanInput& input) {
  Classes alone = unfolded(input);
  plan::PlanInput asked = input;
  std::vector<Rank> claimed;
  std::set<Rank> representatives;
  for (Rank rank = 0; rank < input.world; ++rank) {
    asked.rank = rank;
    claimed.push_back(planner.stand_in(asked));
    representatives.insert(claimed.back());
  }
  Scripts scripts(planner, input, 2);
  const bool exchanges = std::ranges::any_of(
      representatives,
      [&](const Rank rank) { return scripts.of(rank).exchanges(); });
  const bool equal_hosts = std::ranges::all_of(
      alone.host_size,
      [&](const std::int32_t size) { return size == alone.host_size.front(); });
  const bool flat = alone.host_size.size() == 1 ||
                    (equal_hosts && alone.host_size.front() == 1);
  Classes classes;
  bool sure = true;
  if (!exchanges || flat) {
    classes = by_key(alone, [&](const Rank rank) {
      const auto r = static_cast<std::size_t>(rank);
      return std::pair(
          claimed[r],
          alone.host_size[static_cast<std::size_t>(alone.host_of[r])]);
    });
  } else {
    sure = equal_hosts && representatives.size() == 1;
    classes = by_key(alone, [&](const Rank rank) {
      const auto r = static_cast<std::size_t>(rank);
      return std::pair(claimed[r], alone.local[r]);
    });
  }
  if (class_hosts(classes) && sure) {
    return classes;
  }
  if (input.world > kMostRefined) {
    return alone;
  }
  return refined(planner, input, classes, 2);
}

}  // namespace paceline::sim
