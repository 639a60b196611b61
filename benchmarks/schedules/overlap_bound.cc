// SPDX-License-Identifier: Apache-2.0
#include "overlap_bound.h"

#include <algorithm>
#include <map>

#include "paceline/plan/int128.h"

namespace paceline::simulator {
namespace {

/// The times at which items of one rank's step 1 begin and end if only model work takes time.
class Clock {
 public:
  Clock(const Job& job, const Costs& costs, const Actor& actor) : first_(actor.steps[1]) {
    plan::Picoseconds now = 0;
    for (ItemId id = first_; id < actor.steps[2]; ++id) {
      begin_.push_back(now);
      const Item& item = job.items[id];
      const auto subject = static_cast<std::size_t>(item.subject);
      now += item.kind == ItemKind::kForward    ? costs.profile.forward[subject]
             : item.kind == ItemKind::kBackward ? costs.profile.backward[subject]
                                                : 0;
      end_.push_back(now);
    }
  }

  plan::Picoseconds begin(ItemId id) const { return begin_[id - first_]; }
  plan::Picoseconds end(ItemId id) const { return end_[id - first_]; }

 private:
  ItemId first_;
  std::vector<plan::Picoseconds> begin_, end_;
};

/// Finds the items that wait for an item on its rank, in its step and the next, with only kernels
/// and communication in between.
class Followers {
 public:
  Followers(const Job& job, const Actor& actor)
      : job_(job), end_(actor.steps[3]), seen_(end_ - actor.steps[1], 0), first_(actor.steps[1]) {}

  const std::vector<ItemId>& of(ItemId from) {
    ++round_;
    found_.assign(1, from);
    for (std::size_t next = 0; next < found_.size(); ++next) {
      const ItemId id = found_[next];
      if (next > 0 && is_model_work(job_.items[id])) {
        continue;
      }
      for (const ItemId later : job_.dependents_of(id)) {
        if (later >= first_ && later < end_ && seen_[later - first_] < round_) {
          seen_[later - first_] = round_;
          found_.push_back(later);
        }
      }
    }
    found_.erase(found_.begin());
    return found_;
  }

 private:
  const Job& job_;
  ItemId end_;
  std::vector<int> seen_;
  ItemId first_;
  int round_ = 0;
  std::vector<ItemId> found_;
};

/// By communication item: the Backward items of the parameters whose gradients the item carries.
using Carried = std::map<ItemId, std::vector<ItemId>>;

Carried carried_by(const Job& job, const Actor& actor, Followers& followers) {
  Carried carried;
  for (ItemId id = actor.steps[1]; id < actor.steps[2]; ++id) {
    if (job.items[id].kind != ItemKind::kBackward) {
      continue;
    }
    for (const ItemId later : followers.of(id)) {
      if (later < actor.steps[2] && communicates(job.items[later])) {
        std::vector<ItemId>& all = carried[later];
        // Of several micro-batches, only the last one counts.
        std::erase_if(all, [&](ItemId earlier) {
          return job.items[earlier].subject == job.items[id].subject;
        });
        all.push_back(id);
      }
    }
  }
  return carried;
}

/// By module: the begin, within its own step, of the first Forward of step 2 that waits for `item`;
/// no entry if none waits.
std::map<std::int32_t, plan::Picoseconds> forwards_behind(const Job& job, const Actor& actor,
                                                          const Clock& clock, Followers& followers,
                                                          ItemId item) {
  std::map<std::int32_t, plan::Picoseconds> found;
  const ItemId shift = actor.steps[2] - actor.steps[1];
  for (const ItemId later : followers.of(item)) {
    if (later >= actor.steps[2] && job.items[later].kind == ItemKind::kForward) {
      const plan::Picoseconds begin = clock.begin(later - shift);
      const auto [at, first] = found.emplace(job.items[later].subject, begin);
      at->second = first ? begin : std::min(at->second, begin);
    }
  }
  return found;
}

struct Share {
  plan::Picoseconds from = 0, until = 0;
  std::vector<LinkBytes> loads;
};

/// The model work before and after a communication item.
struct AdjacentWork {
  std::vector<ItemId> backward;                       // items whose gradients it carries
  std::map<std::int32_t, plan::Picoseconds> forward;  // the result of forwards_behind()
};

/// Adds the parameters' shares of the bytes of a communication item.
void add_shares(const Job& job, const std::vector<LinkBytes>& loads, const AdjacentWork& work,
                const Clock& clock, std::vector<Share>& shares) {
  const auto& parameters = job.input.model.parameters;
  const auto shape_of = [&](ItemId id) -> const plan::ParameterShape& {
    return parameters[static_cast<std::size_t>(job.items[id].subject)];
  };
  double all = 0;
  for (const ItemId id : work.backward) {
    all += static_cast<double>(shape_of(id).elements);
  }
  for (const ItemId id : work.backward) {
    const auto found = work.forward.find(static_cast<std::int32_t>(shape_of(id).module));
    if (all == 0 || found == work.forward.end() || found->second > clock.end(id)) {
      continue;
    }
    const double part = static_cast<double>(shape_of(id).elements) / all;
    Share share{.from = clock.end(id), .until = found->second, .loads = loads};
    for (LinkBytes& load : share.loads) {
      load.bytes = static_cast<std::int64_t>(static_cast<double>(load.bytes) * part);
    }
    shares.push_back(std::move(share));
  }
}

OverlapLink busiest(const std::vector<Share>& shares, const Simulator& simulator) {
  std::map<std::uint32_t, OverlapLink> by_link;
  for (const Share& share : shares) {
    for (const LinkBytes& load : share.loads) {
      OverlapLink& link = by_link[load.link];
      link.bytes_per_s = simulator.bytes_per_s(load.link);
      link.bytes.push_back({share.from, share.until, load.bytes});
    }
  }
  OverlapLink found;
  plan::Picoseconds longest = -1;
  for (auto& [id, link] : by_link) {
    std::int64_t bytes = 0;
    for (const OverlapBytes& one : link.bytes) {
      bytes += one.bytes;
    }
    const plan::Picoseconds wire = plan::wire_time(bytes, link.bytes_per_s);
    if (wire > longest) {
      longest = wire;
      found = std::move(link);
    }
  }
  return found;
}

}  // namespace

plan::Picoseconds overlap_bound(OverlapLink link) {
  std::ranges::stable_sort(link.bytes, {}, &OverlapBytes::until);
  std::vector<plan::Picoseconds> readies;
  for (const OverlapBytes& one : link.bytes) {
    readies.push_back(one.from);
  }
  std::ranges::sort(readies);
  readies.erase(std::unique(readies.begin(), readies.end()), readies.end());
  plan::Picoseconds bound = 0;
  for (const plan::Picoseconds ready : readies) {
    std::int64_t bytes = 0;
    for (const OverlapBytes& one : link.bytes) {
      if (one.from < ready) {
        continue;
      }
      bytes += one.bytes;
      if (one.until <= ready) {
        bound = std::max(bound, ready - one.until + plan::wire_time(bytes, link.bytes_per_s));
      }
    }
  }
  return bound;
}

OverlapLink overlap_link(const Job& job, const Costs& costs, const Simulator& simulator) {
  const auto actor = std::ranges::find_if(
      job.actors, [](const Actor& one) { return one.trains && one.steps.size() >= 4; });
  if (actor == job.actors.end() || job.period != 1) {
    return {};
  }
  const Clock clock(job, costs, *actor);
  Followers followers(job, *actor);
  std::vector<Share> shares;
  for (const auto& [id, backward] : carried_by(job, *actor, followers)) {
    const AdjacentWork work{.backward = backward,
                            .forward = forwards_behind(job, *actor, clock, followers, id)};
    for (const TransferId transfer : job.transfers_of(job.items[id])) {
      add_shares(job, simulator.loads_of(transfer), work, clock, shares);
    }
  }
  return busiest(shares, simulator);
}

plan::Picoseconds overlap_bound_of(const Job& job, const Costs& costs, plan::Picoseconds step) {
  Costs bare = costs;
  bare.software = {};
  bare.machine.noise = {};
  bare.machine.interference = {};
  Simulator simulator(job);
  simulator.set_costs(bare);
  return std::max(step, overlap_bound(overlap_link(job, bare, simulator)));
}

}  // namespace paceline::simulator
