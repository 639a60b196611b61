// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>

#include "paceline/base/error.h"
#include "paceline/plan/cost.h"
#include "paceline/plan/linker.h"
#include "paceline/simulator/classes.h"
#include "paceline/simulator/job.h"
#include "paceline/simulator/script.h"

namespace paceline::simulator {
namespace {

using Key = std::vector<std::uint64_t>;

/// Orbits, times rounds in which they are compared: some seconds.
constexpr std::size_t kMostCompared = 4'000'000;

/// FNV-1a over whole words.
class Digest {
 public:
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3U;
    value_ ^= value_ >> 29U;
  }
  void add(std::string_view text) {
    for (const char c : text) {
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_work(Digest& digest,
              const plan::Op& op,
              const plan::Setup& setup,
              plan::Rank rank) {
  digest.add(op.work.index());
  if (const auto* kernel = std::get_if<plan::Kernel>(&op.work)) {
    const KernelShape shape = shape_of(*kernel, setup);
    digest.add(shape.name);
    digest.add(static_cast<std::uint64_t>(shape.bytes));
    digest.add(static_cast<std::uint64_t>(shape.tensors));
  } else if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
    digest.add(plan::index_of(x->on));
    for (const auto* list : {&x->sends, &x->receives}) {
      for (const plan::Message& message : *list) {
        digest.add(static_cast<std::uint64_t>(message.slice.count));
      }
    }
  } else if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
    digest.add(plan::index_of(c->on));
    digest.add(static_cast<std::uint64_t>(c->pattern));
    digest.add(static_cast<std::uint64_t>(c->in.count));
    digest.add(c->pattern == plan::Pattern::kBroadcast && c->root == rank ? 1
                                                                          : 0);
  } else if (const auto* f = std::get_if<plan::Forward>(&op.work)) {
    digest.add(plan::index_of(f->module));
  } else if (const auto* b = std::get_if<plan::Backward>(&op.work)) {
    digest.add(plan::index_of(b->parameter));
  }
}

/// At which ops messages end, on either side.
void add_ends(Digest& digest,
              Scripts& scripts,
              plan::Rank rank,
              const Orbits& orbits) {
  using Pair = std::pair<std::uint64_t, std::uint64_t>;
  const Script& script = scripts.of(rank);
  for (const bool send : {true, false}) {
    std::vector<std::pair<Pair, std::uint64_t>> ends;  // mine, theirs
    for (const auto& [peer, mine] : send ? script.sends : script.receives) {
      for (std::size_t n = 0; n < mine.size(); ++n) {
        const auto* end = scripts.partner_of(rank, peer, send, n, orbits).end;
        ends.push_back({{mine[n].item, mine[n].slot},
                        end == nullptr ? script.begin.back() : end->item});
      }
    }
    std::ranges::sort(ends);
    for (const auto& [mine, theirs] : ends) {
      digest.add(mine.first);
      digest.add(theirs);
    }
  }
}

/// What a rank's plan is but for whom it meets.
std::uint64_t digest_of(Scripts& scripts,
                        plan::Rank rank,
                        const Orbits& orbits) {
  const Script& script = scripts.of(rank);
  Digest digest;
  plan::Linker linker(scripts.input().model, script.setup);
  for (std::size_t step = 0; step < script.steps.size(); ++step) {
    const auto links =
        linker.open(static_cast<plan::Step>(step), *script.steps[step]);
    for (std::size_t i = 0; i < script.steps[step]->ops.size(); ++i) {
      const plan::Op& op = script.steps[step]->ops[i];
      add_work(digest, op, script.setup, rank);
      digest.add(static_cast<std::uint64_t>(op.priority));
      digest.add(
          static_cast<std::uint64_t>(plan::payload_bytes(script.setup, op)));
      digest.add(
          static_cast<std::uint64_t>(plan::bytes_on_credit(script.setup, op)));
      for (const plan::Edge& edge : links.waits_for[i]) {
        digest.add(static_cast<std::uint64_t>(edge.step));
        digest.add(static_cast<std::uint64_t>(edge.op));
      }
    }
  }
  add_ends(digest, scripts, rank, orbits);
  return digest.value();
}

class Refinement {
 public:
  Refinement(Scripts& scripts, const Classes& start)
      : scripts_(scripts),
        classes_(start),
        number_of_(static_cast<std::size_t>(start.world())) {
    for (plan::Rank rank = 0; rank < start.world(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (start.orbits.first[r] == rank) {
        number_of_[r] = firsts_.size();
        firsts_.push_back(rank);
        keys_.push_back({digest_of(scripts, rank, start.orbits),
                         static_cast<std::uint64_t>(size_of_host(rank))});
      }
    }
    for (std::size_t r = 0; r < number_of_.size(); ++r) {
      number_of_[r] =
          number_of_[static_cast<std::size_t>(start.orbits.first[r])];
    }
  }

  /// Where chains of ranks differ one after another, each round joins one
  /// rank less: then orbits are left as they are.
  Classes run() {
    std::size_t before = 0;
    std::size_t now = number();
    for (std::size_t compared = 0; now != before; compared += firsts_.size()) {
      if (compared > kMostCompared) {
        keep_orbits();
        break;
      }
      before = now;
      std::vector<Key> keys;
      known_hosts_.clear();
      known_groups_.clear();
      groups_.clear();
      for (const plan::Rank rank : firsts_) {
        keys.push_back(key_of(rank));
      }
      keys_ = std::move(keys);
      now = number();
    }
    classes_.follow_orbits();
    return std::move(classes_);
  }

 private:
  using Colors = std::map<Key, std::uint64_t>;

  /// Orbits with equal keys get one color and one representative.
  std::size_t number() {
    std::map<Key, std::pair<std::uint64_t, plan::Rank>> known;
    colors_.clear();
    for (std::size_t i = 0; i < firsts_.size(); ++i) {
      const auto& found =
          known.emplace(keys_[i], std::pair(known.size(), firsts_[i]))
              .first->second;
      colors_.push_back(found.first);
      classes_.stand_in[static_cast<std::size_t>(firsts_[i])] = found.second;
    }
    return known.size();
  }

  void keep_orbits() {
    for (const plan::Rank first : firsts_) {
      classes_.stand_in[static_cast<std::size_t>(first)] = first;
    }
  }

  static std::uint64_t color(Colors& known, Key key) {
    const std::uint64_t next = known.size();
    return known.emplace(std::move(key), next).first->second;
  }

  /// A host is the colors of its ranks.
  std::uint64_t color_of_host(plan::Rank rank) {
    const plan::Rank begin =
        rank - classes_.local[static_cast<std::size_t>(rank)];
    Key key;
    for (plan::Rank place = 0; place < size_of_host(rank); ++place) {
      key.push_back(color_of(begin + place));
    }
    std::ranges::sort(key);
    return color(known_hosts_, std::move(key));
  }

  /// A communicator is its members' colors, each with how many of the members
  /// are on its host.
  std::uint64_t color_of_group(const plan::Members& members,
                               plan::CommunicatorId on) {
    const std::pair which(on, members.front());
    const auto found = groups_.find(which);
    if (found != groups_.end()) {
      return found->second;
    }
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> count;
    for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
      const std::int32_t host = host_of(members[begin]);
      while (end < members.size() && host_of(members[end]) == host) {
        ++end;
      }
      for (std::size_t m = begin; m < end; ++m) {
        ++count[{color_of(members[m]), end - begin}];
      }
    }
    Key key;
    for (const auto& [member, times] : count) {
      key.insert(key.end(), {member.first, member.second, times});
    }
    return groups_[which] = color(known_groups_, std::move(key));
  }

  Key key_of(plan::Rank rank) {
    const Script& script = scripts_.of(rank);
    Key key{color_of(rank), color_of_host(rank)};
    for (const plan::CommPlan* plan : script.steps) {
      for (const plan::Op& op : plan->ops) {
        if (const auto* c = std::get_if<plan::Collective>(&op.work)) {
          key.push_back(color_of_group(script.on(c->on).members, c->on));
        } else if (const auto* x = std::get_if<plan::Exchange>(&op.work)) {
          for (const auto* list : {&x->sends, &x->receives}) {
            for (const plan::Message& message : *list) {
              key.push_back(2 * color_of(message.peer) +
                            (host_of(message.peer) == host_of(rank) ? 0 : 1));
            }
          }
        }
      }
    }
    return key;
  }

  std::uint64_t color_of(plan::Rank rank) const {
    return colors_[number_of_[static_cast<std::size_t>(rank)]];
  }
  std::int32_t host_of(plan::Rank rank) const {
    return classes_.host_of[static_cast<std::size_t>(rank)];
  }
  std::int32_t size_of_host(plan::Rank rank) const {
    return classes_.host_size[static_cast<std::size_t>(host_of(rank))];
  }

  Scripts& scripts_;
  Classes classes_;
  std::vector<plan::Rank> firsts_;      // of the orbits
  std::vector<std::size_t> number_of_;  // by rank: its orbit's
  std::vector<Key> keys_;               // by orbit
  std::vector<std::uint64_t> colors_;   // by orbit
  Colors known_hosts_, known_groups_;   // in this round
  std::map<std::pair<plan::CommunicatorId, plan::Rank>, std::uint64_t> groups_;
};

}  // namespace

Classes refined(Scripts& scripts, const Classes& start) {
  return Refinement(scripts, start).run();
}

}  // namespace paceline::simulator
